"""Which loop is meant, new or resumed; then it is wired and run. Nothing is written before all of that is clear."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from ralphloop.config.resolve import Resolved
from ralphloop.core.evolve import fold, what_was_judged
from ralphloop.core.limits import RAISING
from ralphloop.core.messages import ChangesJudged, LoopResumed, LoopStarted, Step
from ralphloop.core.model import LoopSpec, Outcome, OutcomeKind, WorkSpec
from ralphloop.core.state import LoopState, Phase
from ralphloop.core.which import STANDINGS, Choice, Found, Standing, choose, has_open_work
from ralphloop.errors import ConfigError, LoopBusy, RalphError, WorkError
from ralphloop.files.children import is_signed, sign_child
from ralphloop.files.locks import Holder, LoopLock
from ralphloop.files.places import ledger_path, lock_path, prepare_state_home
from ralphloop.ledger.queries import LoopRow, Queries
from ralphloop.ledger.store import Ledger
from ralphloop.loop.engine import reopen, run, settle
from ralphloop.loop.finding import find_loop, is_running, may_go_on
from ralphloop.loop.function import FUNCTION, RunContext
from ralphloop.loop.watchers import Unwatched
from ralphloop.loop.wire import House, Place, leaders, make_ports, make_work
from ralphloop.process.identity import own_identity
from ralphloop.process.leftovers import end_leftovers

LONGEST_NAME = 50
"""Characters of a loop's name: it becomes a part of the name of a directory."""

Raised = Mapping[str, float]
"""Bounds that a person names when a loop goes on, by their names in Limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What `run` was asked for, settings resolved. `check` raises ConfigError where a new loop could not begin.

    `child`: an agent asks for it. `again`: a loop that failed or met a limit is no reason to do nothing.
    """

    workspace: Path
    resolved: Resolved
    check: Callable[[], None]
    name: str | None = None
    new: bool = False
    child: bool = False
    again: bool = False
    raised: Raised = field(default_factory=dict)


Say = Callable[[str], None]


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
    with Queries(ledger_path(house.state_home)) as queries:
        name = _name_for(wanted, workspace, queries, house, say)
        row = queries.latest(workspace, name)
        if wanted.new or row is None or not may_go_on(row):
            wanted.check()
        prepare_state_home(house.state_home)
        with _lock(house, workspace, name) as holder:
            row = queries.latest(workspace, name)
            if holder is not None:
                raise LoopBusy(_busy(name, row, holder))
            with Ledger(ledger_path(house.state_home)) as ledger:
                return _start_locked(wanted, _spec(wanted.resolved, workspace, name), row, Desk(house=house, ledger=ledger, say=say))


def _start_locked(wanted: Wanted, spec: LoopSpec, row: LoopRow | None, desk: Desk) -> Outcome:
    agent_env = wanted.resolved.agent_env
    if wanted.child and row is not None and _is_a_persons(row, desk.house):
        raise ConfigError(
            f"loop {row.name} was begun by a person, and this is an attempt of another loop: only people go on with it, or replace it; give another --name"
        )
    old = fold(desk.ledger.read(row.id)) if row is not None and row.last_seq and not wanted.new else None
    standing = Standing.ABSENT if row is None or old is None else _standing(row)
    open_work = standing is Standing.DONE and _open_work(spec)
    choice = choose(Found(standing=standing, work=old.spec.work if old is not None else None), spec.work, new=wanted.new, open_work=open_work)
    if choice is Choice.EXPLAIN and wanted.again:
        choice = Choice.NEW
    if choice is Choice.NEW or row is None or old is None:
        wanted.check()
        return _run_new(spec, agent_env, desk, child=wanted.child)
    if choice is Choice.RESUME and wanted.child and wanted.raised:
        raise ConfigError(f"loop {row.name} goes on with the limits that it began with, since this is an attempt of another loop: leave them out")
    if choice is Choice.RESUME:
        _say_what_is_pinned(old.spec, spec, wanted.raised, desk.say)
        return _run_resumed(row, with_limits(old.spec, wanted.raised), agent_env, desk)
    return _explain(choice, row, old, desk.say)


def resume(name: str, house: House, say: Say, *, raised: Raised, agent_env: Mapping[str, str]) -> Outcome:
    """Go on with a loop that ended or crashed, whatever the reason; how it ended."""
    with Queries(ledger_path(house.state_home)) as queries:
        row = find_loop(queries, name)
        prepare_state_home(house.state_home)
        with _lock(house, row.workspace, name) as holder:
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
    with _work_locked(desk.house, spec), _children_ended(desk.house):
        ports = make_ports(spec, desk.house, desk.ledger, Place(next_seq=2, incarnation=1), agent_env)
        if child:
            sign_child(str(desk.house.state_home), spec.loop_id)
        first = LoopStarted(at=ports.clock.now(), spec=spec)
        desk.ledger.create_loop(spec, own_identity(), first.at, [first])
        state = LoopState(spec=spec, at=first.at)
        ports.watcher.entry(first, state)
        return run(state, ports)


