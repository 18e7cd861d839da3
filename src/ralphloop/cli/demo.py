"""`ralph demo`: a loop that catches a lying agent, in under a minute, without a key and without a network."""

from __future__ import annotations

from pathlib import Path

import click

from ralphloop.cli.guarding import in_loop_process

PAUSE_S = 0.3


@click.command
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--pause", type=click.FloatRange(0, 10), help=f"Seconds between the agent's steps (default: {PAUSE_S} on a terminal, else 0).")
def command(directory: Path | None, pause: float | None) -> int:
    """Watch a loop catch a lying agent; no key and no network needed."""
    return in_loop_process("ralphloop.cli.hosted_demo:main", directory=directory, pause=pause, default_pause_s=PAUSE_S)
