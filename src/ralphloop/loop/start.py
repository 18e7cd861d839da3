"""Which loop is meant, new or resumed; then it is wired and run. Nothing is written before all of that is clear."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ralphloop.config.resolve import Resolved
from ralphloop.core.decide import close_open
from ralphloop.core.evolve import fold
from ralphloop.core.limits import RAISING
from ralphloop.core.messages import REFUSED, LoopEnded, LoopResumed, LoopStarted
from ralphloop.core.model import LoopSpec, Outcome, OutcomeKind
from ralphloop.core.ports import Ports
from ralphloop.core.state import LoopState
from ralphloop.core.which import STANDINGS, Choice, Found, Standing, choose, has_open_work
from ralphloop.errors import ConfigError, LoopBusy, RalphError, WorkError
from ralphloop.files.children import sign_child
from ralphloop.files.places import ledger_path, prepare_state_home
from ralphloop.ledger.inbox import Inbox
from ralphloop.ledger.queries import LoopRow, Queries
from ralphloop.ledger.store import Ledger
from ralphloop.loop.engine import record, reopen, run, settle
from ralphloop.loop.finding import Enclosing, find_loop, may_go_on
from ralphloop.loop.locking import locked, work_locked
from ralphloop.loop.naming import Naming, free_name, given_name, is_a_persons, name_of_place, names_taken
from ralphloop.loop.pinned import Raised, changes, check_secrets, refuse_function, what_is_not_taken_over, with_limits
from ralphloop.loop.settling import Say, end_what_is_left
from ralphloop.loop.wire import House, Place, live_children, make_ports, make_work
from ralphloop.process.child_loops import ask_to_end
from ralphloop.process.identity import own_identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What `run` was asked for, settings resolved. `check` raises ConfigError where a new loop could not begin.

    `inside`: an agent, or a gate, asks for it. `again`: a loop that failed or met a limit is no reason to do nothing.
    """

    workspace: Path
    resolved: Resolved
    check: Callable[[], None]
    name: str | None = None
    new: bool = False
    inside: Enclosing | None = None
    again: bool = False
    raised: Raised = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where loops are started: the house, the ledger open for writing, and a way to say something before a loop speaks for itself."""

    house: House
    ledger: Ledger
    say: Say


def start(wanted: Wanted, house: House, say: Say) -> Outcome:
    """Do what `run` means for that work and that name; how the loop ended."""
    workspace = os.path.realpath(wanted.workspace)
    _check_places(workspace, house.state_home)
    busy: set[str] = set()
    with Queries(ledger_path(house.state_home)) as queries:
        while True:
            name, note = _named(wanted, workspace, queries, house, busy)
            row = queries.latest(workspace, name)
            if wanted.new or row is None or not may_go_on(row):
                wanted.check()
            prepare_state_home(house.state_home)
            with locked(house.state_home, workspace, name) as holder:
                row = queries.latest(workspace, name)
                if holder is None:
                    if note:
                        say(note)
                    with Ledger(ledger_path(house.state_home)) as ledger:
                        return _start_locked(wanted, _spec(wanted.resolved, workspace, name), row, Desk(house=house, ledger=ledger, say=say))
            if wanted.inside is None or wanted.name is not None:
                raise LoopBusy(_busy(name, row, holder))
            busy.add(name)  # another child began at the same moment


def _start_locked(wanted: Wanted, spec: LoopSpec, row: LoopRow | None, desk: Desk) -> Outcome:
    agent_env = wanted.resolved.agent_env
    if wanted.inside and row is not None and is_a_persons(row, desk.house.state_home):
        words = "was begun by a person, and this is an attempt of another loop: only people go on with it, or replace it; give another --name"
        raise _refused(f"loop {row.name} {words}", row, wanted.inside, desk)
    old = fold(desk.ledger.read(row.id)) if row is not None and row.last_seq and not wanted.new else None
    standing = Standing.ABSENT if row is None or old is None else _standing(row)
    open_work = standing is Standing.DONE and _open_work(spec)
    choice = choose(Found(standing=standing, work=old.spec.work if old is not None else None), spec.work, new=wanted.new, open_work=open_work)
    if choice is Choice.EXPLAIN and wanted.again:
        choice = Choice.NEW
    if choice is Choice.NEW or row is None or old is None:
        wanted.check()
        return _run_new(spec, agent_env, desk, child=wanted.inside is not None)
    if choice is Choice.RESUME and wanted.inside and with_limits(old.spec, wanted.raised) != old.spec:
        words = "goes on with the limits that it began with, since this is an attempt of another loop: leave them out"
        raise _refused(f"loop {row.name} {words}", row, wanted.inside, desk)
    if choice is Choice.RESUME:
        if note := what_is_not_taken_over(old.spec, spec, wanted.raised):
            desk.say(note)
        return _run_resumed(row, with_limits(old.spec, wanted.raised), agent_env, desk)
    return _explain(choice, row, old, desk.say)


def _refused(words: str, row: LoopRow, inside: Enclosing, desk: Desk) -> ConfigError:
    """What is said of something that is for people; the loop around it records that it was asked for."""
    Inbox(desk.ledger.database).put(inside.loop_id, REFUSED, f"ralph run of loop {row.name}", author=inside.author, at=time.time())
    return ConfigError(words)


def resume(name: str, house: House, say: Say, *, raised: Raised, agent_env: Mapping[str, str]) -> Outcome:
    """Go on with a loop that ended or crashed, whatever the reason; how it ended."""
    with Queries(ledger_path(house.state_home)) as queries:
        row = find_loop(queries, name)
        prepare_state_home(house.state_home)
        with locked(house.state_home, row.workspace, name) as holder:
            row = queries.latest(row.workspace, name) or row
            if holder is not None:
                raise LoopBusy(_busy(name, row, holder))
            with Ledger(ledger_path(house.state_home)) as ledger:
                old = fold(ledger.read(row.id))
                if old.outcome is not None and old.outcome.kind is OutcomeKind.DONE:
                    say(f"Loop {name} is done; there is nothing to resume. `ralph run` looks for open work.")
                    return old.outcome
                return _run_resumed(row, with_limits(old.spec, raised), agent_env, Desk(house=house, ledger=ledger, say=say))


# --- running ----------------------------------------------------------------------------------------------------------


def _run_new(spec: LoopSpec, agent_env: Mapping[str, str], desk: Desk, *, child: bool) -> Outcome:
    with work_locked(desk.house.state_home, spec), _children_ended(spec.loop_id, desk):
        ports = make_ports(spec, desk.house, desk.ledger, Place(next_seq=2, incarnation=1), agent_env)
        if child:
            sign_child(str(desk.house.state_home), spec.loop_id)
        first = LoopStarted(at=ports.clock.now(), spec=spec)
        desk.ledger.create_loop(spec, own_identity(), first.at, [first])
        state = LoopState(spec=spec, at=first.at)
        ports.watcher.entry(first, state)
        with _left_in_order(spec.loop_id, ports, desk):
            return run(state, ports)


def _run_resumed(row: LoopRow, spec: LoopSpec, agent_env: Mapping[str, str], desk: Desk) -> Outcome:
    """End what the last incarnation left, say what was open, and go on."""
    check_secrets(spec, agent_env)
    if desk.house.function is None:
        refuse_function(spec)
    with work_locked(desk.house.state_home, spec), _children_ended(spec.loop_id, desk):
        incarnation = row.incarnation + 1
        watcher = desk.house.watch(spec)  # what cannot be opened is told before anything is written
        desk.ledger.take_over(row.id, own_identity(), incarnation)
        entries = list(desk.ledger.read(row.id))
        state = fold(entries)
        house = replace(desk.house, watch=lambda _: watcher)
        ports = make_ports(spec, house, desk.ledger, Place(next_seq=len(entries) + 1, incarnation=incarnation), agent_env)
        desk.say(f"Resuming loop {row.name}: it {_WAS[_standing(row)]} in iteration {state.iteration}.")
        end_what_is_left(state, desk.house.state_home, desk.say)
        resumed = LoopResumed(at=ports.clock.now(), spec=spec, incarnation=incarnation, changes=changes(state.spec, spec))
        with _left_in_order(spec.loop_id, ports, desk):
            return run(reopen(state, resumed, ports), ports)


@contextmanager
def _left_in_order(loop_id: str, ports: Ports, desk: Desk) -> Iterator[None]:
    """Where somebody's program is torn out of a loop (Ctrl-C, `sys.exit`), and lives on: the loop does not run any more, and says so."""
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        with suppress(RalphError):
            state = fold(desk.ledger.read(loop_id))
            if state.outcome is None:
                state = settle(record(state, list(close_open(state, ports.clock.now())), ports), ports)
                outcome = Outcome(kind=OutcomeKind.INTERRUPTED, reason=f"stopped by {type(error).__name__} in the program that runs it")
                record(state, [LoopEnded(at=ports.clock.now(), outcome=outcome)], ports)
        raise


