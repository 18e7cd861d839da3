"""`ralph show LOOP`."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click

from ralphloop.cli.finding import artifacts, open_queries, read_entries
from ralphloop.cli.options import Iterations
from ralphloop.config.environment import current
from ralphloop.core.messages import Entry
from ralphloop.errors import ConfigError
from ralphloop.ledger.codec import UnknownEntry
from ralphloop.ledger.queries import LoopRow, Queries
from ralphloop.loop.finding import find_loop
from ralphloop.views.figures import iso
from ralphloop.views.record import show_as_dict
from ralphloop.views.show import render_iteration, render_show
from ralphloop.views.style import Style, style_for
from ralphloop.views.text import one_line


@click.command
@click.argument("name", metavar="LOOP")
@click.argument("number", metavar="[N]", type=Iterations(), required=False)
@click.option("--events", is_flag=True, help="What the agent said and did in iteration N, from its raw stream.")
@click.option("--full", is_flag=True, help="With --events: all that tools put out, and not its beginning alone.")
@click.option("--json", "as_json", is_flag=True, help="Print the loop as JSON.")
def command(name: str, number: int | None, *, events: bool, full: bool, as_json: bool) -> None:
    """Show a loop's iterations, or iteration N alone: attempts, verdicts, cost, duration, reasons, and where the artifacts lie."""
    if events and number is None:
        raise click.UsageError("--events shows one iteration: say which, as in `ralph show LOOP 3 --events`")
    if full and not events:
        raise click.UsageError("--full is for --events")
    if as_json and number is not None:
        raise click.UsageError("--json prints the whole loop: leave the number and --events out")
    with open_queries() as queries:
        row = find_loop(queries, name)
        try:
            entries = read_entries(queries, row)
        except UnknownEntry as error:
            _show_raw(queries, row, error)
            return
    try:
        if events and number is not None:
            _replay(row, entries, number, full=full)
        else:
            _show(row, entries, number, as_json=as_json)
    except LookupError as error:
        raise ConfigError(str(error)) from error


def _replay(row: LoopRow, entries: list[Entry], number: int, *, full: bool) -> None:
    from ralphloop.cli.replaying import replayed  # noqa: PLC0415 - the adapters are heavy

    style = _dressed(row)
    for line in replayed(row, entries, number, replace(style, max_lines=sys.maxsize, max_chars=sys.maxsize) if full else style):
        click.echo(line, color=style.colour)  # decided already; by itself it would leave colours out where there is no terminal


def _dressed(row: LoopRow) -> Style:
    """As the settings of its workspace say, where they can be read; but the time of day is not that of a replay."""
    from ralphloop.cli.hosting import dressed  # noqa: PLC0415 - as above
    from ralphloop.config.layers import load_layers, merge  # noqa: PLC0415
    from ralphloop.config.resolve import Dress, dress  # noqa: PLC0415

    environ = current()
    look = Dress()
    with suppress(ConfigError):
        look = dress(merge(load_layers(Path(row.workspace), environ, {})))
    return dressed(look, environ, timestamps=False)


def _show(row: LoopRow, entries: list[Entry], number: int | None, *, as_json: bool) -> None:
    def directory(iteration: int, attempt: int) -> str:
        return str(artifacts(row, iteration, attempt))

    style = style_for(sys.stdout, current())
    if as_json:
        click.echo(json.dumps(show_as_dict(entries, directory), indent=2))
    elif number is None:
        click.echo(render_show(entries, directory, style), nl=False)
    else:
        click.echo(render_iteration(entries, number, directory, style), nl=False)


def _show_raw(queries: Queries, row: LoopRow, error: UnknownEntry) -> None:
    click.echo(f"ralph: {error}; shown raw", err=True)
    for raw in queries.entries_raw(row.id):
        click.echo(one_line(f"{raw.seq} {raw.type} v{raw.v} {iso(raw.at)} {raw.json}"))
