"""What crashed loops left is judged, and ended, before anything else looks at the disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ralphloop.core.evolve import fold, what_was_judged
from ralphloop.core.messages import ChangesJudged, LoopResumed, Step
from ralphloop.core.state import LoopState, Phase
from ralphloop.errors import RalphError
from ralphloop.files.places import ledger_path
from ralphloop.ledger.queries import LoopRow, Queries
from ralphloop.ledger.store import Ledger
from ralphloop.loop.engine import reopen, settle
from ralphloop.loop.function import RunContext
from ralphloop.loop.locking import locked
from ralphloop.loop.watchers import Unwatched
from ralphloop.loop.wire import House, Place, leaders, make_ports
from ralphloop.process.identity import own_identity
from ralphloop.process.leftovers import end_leftovers

Say = Callable[[str], None]


def settle_crashed(workspace: Path, house: House, say: Say) -> None:
    """Judge what the lost attempts of crashed loops left in this workspace.

    Before settings and task lists are read: a crash must not make an agent's edit the law of the next loop.
    """
    path = os.path.realpath(workspace)
    with Queries(ledger_path(house.state_home)) as queries:
        crashed = [row for row in queries.loops() if row.workspace == path and row.outcome is None and row.last_seq]
    for row in crashed:
        with locked(house.state_home, path, row.name) as holder:
            if holder is None:
                _settle(row, house, say)


def _settle(row: LoopRow, house: House, say: Say) -> None:
    with Ledger(ledger_path(house.state_home)) as ledger:
        crashed = fold(ledger.read(row.id))
        end_what_is_left(crashed, house.state_home, say)
        if crashed.phase not in {Phase.ATTEMPT, Phase.JUDGE, Phase.RESTORE}:
            return
        incarnation = row.incarnation + 1
        ledger.take_over(row.id, own_identity(), incarnation)
        entries = list(ledger.read(row.id))
        state = fold(entries)
        if state.outcome is not None or (state.phase is Phase.ATTEMPT and state.step is not Step.RUN_AGENT):
            return
        quiet = replace(house, watch=lambda _: Unwatched(), function=_unneeded)
        ports = make_ports(state.spec, quiet, ledger, Place(next_seq=len(entries) + 1, incarnation=incarnation), {})
        settle(reopen(state, LoopResumed(at=ports.clock.now(), spec=state.spec, incarnation=incarnation), ports), ports)
        for entry in list(ledger.read(row.id))[len(entries) :]:
            for note in what_was_judged(entry) if isinstance(entry, ChangesJudged) else ():
                say(f"Loop {row.name} had crashed: {note}")


def _unneeded(_context: RunContext, _number: int) -> str | None:
    """The agent of a loop that is only settled: the true one need not be here."""
    raise AssertionError("a loop that is settled starts no agent")


def end_what_is_left(state: LoopState, state_home: Path, say: Say) -> None:
    """End what an incarnation that died left running: its agent, its gates, its child loops, and whatever these have started."""
    swept = end_leftovers(state.spec.loop_id, state.spec.agent.grace_s, leaders(state, state_home))
    if swept.strays:
        say(f"Loop {state.spec.name} had left {swept.strays} process{'' if swept.strays == 1 else 'es'} running: ended now.")
    if swept.leaked:
        raise RalphError(f"loop {state.spec.name} left processes that cannot be ended: {swept.leaked}; end them, then go on with it")


def end_crashed(row: LoopRow, state_home: Path, say: Say) -> None:
    """End what a loop left that has crashed, and leave everything else to whoever goes on with it."""
    with locked(state_home, row.workspace, row.name) as holder:
        if holder is None:
            with Ledger(ledger_path(state_home)) as ledger:
                end_what_is_left(fold(ledger.read(row.id)), state_home, say)
