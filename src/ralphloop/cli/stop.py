"""`ralph stop NAME…`: ask loops to end, and stay until they have."""

from __future__ import annotations

import time

import click

from ralphloop.cli.finding import home, open_queries
from ralphloop.cli.inside import for_people
from ralphloop.cli.people import ask
from ralphloop.core.messages import NOW, STOP
from ralphloop.files.locks import Holder
from ralphloop.ledger.queries import LoopRow, Queries
from ralphloop.loop.finding import find_loop, holder_of
from ralphloop.loop.settling import end_crashed
from ralphloop.views.figures import count

PAUSE_S = 0.1


@click.command
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--now", is_flag=True, help="Do not wait for the current operation: end the agent or the gate that runs.")
@for_people
def command(names: tuple[str, ...], *, now: bool) -> None:
    """End running loops, and return when they have ended.

    A loop first finishes its current operation, such as a run of the agent. `ralph resume NAME` goes on with it later.
    """
    with open_queries() as queries:
        rows = [find_loop(queries, name) for name in names]
        running = [(row, holder) for row in rows if (holder := holder_of(row, home()))]
        for row in rows:
            if row not in [one for one, _ in running]:
                _end_what_does_not_run(row)
        for row, _ in running:
            ask(row, STOP, NOW if now else "")
        for row, holder in running:
            _await(row, holder, queries)


def _await(row: LoopRow, holder: Holder, queries: Queries) -> None:
    busy = ""
    while holder_of(row, home()) == holder:  # also when it has an outcome: its child loops end with it
        if row.step and row.step != busy:
            busy = row.step
            click.echo(f"Loop {row.name} is at work ({busy.replace('_', ' ')}, {_where(row)}); waiting for it.")
        time.sleep(PAUSE_S)  # it is not our child: nothing tells of its end
        row = queries.by_id(row.id) or row
    row = queries.by_id(row.id) or row  # it may have written down how it ended since we looked, and be gone by now
    click.echo(f"Loop {row.name} has ended: {row.outcome or 'crashed'}{f', {row.outcome_reason}' if row.outcome_reason else ''}.")
    if row.outcome is None:
        end_crashed(row, home(), click.echo)


def _end_what_does_not_run(row: LoopRow) -> None:
    """One that has crashed may have left its agent running."""
    if row.outcome is None:
        click.echo(f"Loop {row.name} has crashed. `ralph resume {row.name}` goes on with it.")
        end_crashed(row, home(), click.echo)
    else:
        click.echo(f"Loop {row.name} does not run: there is nothing to stop. `ralph status` tells how it is.")


def _where(row: LoopRow) -> str:
    return f"{count(row.iteration, 'iteration')} so far"