def _run_resumed(row: LoopRow, spec: LoopSpec, agent_env: Mapping[str, str], desk: Desk) -> Outcome:
    """End what the last incarnation left, say what was open, and go on."""
    _check_secrets(spec, agent_env)
    if desk.house.function is None:
        refuse_function(spec)
    with _work_locked(desk.house, spec), _children_ended(desk.house):
        incarnation = row.incarnation + 1
        watcher = desk.house.watch(spec)  # what cannot be opened is told before anything is written
        desk.ledger.take_over(row.id, own_identity(), incarnation)
        entries = list(desk.ledger.read(row.id))
        state = fold(entries)
        house = replace(desk.house, watch=lambda _: watcher)
        ports = make_ports(spec, house, desk.ledger, Place(next_seq=len(entries) + 1, incarnation=incarnation), agent_env)
        desk.say(f"Resuming loop {row.name}: it {_WAS[_standing(row)]} in iteration {state.iteration}.")
        _end_leftovers(state, desk.house)
        changes = _changes(state.spec, spec)
        resumed = LoopResumed(at=ports.clock.now(), spec=spec, incarnation=incarnation, changes=changes)
        return run(reopen(state, resumed, ports), ports)


@contextmanager
def _children_ended(house: House) -> Iterator[None]:
    """Nobody else begins on this work before the child loops of the last one have ended."""
    try:
        yield
    finally:
        house.end_children()


def _is_a_persons(row: LoopRow, house: House) -> bool:
    """Whether a person began this loop and may still want it: agents go on with what agents began, and as it was begun."""
    return bool(row.last_seq) and row.outcome != OutcomeKind.DONE and not is_signed(str(house.state_home), row.id)


def settle_crashed(workspace: Path, house: House, say: Say) -> None:
    """Judge what the lost attempts of crashed loops left in this workspace.

    Before settings and task lists are read: a crash must not make an agent's edit the law of the next loop.
    """
    path = os.path.realpath(workspace)
    with Queries(ledger_path(house.state_home)) as queries:
        crashed = [row for row in queries.loops() if row.workspace == path and row.outcome is None and row.last_seq]
    for row in crashed:
        with _lock(house, path, row.name) as holder:
            if holder is None:
                _settle(row, house, say)


def _settle(row: LoopRow, house: House, say: Say) -> None:
    with Ledger(ledger_path(house.state_home)) as ledger:
        crashed = fold(ledger.read(row.id))
        _end_leftovers(crashed, house)
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


def _end_leftovers(state: LoopState, house: House) -> None:
    """End what an incarnation that died left running: its agent, its gates, its child loops, and whatever these have started."""
    left = end_leftovers(state.spec.loop_id, state.spec.agent.grace_s, leaders(state, house.state_home)).leaked
    if left:
        raise RalphError(f"loop {state.spec.name} left processes that cannot be ended: {left}; end them, then go on with it")


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
    )


def _check_places(workspace: str, state_home: Path) -> None:
    """Raise ConfigError where Ralph's own files would look like the agent's work, or the workspace's name cannot be kept."""
    if Path(workspace) in {state_home, *state_home.parents}:
        raise ConfigError(f"the state home {state_home} lies in the workspace {workspace}: set RALPH_STATE_HOME to a directory outside of it")
    try:
        workspace.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"the path {os.fsencode(workspace)!r} is not UTF-8: rename the directory") from error


