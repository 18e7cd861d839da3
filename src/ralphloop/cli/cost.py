"""`ralph cost [LOOP…]`: the money and tokens of loops, from the ledger."""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

import click

from ralphloop.cli.finding import open_queries
from ralphloop.config.environment import current
from ralphloop.core.messages import Entry
from ralphloop.errors import ConfigError
from ralphloop.ledger.codec import UnknownEntry, decode
from ralphloop.ledger.queries import LoopRow, Queries, RawEntry
from ralphloop.loop.finding import unknown_name
from ralphloop.views.charges import SILENT, Charge, charges
from ralphloop.views.cost import BY, cost_as_dict, grouped, render_cost
from ralphloop.views.figures import DAY, HOUR
from ralphloop.views.terminal import columns, wants_colour
from ralphloop.views.text import one_line

_SPAN = re.compile(r"([0-9]{1,5})([dh])")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SECONDS = {"d": DAY, "h": HOUR}


class Since(click.ParamType[float]):
    """A local day, or a span of time up to now, as seconds of the Unix clock."""

    name = "since"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The moment, or a usage error."""
        if span := _SPAN.fullmatch(str(value)):
            return time.time() - int(span[1]) * _SECONDS[span[2]]
        day = _midnight(str(value)) if _DATE.fullmatch(str(value)) else None
        if day is None:
            self.fail(f"{value!r} is no day and no span of time: write a date such as 2026-11-18, or 7d, or 24h", param, ctx)
        return day


def _midnight(date: str) -> float | None:
    """The moment at which that day begins here; None where there is no such day."""
    try:
        return datetime.fromisoformat(date).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


@click.command
@click.argument("names", metavar="[LOOP]...", nargs=-1)
@click.option("--by", type=click.Choice(list(BY)), default="loop", show_default=True, help="What to add up by.")
@click.option(
    "--since", metavar="DATE|7d|24h", type=Since(), help="Only attempts that ended on or after that day, or in the last so many days or hours."
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(names: tuple[str, ...], by: str, since: float | None, *, as_json: bool) -> None:
    """Show what loops cost: money, tokens and time of every attempt, added up.

    LOOP is a name, a pattern such as 'shop-*', or an id; it means every loop of that name. Without one: all loops.
    """
    left_out: Counter[str] = Counter()
    with open_queries() as queries:
        rows = _named(queries.loops(), names)
        found = [charge for row in rows for charge in _charges(queries, row, left_out) if since is None or charge.at >= since]
    groups = grouped(found, by)
    if as_json:
        click.echo(json.dumps(cost_as_dict(groups, by, left_out), indent=2))
    elif not rows:
        click.echo("No loops yet.")
    elif not groups and since is not None:
        click.echo(f"No attempts since {time.strftime('%Y-%m-%d %H:%M', time.localtime(since))}.")
    else:
        click.echo(render_cost(groups, by, columns=columns(sys.stdout), colour=wants_colour(sys.stdout, current())), nl=False)
    for what, times in left_out.items():
        click.echo(f"ralph: left out what a newer ralph wrote, and what may tell of money: {one_line(what)} ({times} times)", err=True)


def _named(rows: Iterable[LoopRow], names: tuple[str, ...]) -> list[LoopRow]:
    """The loops of these names, patterns or ids; all where none is given. ConfigError with the nearest name where there is none."""
    rows = [row for row in rows if row.last_seq]
    for name in names:
        if not any(_matches(row, name) for row in rows):
            raise ConfigError(unknown_name(name, [row.name for row in rows]))
    return [row for row in rows if not names or any(_matches(row, name) for name in names)]


def _matches(row: LoopRow, name: str) -> bool:
    return name in {row.name, row.id} or fnmatchcase(row.name, name)


def _charges(queries: Queries, row: LoopRow, left_out: Counter[str]) -> Iterator[Charge]:
    return charges(row, _understood(queries.entries_without(row, SILENT), left_out))


def _understood(entries: Iterable[RawEntry], left_out: Counter[str]) -> Iterator[Entry]:
    for raw in entries:
        try:
            yield decode(raw.type, raw.v, raw.json)
        except UnknownEntry:
            left_out[f"{raw.type} v{raw.v}"] += 1