@contextmanager
def _children_ended(loop_id: str, desk: Desk) -> Iterator[None]:
    """Nobody else begins on this work before the child loops of the last one have ended."""
    try:
        yield
    finally:
        ended = ask_to_end(lambda: live_children(desk.house, loop_id))
        if ended:
            desk.say(f"{ended} child loop{'' if ended == 1 else 's'} that still ran ended with it.")
        desk.house.sweep_up()


def _explain(choice: Choice, row: LoopRow, old: LoopState, say: Say) -> Outcome:
    outcome = old.outcome
    assert outcome is not None, f"{choice} is for loops that ended"
    if choice is Choice.FINISHED:
        say(f"Loop {row.name} is done ({outcome.strength}), and no task is open: nothing to do. `ralph run --new` begins afresh.")
        return outcome
    more = f" {RAISING[outcome.limit]}" if outcome.limit in RAISING else ""
    say(f"Loop {row.name} ended with {outcome.kind}: {outcome.reason}. Nothing was started.")
    say(f"Go on with `ralph resume {row.name}{more}`, or begin afresh with `ralph run --new`.")
    return outcome


# --- which loop -------------------------------------------------------------------------------------------------------


def _spec(resolved: Resolved, workspace: str, name: str) -> LoopSpec:
    return LoopSpec(
        loop_id=f"{name}-{secrets.token_hex(4)}",
        name=name,
        workspace=workspace,
        work=resolved.work,
        agent=resolved.agent,
        completion=resolved.completion,
        limits=resolved.limits,
        gates=resolved.gates,
        scm=resolved.scm,
        output=resolved.output,
        protect=resolved.protect,
        prices=resolved.prices,
    )


