"""Whatever an agent does, and wherever the loop is killed: the promises, as properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import (
    ASKS_TO_WAIT,
    CLAIMS,
    CLOSES,
    DELETES,
    DIES,
    DONE,
    EMPTY,
    FAILS,
    FINISHES,
    IDLES,
    LIMITED,
    NOT_THERE,
    POSTS,
    PROMISE,
    WORKS,
    Loop,
    both,
    delete_open,
    edit,
    patched,
    spec,
    tick,
    tick_all,
)

from ralphloop.core import messages as m
from ralphloop.core.evolve import evolve, fold
from ralphloop.core.model import EndedBy, Kind, Limits, LoopSpec, Outcome, OutcomeKind, Require, RunReport, Scm, Strength
from ralphloop.core.state import LoopState
from ralphloop.ledger.codec import TYPES, encode
from ralphloop.ledger.codec import decode as decode_entry
from ralphloop.testing.scripted import Turn
from ralphloop.views.facts import moments
from ralphloop.views.keys import obstacles

BREAKS = Turn(does=edit("code", lambda _: b"broken"), says="I wrote some code.")
MENDS = Turn(does=edit("code", lambda _: b"fine"), says=f"Fixed. {PROMISE}")
REWRITES = Turn(does=edit("PRD.md", lambda content: delete_open(content) + b"- [x] All is well\n"), says=PROMISE)
REMOVES = Turn(does=lambda workspace: workspace.restore("PRD.md", None), says=PROMISE)
STOPPED = Turn(run=RunReport(ended_by=EndedBy.STOPPED, signal=15, duration_s=1.0), says="half")
REDUCES = Turn(does=edit("TASK.md", lambda _: b"Do nothing\n"), says=PROMISE)
REOPENS = Turn(does=lambda workspace: workspace.restore("DONE", None), says="It was not done.")
CLOSES_AND_BREAKS = Turn(does=both(DONE, edit("code", lambda _: b"broken")), says="It works.")
CLOSES_AND_FAILS = replace(FAILS, does=DONE)
CLOSES_AND_WAITS = replace(ASKS_TO_WAIT, does=DONE)
ALWAYS = [WORKS, CLAIMS, IDLES, FAILS, DIES, EMPTY, LIMITED, ASKS_TO_WAIT, BREAKS, MENDS, STOPPED, NOT_THERE]
TEMPERS = {
    Kind.PROMPT: ALWAYS,
    Kind.CHECKLIST: [*ALWAYS, FINISHES, DELETES, REWRITES, REMOVES],
    Kind.FOLDER: [*ALWAYS, CLOSES, CLOSES_AND_BREAKS, CLOSES_AND_FAILS, CLOSES_AND_WAITS, POSTS, REDUCES, REOPENS],
}
ALL_WELL = Turn(does=both(DONE, edit("PRD.md", tick_all), edit("code", lambda _: b"fine")), says=f"Everything is done.\n\n{PROMISE}")

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
    wait_timeout_s=st.sampled_from([2.0, 300.0]),
)


@dataclass(frozen=True)
class Case:
    """A loop to be: what it is pinned to, what its agent does, how many child loops run at its first looks, and after which append it is stopped."""

    spec: LoopSpec
    turns: list[Turn]
    children: list[int]
    stop: int

    def loop(self) -> Loop:
        running = iter(self.children)
        loop = Loop(self.spec, self.turns, children=lambda: next(running, 0))
        append, appends = loop.journal.append, iter(range(1, 1_000_000))

        def stops(entries: Sequence[m.Entry], state: LoopState) -> None:
            append(entries, state)
            if next(appends) == self.stop:
                loop.requests.waiting.append(m.RequestSeen(at=state.at, kind=m.STOP, author="Ann"))

        patched(loop.journal, "append", stops)
        return loop


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(Kind))
    loop_spec = spec(
        kind,
        gates=draw(st.sampled_from([(), ("check",), ("check", "lint")])),
        limits=draw(limits),
        scm=draw(st.sampled_from([Scm(), Scm(tasks=("commit",)), Scm(tasks=("commit", "push", "merge main"))])),
    )
    if draw(st.booleans()):
        loop_spec = replace(loop_spec, completion=replace(loop_spec.completion, require=draw(st.sampled_from(Require))))
    turns = draw(st.lists(st.sampled_from(TEMPERS[kind]), min_size=1, max_size=10))
    return Case(
        spec=loop_spec,
        turns=[*turns, *draw(st.sampled_from([[], [ALL_WELL]]))],
        children=draw(st.lists(st.integers(1, 2), max_size=8)),
        stop=draw(st.integers(0, 60)),
    )


crashes_of = st.lists(st.integers(1, 60), max_size=3)


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


RESUMED_BY_A_PERSON = {OutcomeKind.INTERRUPTED, OutcomeKind.WAITING}


def run_through_crashes(loop: Loop, crashes: list[int]) -> Outcome:
    """Run it, crash it, resume it; a person resumes what was stopped or waits, but not for ever."""
    killer = Killer(loop, 0)
    killer.arm()
    patience = 2
    outcome = None
    for countdown in [*crashes, *[0] * (patience + 1)]:
        killer.countdown = countdown
        try:
            outcome = loop.resume() if loop.entries else loop.run()
        except Crash:
            continue
        if outcome.kind not in RESUMED_BY_A_PERSON:
            break
    killer.countdown = 0
    assert outcome is not None, "the last round is never killed"
    return outcome


@given(cases(), crashes_of)
def test_every_history_ends_and_the_ledger_says_how(case: Case, crashes: list[int]) -> None:
    loop = case.loop()
    outcome = run_through_crashes(loop, crashes)
    last = loop.entries[-1]
    assert isinstance(last, m.LoopEnded)
    assert last.outcome == outcome == fold(loop.entries).outcome


@given(cases(), crashes_of)
def test_folding_the_ledger_always_gives_the_live_state(case: Case, crashes: list[int]) -> None:
    loop = case.loop()
    states: list[LoopState] = []
    patched(loop.watcher, "entry", lambda _entry, state: states.append(state))
    run_through_crashes(loop, crashes)
    stored = [decode_entry(*encode(seen)) for seen in loop.entries]
    assert stored == loop.entries
    state = fold(stored)
    assert state == states[-1]


@given(cases(), st.lists(st.integers(1, 60), max_size=2), st.integers(0, 400))
def test_after_any_of_its_appends_a_loop_folds_to_the_live_state_and_can_be_taken_up_again(case: Case, crashes: list[int], moment: int) -> None:
    loop = case.loop()
    live: dict[int, LoopState] = {}
    append = loop.journal.append

    def remembers(entries: Sequence[m.Entry], state: LoopState) -> None:
        append(entries, state)
        live[len(loop.entries)] = state

    patched(loop.journal, "append", remembers)
    run_through_crashes(loop, crashes)
    length, state = list(live.items())[moment % len(live)]
    assert fold(loop.entries[:length]) == state
    del loop.journal.entries[length:]
    assert loop.resume() == fold(loop.entries).outcome


@given(cases(), st.lists(st.integers(1, 60), max_size=4))
def test_no_history_passes_a_limit(case: Case, crashes: list[int]) -> None:
    loop = case.loop()
    run_through_crashes(loop, crashes)
    bounds, state = case.spec.limits, None
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


@given(cases(), crashes_of)
def test_done_proved_implies_a_verdict_of_that_iteration_on_that_fingerprint(case: Case, crashes: list[int]) -> None:
    loop = case.loop()
    outcome = run_through_crashes(loop, crashes)
    if outcome.kind is not OutcomeKind.DONE:
        return
    last_turn = last_turn_of(loop.entries)
    if outcome.strength is Strength.PROVED:
        gates = [seen for seen in last_turn if isinstance(seen, m.GatesEnded) and not seen.interrupted]
        verified = [seen for seen in last_turn if isinstance(seen, m.WorkVerified)]
        assert [verdict.name for verdict in gates[-1].verdicts] == [gate.command for gate in case.spec.gates]
        assert all(verdict.passed for verdict in gates[-1].verdicts)
        assert last_turn.index(verified[-1]) > last_turn.index(gates[-1])
        assert not verified[-1].restorations
        if not case.spec.scm.tasks:
            assert verified[-1].tree == loop.workspace.look()
        assert loop.green(loop.workspace)
    else:
        assert not case.spec.gates
        assert case.spec.completion.require is Require.ANY


@given(cases(), crashes_of)
def test_done_is_never_reported_with_a_key_that_is_not_turned(case: Case, crashes: list[int]) -> None:
    """Both keys, looked for on the disk and in the last turn, without asking core."""
    loop = case.loop()
    if run_through_crashes(loop, crashes).kind is not OutcomeKind.DONE:
        return
    turn = last_turn_of(loop.entries)
    claims = [seen.claim.claimed for seen in turn if isinstance(seen, m.AttemptEnded)]
    match case.spec.work.kind:
        case Kind.PROMPT:
            assert claims[-1]
        case Kind.CHECKLIST:
            assert "- [ ]" not in loop.tasks
            assert all(task in loop.tasks for task in ("Write the parser", "Write the printer", "Write the manual"))
            assert case.spec.gates or not claims or claims[-1]
        case Kind.FOLDER:
            assert "DONE" in loop.workspace.files
            assert loop.workspace.files["TASK.md"] == b"Write the parser\n"
            looks = [seen for seen in turn if isinstance(seen, m.CheckStarted | m.ChangesJudged | m.ChildrenAwaited)]
            assert not looks[-1].survey.children
    assert [bool(seen.done) for seen in turn if isinstance(seen, m.IterationEnded | m.CheckEnded)] == [True]


@given(cases(), crashes_of)
def test_there_is_an_obstacle_exactly_where_a_turn_did_not_end_done(case: Case, crashes: list[int]) -> None:
    loop = case.loop()
    run_through_crashes(loop, crashes)
    for seen in moments(loop.entries):
        if isinstance(seen.entry, m.IterationEnded | m.CheckEnded):
            assert seen.entry.done is (obstacles(seen.before) == ()), obstacles(seen.before)


@given(cases(), crashes_of)
def test_no_gate_runs_while_the_work_is_complete_and_a_child_loop_runs(case: Case, crashes: list[int]) -> None:
    loop = case.loop()
    run_through_crashes(loop, crashes)
    for seen in moments(loop.entries):
        if isinstance(seen.entry, m.StepStarted) and seen.entry.step is m.Step.RUN_GATES:
            survey = seen.before.survey
            assert survey is not None
            assert not (survey.complete and survey.children)


def last_turn_of(entries: list[m.Entry]) -> list[m.Entry]:
    starts = [index for index, seen in enumerate(entries) if isinstance(seen, m.IterationStarted | m.CheckStarted)]
    return entries[starts[-1] :]


@given(cases(), st.lists(st.integers(1, 80), max_size=4))
def test_no_crash_makes_an_illegal_edit_legal(case: Case, crashes: list[int]) -> None:
    loop = case.loop()
    run_through_crashes(loop, crashes)
    if case.spec.work.kind is Kind.CHECKLIST:
        assert all(task in loop.tasks for task in ("Write the parser", "Write the printer", "Write the manual"))
    if case.spec.work.kind is Kind.FOLDER:
        assert loop.workspace.files["TASK.md"] == b"Write the parser\n"


def idempotent(workspace: Any) -> None:
    """An agent that does the next thing, seen from the disk as it is."""
    if "PRD.md" in workspace.files:
        workspace.files["PRD.md"] = tick(workspace.files["PRD.md"])
    else:
        workspace.files["parser"] = (workspace.files.get("parser", b"") + b"x")[:3]
        if workspace.files["parser"] == b"xxx":
            workspace.files["DONE"] = b""
    workspace.files["code"] = b"fine"


@given(
    st.integers(1, 120),
    st.sampled_from([Kind.CHECKLIST, Kind.FOLDER]),
    st.sampled_from([(), ("check",)]),
    st.sampled_from([Scm(), Scm(tasks=("commit", "push"))]),
)
def test_a_loop_that_is_crashed_anywhere_and_resumed_ends_as_the_uninterrupted_one(moment: int, kind: Kind, gates: tuple[str, ...], scm: Scm) -> None:
    loop_spec = spec(kind, gates=gates, limits=Limits(iterations=10, calls=60), scm=scm)
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
