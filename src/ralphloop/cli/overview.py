"""Bare `ralph`: what `ralph run` would do here, the loops, and the commands. Starting an unattended agent needs a word."""

from __future__ import annotations

from pathlib import Path

import click

from ralphloop.cli.status import table
from ralphloop.errors import ConfigError


def show_overview(ctx: click.Context) -> None:
    """Print the three."""
    click.echo(f"Here, `ralph run` would start: {here(Path())}\n")
    click.echo(table(), nl=False)
    click.echo(f"\n{ctx.get_help()}")


def here(directory: Path) -> str:
    """What would run in that directory, in one line."""
    from ralphloop.cli.hosted_run import check_directory, resolved_for  # noqa: PLC0415 - heavy
    from ralphloop.config.request import RunRequest  # noqa: PLC0415
    from ralphloop.loop.wire import check_work  # noqa: PLC0415

    try:
        directory = check_directory(directory)
        resolved = resolved_for(RunRequest(workspace=directory))
        check_work(directory, resolved.work)
    except ConfigError as error:
        return f"nothing ({error})"
    gates = f"{len(resolved.gates)} gate{'' if len(resolved.gates) == 1 else 's'}"
    return f"{resolved.agent.type} on {resolved.explain}, {gates}, at most {resolved.limits.iterations or 'unlimited'} iterations"