def safe_name(directory: str) -> str:
    """A loop name made of a directory's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", Path(directory).name)[:LONGEST_NAME].strip("-._") or "loop"


def check_name(name: str | None) -> None:
    """Raise ConfigError for a name that could not be typed again, or would be taken for an option or a path."""
    if name is not None and (not 0 < len(name) <= LONGEST_NAME or name.startswith("-") or any(c in "/\\ *?[" or not c.isprintable() for c in name)):
        raise ConfigError(f"--name {name!r} is no name for a loop: use up to {LONGEST_NAME} letters, digits, dots, dashes and underscores")


def _name_for(wanted: Wanted, workspace: str, queries: Queries, house: House, say: Say) -> str:
    """The name that was given, or that of the directory. A child loop may share the directory with a loop that runs there, or that is a person's."""
    newest = {row.name: row for row in reversed(queries.loops())}.values()
    taken = {row.name: row.workspace for row in newest if row.workspace != workspace}
    if wanted.child:
        taken |= {row.name: row.workspace for row in newest if is_running(row) or _is_a_persons(row, house)}
    if wanted.name is not None:
        if taken.get(wanted.name, workspace) != workspace:
            raise ConfigError(f"the name {wanted.name} is taken by the loop in {taken[wanted.name]}: choose another --name")
        return wanted.name
    wished = name = safe_name(_home_of(wanted.resolved.work, workspace))
    number = 1
    while name in taken:
        number += 1
        name = f"{wished}-{number}"
    if name != wished:
        say(f"The name {wished} is taken by the loop in {taken[wished]}; this one is called {name}.")
    return name


def _home_of(work: WorkSpec, workspace: str) -> str:
    """The directory that a loop is named after."""
    return workspace if work.task_dir is None else os.path.realpath(Path(workspace, work.task_dir))


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


@contextmanager
def _work_locked(house: House, spec: LoopSpec) -> Iterator[None]:
    """The right to work on that task file or folder: two loops, whatever their names, would undo each other's work."""
    place = spec.work.task_file or spec.work.task_dir
    if place is None:
        yield
        return
    path = os.path.realpath(Path(spec.workspace, place))
    with _lock(house, path, "\0task file") as holder:
        if holder is not None:
            raise LoopBusy(f"another loop is working on {path} ({holder}): see `ralph status`")
        yield


@contextmanager
def _lock(house: House, workspace: str, what: str) -> Iterator[str | None]:
    """Hold a lock, or say in words who does."""
    lock = LoopLock(lock_path(house.state_home, workspace, what))
    me = own_identity()
    if lock.acquire(Holder(boot_id=me.boot_id, pid=me.pid, started=me.started, nonce=secrets.token_hex(8))):
        try:
            yield None
        finally:
            lock.release()
    else:
        holder = lock.holder()
        yield f"process {holder.pid}" if holder else "another process"


def _open_work(spec: LoopSpec) -> bool:
    try:
        return has_open_work(spec.work.kind, make_work(spec).survey().remaining)
    except WorkError:
        return True


# --- a resumed spec ---------------------------------------------------------------------------------------------------


def with_limits(spec: LoopSpec, raised: Raised) -> LoopSpec:
    """The spec with other bounds; the bound of calls keeps its proportion to the iterations where it was the default."""
    limits = replace(spec.limits, **raised)  # type: ignore[arg-type] # the command line checks names and types
    if "calls" not in raised and spec.limits.calls == 3 * spec.limits.iterations:
        limits = replace(limits, calls=3 * limits.iterations)
    return replace(spec, limits=limits)


def refuse_function(spec: LoopSpec) -> None:
    """Raise ConfigError where the agent is a function, which only the program that has it can call."""
    if spec.agent.type == FUNCTION:
        raise ConfigError(f"loop {spec.name} runs in a program of its own (ralphloop.run_loop): start that program again")


def _changes(before: LoopSpec, after: LoopSpec) -> tuple[str, ...]:
    old, new = asdict(before.limits), asdict(after.limits)
    return tuple(f"limits.{name}: {old[name]:g} → {new[name]:g}" for name in old if old[name] != new[name])


def _say_what_is_pinned(pinned: LoopSpec, now: LoopSpec, raised: Raised, say: Say) -> None:
    """A resumed loop keeps the settings that it began with; whoever changed them since is told so."""
    old, new = _flat(asdict(pinned)), _flat(asdict(now))
    taken = {f"limits.{name}" for name in raised} | ({"limits.calls"} if "iterations" in raised else set())
    changed = [key for key in sorted(old.keys() | new.keys()) if key not in {"loop_id", *taken} and old.get(key) != new.get(key)]
    if changed:
        say(f"Pinned when the loop began, and not taken over now: {', '.join(changed)}. `ralph run --new` begins afresh with them.")


def _flat(values: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def _check_secrets(spec: LoopSpec, agent_env: Mapping[str, str]) -> None:
    """Values are pinned by digest: the loop may only go on with the ones that it began with."""
    for secret in spec.agent.env:
        value = agent_env.get(secret.name)
        if value is None or sha256(value.encode()).hexdigest() != secret.digest:
            what = "is gone from" if value is None else "has changed in"
            raise ConfigError(
                f"agent.env.{secret.name} {what} the settings since the loop began: put it back, or begin afresh with `ralph run --new`"
            )
