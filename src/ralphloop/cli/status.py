"""`ralph status`: one line a loop, from the roll-up columns. Imports nothing heavy; a test looks at the list of modules."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ralphloop.config.environment import current, state_home
from ralphloop.ledger.queries import LoopRow, Queries
from ralphloop.process.identity import is_alive
from ralphloop.views.status import render_json, render_table
from ralphloop.views.terminal import columns, wants_colour


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print the loops as JSON.")
def command(*, as_json: bool) -> None:
    """Show every loop."""
    if as_json:
        click.echo(render_json(_rows(), alive), nl=False)
    else:
        click.echo(table(), nl=False)


def table() -> str:
    """The loops as a table that fits standard output."""
    environ = current()
    return render_table(_rows(), alive, home=environ.get("HOME", ""), columns=columns(sys.stdout), colour=wants_colour(sys.stdout, environ))


def alive(row: LoopRow) -> bool:
    """Whether the process that wrote this loop last still lives."""
    return is_alive(row.process)


def _rows() -> list[LoopRow]:
    with Queries(Path(state_home(current())) / "ledger.db") as queries:
        return queries.loops()