def _named(wanted: Wanted, workspace: str, queries: Queries, house: House, busy: set[str]) -> Naming:
    if wanted.name is not None:
        return given_name(wanted.name, workspace, queries)
    taken = names_taken(workspace, queries, house.state_home, child=wanted.inside is not None)
    return free_name(name_of_place(wanted.resolved.work, workspace), taken | dict.fromkeys(busy, workspace))


def _check_places(workspace: str, state_home: Path) -> None:
    """Raise ConfigError where Ralph's own files would look like the agent's work, or the workspace's name cannot be kept."""
    if Path(workspace) in {state_home, *state_home.parents}:
        raise ConfigError(f"the state home {state_home} lies in the workspace {workspace}: set RALPH_STATE_HOME to a directory outside of it")
    try:
        workspace.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"the path {os.fsencode(workspace)!r} is not UTF-8: rename the directory") from error


def _standing(row: LoopRow) -> Standing:
    """How the loop is, seen by somebody who holds its lock: without an outcome it has crashed."""
    return Standing.CRASHED if row.outcome is None else STANDINGS[OutcomeKind(row.outcome)]


_WAS = {
    Standing.CRASHED: "had crashed",
    Standing.INTERRUPTED: "was stopped",
    Standing.WAITING: "was waiting",
    Standing.FAILED: "had failed",
    Standing.LIMIT: "had met a limit",
}


def _busy(name: str, row: LoopRow | None, holder: str) -> str:
    where = f"iteration {row.iteration}" if row else "just starting"
    return f"loop {name} is running here ({where}, {holder}): see `ralph status`; a second loop needs its own --name"


def _open_work(spec: LoopSpec) -> bool:
    try:
        return has_open_work(spec.work.kind, make_work(spec).survey().remaining)
    except WorkError:
        return True
