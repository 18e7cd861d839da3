"""`ralph show LOOP`."""

from __future__ import annotations

import json
import sys

import click

from ralphloop.cli.finding import artifacts, open_queries, read_entries
from ralphloop.config.environment import current
from ralphloop.ledger.codec import UnknownEntry
from ralphloop.loop.finding import find_loop
from ralphloop.views.figures import iso
from ralphloop.views.record import show_as_dict
from ralphloop.views.show import render_show
from ralphloop.views.style import style_for
from ralphloop.views.text import one_line


@click.command
@click.argument("name", metavar="LOOP")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(name: str, *, as_json: bool) -> None:
    """Show a loop's iterations: attempts, verdicts, cost, duration, reasons, and where the artifacts lie."""
    with open_queries() as queries:
        row = find_loop(queries, name)
        try:
            entries = read_entries(queries, row)
        except UnknownEntry as error:
            click.echo(f"ralph: {error}; shown raw", err=True)
            for raw in queries.entries_raw(row.id):
                click.echo(one_line(f"{raw.seq} {raw.type} v{raw.v} {iso(raw.at)} {raw.json}"))
            return

    def directory(iteration: int, attempt: int) -> str:
        return str(artifacts(row, iteration, attempt))

    if as_json:
        click.echo(json.dumps(show_as_dict(entries, directory), indent=2))
    else:
        click.echo(render_show(entries, directory, style_for(sys.stdout, current())), nl=False)
