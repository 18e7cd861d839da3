"""`ralph version`."""

from __future__ import annotations

import click

from ralphloop import __version__


@click.command
def command() -> None:
    """Print the version."""
    click.echo(f"ralph {__version__}")
