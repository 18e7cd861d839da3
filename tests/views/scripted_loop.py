"""A loop told entry by entry: what an agent did is given, what follows from it is decided by the real core."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ralphloop.core import messages as m
from ralphloop.core.claims import ClaimReading, TagReading
from ralphloop.core.close import close
from ralphloop.core.decide import decide, next_action
from ralphloop.core.evolve import evolve, fold
from ralphloop.core.model import (
    AgentSpec,
    Completion,
    EndedBy,
    Ending,
    Gate,
    Kind,
    Limits,
    LoopSpec,
    OnFail,
    Purpose,
    Restoration,
    Result,
    RunReport,
    Scm,
    StreamReport,
    Survey,
    Tree,
    Usage,
    Verdict,
    WorkSpec,
)
from ralphloop.core.state import LoopState

NO_CLAIM = ClaimReading(claimed=False, why="no tag was found")
CLAIM = ClaimReading(
    claimed=True,
    why="line 3: alone on its line",
    tags=(TagReading(line=3, excerpt="<promise>COMPLETE</promise>", stands=True, why="alone on its line"),),
)
MENTION = ClaimReading(
    claimed=False,
    why="line 1: it is negated",
    tags=(TagReading(line=1, excerpt="I cannot output <promise>COMPLETE</promise> yet", stands=False, why="it is negated"),),
)

GREEN = Verdict(name="make test", result=Result.PASSED, reason="passed", exit_code=0, duration_s=1.2, log=".ralph/guardrail_1_make_test.log")
RED = Verdict(
    name="make test",
    result=Result.FAILED,
    reason="failed with exit code 2",
    exit_code=2,
    duration_s=1.2,
    log=".ralph/guardrail_1_make_test.log",
    output="boom",
)


def checklist(*gates: str, **changes: Any) -> LoopSpec:
    spec = LoopSpec(
        loop_id="01JX",
        name="my-app",
        workspace="/home/lena/src/app",
        work=WorkSpec(kind=Kind.CHECKLIST, task_file="PRD.md"),
        agent=AgentSpec(type="claude", command="claude", model="opus"),
        completion=Completion(text="COMPLETE"),
        gates=tuple(Gate(command=gate) for gate in gates),
        limits=Limits(iterations=10),
    )
    return replace(spec, **changes)


def prompt(*gates: str, **changes: Any) -> LoopSpec:
    return checklist(*gates, work=WorkSpec(kind=Kind.PROMPT, prompt_text="Make it\nfast"), **changes)


def folder(*gates: str, **changes: Any) -> LoopSpec:
    return checklist(*gates, **{"work": WorkSpec(kind=Kind.FOLDER, task_dir="."), "limits": Limits(iterations=10, attempts=1, stall=0)} | changes)


def committing(*gates: str, **changes: Any) -> LoopSpec:
    return checklist(*gates, scm=Scm(tasks=("commit", "push")), **changes)


def prepending(spec: LoopSpec) -> LoopSpec:
    return replace(spec, gates=tuple(replace(gate, on_fail=OnFail.PREPEND) for gate in spec.gates))


@dataclass(slots=True)
class Script:
    """The entries so far; every word adds what it stands for."""

    spec: LoopSpec
    at: float = 1_700_000_000.0
    tree: int = 0
    entries: list[m.Entry] = field(default_factory=list)
    state: LoopState = field(init=False)

    def __post_init__(self) -> None:
        self.entries.append(m.LoopStarted(at=self.at, spec=self.spec))
        self.state = fold(self.entries)

    def add(self, *entries: m.Entry) -> Script:
        for entry in entries:
            self.entries.append(entry)
            self.state = evolve(self.state, entry)
        return self

    def _survey(self, left: int | None, children: int = 0) -> Survey:
        if self.spec.work.kind is Kind.FOLDER:
            return Survey(remaining=min(left or 0, 1), total=1, task="Log in", digest=f"task-{left}", children=children)
        return Survey(remaining=left, total=None if left is None else 3, task="Write the parser" if left else None, digest=f"tasks-{left}")

    def _tree(self) -> Tree:
        return Tree(fingerprint=f"tree-{self.tree}", head="a" * 40, branch="main")

    def iteration(self, left: int | None = 2, *, edited: bool = False) -> Script:
        return self.add(
            m.IterationStarted(at=self.at, number=self.state.iteration + 1, survey=self._survey(left), tree=self._tree(), snapshot=(), edited=edited)
        )

    def check(self) -> Script:
        return self.add(m.CheckStarted(at=self.at, survey=self._survey(0), tree=self._tree(), snapshot=()))

    def started(self) -> Script:
        state = self.state
        attempt = state.open_turn.attempt + 1
        run_id = f"{state.spec.loop_id}/{state.iteration}/{attempt}"
        self.at += 41.0
        return self.add(m.AttemptStarted(at=self.at - 41.0, iteration=state.iteration, attempt=attempt, purpose=Purpose.WORK, run_id=run_id))

    def attempt(
        self,
        left: int | None = 1,
        *,
        claim: ClaimReading = NO_CLAIM,
        cost: float | None = 0.02,
        ending: Ending = Ending.OK,
        reason: str = "",
        words: str = "I did it.",
        undo: tuple[Restoration, ...] = (),
        notes: tuple[str, ...] = (),
        children: int = 0,
        **run: Any,
    ) -> Script:
        self.started()
        self.tree += 1
        usage = Usage(cost_usd=cost, input_tokens=350_000, output_tokens=45_000, cache_read_tokens=850_000)
        self.add(
            m.AttemptEnded(
                at=self.at,
                dice=0.5,
                run=RunReport(ended_by=EndedBy.EXIT, exit_code=0 if ending is Ending.OK else 1, duration_s=41.0, **run),
                stream=StreamReport(final_words=words, usage=usage),
                claim=claim,
                charged_usd=cost or 0.0,
                estimated=cost is None,
            ),
            m.StepStarted(at=self.at, step=m.Step.JUDGE),
            self._judged(left, ending, reason, undo, notes, children=children),
        )
        return self.restored(left) if undo else self

    def lost(self, left: int = 2) -> Script:
        self.started()
        return self.add(m.AttemptLost(at=self.at, charged_usd=0.0), self._judged(left, Ending.LOST, "Ralph died while it ran", (), ()))

    def _judged(
        self, left: int | None, ending: Ending, reason: str, undo: tuple[Restoration, ...], notes: tuple[str, ...], *, children: int = 0
    ) -> m.Entry:
        return m.ChangesJudged(
            at=self.at,
            survey=self._survey(left, children),
            tree=self._tree(),
            changed=True,
            ending=ending,
            reason=reason,
            restorations=undo,
            notes=notes,
        )

    def awaited(self, left: int = 0, *, still: int = 0) -> Script:
        """The child loops were waited for; so many still run."""
        self.add(m.StepStarted(at=self.at, step=m.Step.AWAIT_CHILDREN))
        self.at += 90.0
        return self.add(m.ChildrenAwaited(at=self.at, survey=self._survey(left, still), tree=self._tree()))

    def restored(self, left: int | None, undo_commit: str | None = "b" * 40) -> Script:
        return self.add(m.FilesRestored(at=self.at, survey=self._survey(left), tree=self._tree(), undo_commit=undo_commit))

    def gates(self, *verdicts: Verdict, left: int | None = 1, undo: tuple[Restoration, ...] = ()) -> Script:
        self.add(m.StepStarted(at=self.at, step=m.Step.RUN_GATES))
        self.at += 1.2
        self.add(
            m.GatesEnded(at=self.at, verdicts=verdicts), m.WorkVerified(at=self.at, survey=self._survey(left), tree=self._tree(), restorations=undo)
        )
        return self.restored(left) if undo else self

    def commit(self, verdict: Verdict | None = None, sha: str | None = "c" * 40) -> Script:
        done = verdict or Verdict(name="commit", result=Result.PASSED, reason="")
        return self.add(
            m.CommitStarted(at=self.at, message="Ralph: iteration 1"),
            m.ScmEnded(at=self.at, step=m.Step.COMMIT, verdict=done, survey=self._last_survey(), sha=sha),
        )

    def push(self, verdict: Verdict) -> Script:
        return self.add(m.ScmEnded(at=self.at, step=m.Step.PUSH, verdict=verdict, survey=self._last_survey()))

    def _last_survey(self) -> Survey:
        assert self.state.survey is not None
        return self.state.survey

    def close(self) -> Script:
        return self.add(close(self.state, self.at))

    def end(self) -> Script:
        """The loop looks at the work once more, if it has not been decided, and ends."""
        if isinstance(next_action(self.state), m.SurveyWork):
            seen = m.WorkSurveyed(at=self.at, survey=self._last_survey(), tree=self._tree(), snapshot=())
            self.add(*decide(self.state, seen))
        action = next_action(self.state)
        assert isinstance(action, m.Stop), f"the loop would go on: {action}"
        return self.add(m.LoopEnded(at=self.at, outcome=action.outcome))


def states(entries: list[m.Entry]) -> list[tuple[m.Entry, LoopState]]:
    """Each entry with the state that it left, as a watcher gets them."""
    state, pairs = None, []
    for entry in entries:
        state = fold([entry]) if state is None else evolve(state, entry)
        pairs.append((entry, state))
    return pairs
