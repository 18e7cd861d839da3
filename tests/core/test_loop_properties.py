"""Whatever an agent does, and wherever the loop is killed: the promises, as properties."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from loops import (
    ASKS_TO_WAIT,
    CLAIMS,
    DELETES,
    DIES,
    EMPTY,
    FAILS,
    FINISHES,
    IDLES,
    LIMITED,
    NOT_THERE,
    PROMISE,
    WORKS,
    Loop,
    delete_open,
    edit,
    patched,
    spec,
    tick,
)

from ralphloop.core import messages as m
from ralphloop.core.evolve import evolve, fold
from ralphloop.core.model import EndedBy, Kind, Limits, OutcomeKind, RunReport, Scm, Strength
from ralphloop.core.state import LoopState
from ralphloop.ledger.codec import TYPES, encode
from ralphloop.ledger.codec import decode as decode_entry
from ralphloop.testing.scripted import Turn

BREAKS = Turn(does=edit("code", lambda _: b"broken"), says="I wrote some code.")
MENDS = Turn(does=edit("code", lambda _: b"fine"), says=f"Fixed. {PROMISE}")
REWRITES = Turn(does=edit("PRD.md", lambda content: delete_open(content) + b"- [x] All is well\n"), says=PROMISE)
REMOVES = Turn(does=lambda workspace: workspace.restore("PRD.md", None), says=PROMISE)
STOPPED = Turn(run=RunReport(ended_by=EndedBy.STOPPED, signal=15, duration_s=1.0), says="half")
TEMPERS = [WORKS, FINISHES, CLAIMS, IDLES, FAILS, DIES, EMPTY, DELETES, LIMITED, ASKS_TO_WAIT, BREAKS, MENDS, REWRITES, REMOVES, STOPPED, NOT_THERE]

turns = st.lists(st.sampled_from(TEMPERS), min_size=1, max_size=12)
limits = st.builds(
    Limits,
    iterations=st.integers(1, 6),
    attempts=st.integers(1, 3),
    calls=st.integers(1, 12),
    cost_usd=st.sampled_from([0.0, 0.03, 0.05]),
    stall=st.integers(0, 4),
    instant_deaths=st.integers(0, 4),
    empty_retries=st.integers(0, 2),
    usage_waits=st.integers(1, 4),
    delay_s=st.sampled_from([0.0, 5.0]),
)
specs = st.builds(
    spec,
    st.sampled_from(list(Kind)),
    gates=st.sampled_from([(), ("check",), ("check", "lint")]),
    limits=limits,
    scm=st.sampled_from([Scm(), Scm(tasks=("commit",)), Scm(tasks=("commit", "push", "merge main"))]),
)


class Crash(BaseException):
    """`kill -9`."""


@dataclass
class Killer:
    """Kills the loop when its countdown is over: before an append, after one, or in the middle of an attempt."""

    loop: Loop
    countdown: int
    live: LoopState | None = None

    def arm(self) -> None:
        append, attempt = self.loop.journal.append, self.loop.agent.attempt
        patched(self.loop.journal, "append", lambda entries, state: self.around(append, entries, state))
        patched(self.loop.agent, "attempt", lambda action, prompt: self.around(attempt, action, prompt))

    def around(self, call: Any, *arguments: Any) -> Any:
        self.tick()
        result = call(*arguments)
        self.tick()
        return result

    def tick(self) -> None:
        self.countdown -= 1
        if self.countdown == 0:
            raise Crash


def run_through_crashes(loop: Loop, crashes: list[int]) -> Any:
    killer = Killer(loop, 0)
    killer.arm()
    for countdown in [*crashes, 0]:
        killer.countdown = countdown
        try:
            return loop.resume() if loop.entries else loop.run()
        except Crash:
            continue
    raise AssertionError("the last round is never killed")


@given(specs, turns, st.lists(st.integers(1, 60), max_size=3))
def test_folding_the_ledger_always_gives_the_live_state(loop_spec: Any, script: list[Turn], crashes: list[int]) -> None:
    loop = Loop(loop_spec, script)
    states: list[LoopState] = []
    patched(loop.watcher, "entry", lambda _entry, state: states.append(state))
    run_through_crashes(loop, crashes)
    stored = [decode_entry(*encode(seen)) for seen in loop.entries]
    assert stored == loop.entries
    state = fold(stored)
    assert state == states[-1]


@given(specs, turns, st.lists(st.integers(1, 60), max_size=4))
def test_no_history_passes_a_limit(loop_spec: Any, script: list[Turn], crashes: list[int]) -> None:
    loop = Loop(loop_spec, script)
    outcome = run_through_crashes(loop, crashes)
    assert outcome == fold(loop.entries).outcome
    bounds, state = loop_spec.limits, None
    for seen in loop.entries:
        if isinstance(seen, m.AttemptStarted):
            assert state is not None
            assert not bounds.cost_usd or state.spent.cost_usd < bounds.cost_usd
            assert state.turn is not None
            assert state.turn.failed < bounds.attempts
            assert state.turn.empty <= bounds.empty_retries
        state = fold([seen]) if state is None else evolve(state, seen)
        assert state.iteration <= bounds.iterations
        assert state.spent.calls <= bounds.calls
    assert len(loop.of(m.IterationStarted)) <= bounds.iterations
    assert len(loop.agent.prompts) <= bounds.calls


@given(specs, turns, st.lists(st.integers(1, 60), max_size=3))
def test_done_proved_implies_a_verdict_of_that_iteration_on_that_fingerprint(loop_spec: Any, script: list[Turn], crashes: list[int]) -> None:
    loop = Loop(loop_spec, script)
    outcome = run_through_crashes(loop, crashes)
    assume(outcome.kind is OutcomeKind.DONE)
    last_turn = last_turn_of(loop.entries)
    if outcome.strength is Strength.PROVED:
        gates = [seen for seen in last_turn if isinstance(seen, m.GatesEnded) and not seen.interrupted]
        verified = [seen for seen in last_turn if isinstance(seen, m.WorkVerified)]
        assert [verdict.name for verdict in gates[-1].verdicts] == [gate.command for gate in loop_spec.gates]
        assert all(verdict.passed for verdict in gates[-1].verdicts)
        assert last_turn.index(verified[-1]) > last_turn.index(gates[-1])
        assert not verified[-1].restorations
        if not loop_spec.scm.tasks:
            assert verified[-1].tree == loop.workspace.look()
        assert loop.green(loop.workspace)
    else:
        assert not loop_spec.gates
    if loop_spec.work.kind is Kind.CHECKLIST:
        assert "- [ ]" not in loop.tasks
        assert all(task in loop.tasks for task in ("Write the parser", "Write the printer", "Write the manual"))


def last_turn_of(entries: list[m.Entry]) -> list[m.Entry]:
    starts = [index for index, seen in enumerate(entries) if isinstance(seen, m.IterationStarted | m.CheckStarted)]
    return entries[starts[-1] :]


@given(turns, st.lists(st.integers(1, 80), max_size=4))
def test_no_crash_makes_an_illegal_edit_legal(script: list[Turn], crashes: list[int]) -> None:
    loop = Loop(spec(gates=("check",), limits=Limits(iterations=5, calls=20)), script)
    run_through_crashes(loop, crashes)
    assert all(task in loop.tasks for task in ("Write the parser", "Write the printer", "Write the manual"))


def idempotent(workspace: Any) -> None:
    """An agent that does the first open task, seen from the disk as it is."""
    workspace.files["PRD.md"] = tick(workspace.files["PRD.md"])
    workspace.files["code"] = b"fine"


@given(st.integers(1, 120), st.sampled_from([(), ("check",)]), st.sampled_from([Scm(), Scm(tasks=("commit", "push"))]))
def test_a_loop_that_is_crashed_anywhere_and_resumed_ends_as_the_uninterrupted_one(moment: int, gates: tuple[str, ...], scm: Scm) -> None:
    loop_spec = spec(gates=gates, limits=Limits(iterations=10, calls=60), scm=scm)
    steady = Turn(does=idempotent, says=f"Everything is done.\n\n{PROMISE}")
    calm, crashed = Loop(loop_spec, [steady]), Loop(loop_spec, [steady])
    calm_outcome = calm.run()
    outcome = run_through_crashes(crashed, [moment])
    assert outcome == calm_outcome
    assert crashed.workspace.files == calm.workspace.files
    lost = len(crashed.of(m.AttemptLost))
    assert len(calm.of(m.IterationStarted)) - lost <= len(crashed.of(m.IterationStarted)) <= len(calm.of(m.IterationStarted))
    assert len(crashed.of(m.AttemptStarted)) == len(crashed.of(m.AttemptEnded)) + lost


@pytest.mark.parametrize("name", sorted(TYPES))
def test_every_entry_that_was_ever_released_is_handled(name: str) -> None:
    golden = Path(__file__).parent.parent / "ledger" / "golden" / f"{name}.v1.json"
    entry = decode_entry(name, 1, golden.read_text())
    loop = Loop(spec(gates=["check"], limits=Limits(iterations=1, calls=1), scm=Scm(tasks=("commit",))), [IDLES])
    loop.run()
    states = [fold(loop.entries[:length]) for length in range(1, len(loop.entries) + 1)]
    assert any(handled(state, entry) for state in states)


def handled(state: LoopState, entry: m.Entry) -> bool:
    """Whether this state takes the entry in; one that does not fit its phase is refused by an assertion."""
    try:
        return evolve(state, entry).at == entry.at
    except AssertionError:
        return False
