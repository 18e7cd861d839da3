"""What each entry of the ledger says to a person. Pure; the console prints it as it happens, `ralph show` afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ralphloop.core import messages as m
from ralphloop.core.evolve import done_overrules, evolve, fold
from ralphloop.core.feedback import question_of
from ralphloop.core.model import Ending, Kind, LoopSpec, OutcomeKind, Restoration
from ralphloop.core.state import LoopState
from ralphloop.views.figures import count, duration, moment, money
from ralphloop.views.keys import obstacles
from ralphloop.views.text import one_line, tilde
from ralphloop.views.words import (
    DOT,
    ON_FAIL,
    agent_words,
    attempt_words,
    end_words,
    gates_words,
    iteration_title,
    limits_words,
    scm_words,
    short_sha,
    spent_words,
    verdict_words,
    way_on,
    work_words,
)

SHORT_WAIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One fact: a label for the eye, and the words. Without a label it goes on with the line above."""

    label: str = ""
    text: str
    colour: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """An iteration begins."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """The loop ends."""

    text: str
    colour: str | None


Row = Line | Title | Closing


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """An entry, with the state that it met and the state that it left."""

    entry: m.Entry
    before: LoopState
    after: LoopState


def moments(entries: Iterable[m.Entry]) -> Iterator[Moment]:
    """A loop's entries from the first on, each with the states around it."""
    state: LoopState | None = None
    for entry in entries:
        after = fold([entry]) if state is None else evolve(state, entry)
        yield Moment(entry=entry, before=state or after, after=after)
        state = after


def turns(history: Iterable[Moment]) -> list[list[Moment]]:
    """The history, cut where an iteration or a check begins; what stands before the first belongs to none."""
    cut: list[list[Moment]] = []
    for seen in history:
        if isinstance(seen.entry, m.IterationStarted | m.CheckStarted):
            cut.append([])
        if cut:
            cut[-1].append(seen)
    return cut


def facts(seen: Moment, home: str) -> list[Row]:
    """What the entry says; many say nothing, because what they began is told when it ends."""
    say = FACTS.get(type(seen.entry))
    rows = [] if say is None else list(say(seen.entry, seen.before, seen.after))
    if isinstance(seen.entry, m.LoopStarted | m.LoopResumed):
        rows += _head(seen.after.spec, home)
    return rows


def _head(spec: LoopSpec, home: str) -> Iterator[Row]:
    yield Line(label="in", text=tilde(spec.workspace, home))
    yield Line(label="agent", text=agent_words(spec))
    yield Line(label="gates", text=gates_words(spec))
    yield Line(label="limits", text=limits_words(spec.limits))


def _loop_started(entry: m.LoopStarted, _before: LoopState, _after: LoopState) -> Iterator[Row]:
    yield Line(label="ralph", text=f"{one_line(entry.spec.name)}{DOT}{work_words(entry.spec.work)}", colour="bold")


def _loop_resumed(entry: m.LoopResumed, _before: LoopState, after: LoopState) -> Iterator[Row]:
    yield Line(label="ralph", text=f"{one_line(entry.spec.name)}{DOT}{work_words(entry.spec.work)}", colour="bold")
    where = filter(None, (f"run {entry.incarnation}", f"{count(after.iteration, 'iteration')} so far", spent_words(after.spent)))
    yield Line(label="resumed", text=DOT.join(where), colour="yellow")
    for change in entry.changes:
        yield Line(label="changed", text=one_line(change), colour="yellow")


def _iteration_started(entry: m.IterationStarted, _before: LoopState, after: LoopState) -> Iterator[Row]:
    yield Title(text=iteration_title(after))
    if entry.edited:
        what = one_line(after.spec.work.task_file or after.spec.work.prompt_file or "the work")
        yield Line(label="note", text=f"{what} was edited while no iteration was open", colour="yellow")


def _check_started(_entry: m.CheckStarted, _before: LoopState, after: LoopState) -> Iterator[Row]:
    yield Title(text=iteration_title(after))


def _check_ended(entry: m.CheckEnded, before: LoopState, _after: LoopState) -> Iterator[Row]:
    if not entry.done:
        yield Line(label="result", text=f"not done: {'; '.join(obstacles(before))}", colour="red")


def _attempt_started(entry: m.AttemptStarted, _before: LoopState, _after: LoopState) -> Iterator[Row]:
    if entry.attempt > 1:
        yield Line(label="agent", text=f"attempt {entry.attempt}")


def _attempt_ended(entry: m.AttemptEnded, before: LoopState, _after: LoopState) -> Iterator[Row]:
    """Its line is printed when it has been judged; only that the cost is an estimate is said here, once in a loop."""
    if entry.estimated and not before.spent.estimated:
        known = f"it is counted as about {money(entry.charged_usd)}" if entry.charged_usd else "the loop's cost is not known"
        yield Line(label="note", text=f"the agent did not report its cost: {known}", colour="yellow")
    if entry.run.dropped_bytes:
        yield Line(
            label="note", text=f"{entry.run.dropped_bytes} bytes of its output were lost: too long a line, or no room for the log", colour="yellow"
        )
    if entry.run.strays:
        yield Line(
            label="note",
            text=f"{entry.run.strays} process{' that it left behind was' if entry.run.strays == 1 else 'es that it left behind were'} ended",
        )
    if entry.run.suspended_s:
        yield Line(label="note", text=f"the machine slept, or Ralph was stopped, for {duration(entry.run.suspended_s)}; that is not counted")


def _changes_judged(entry: m.ChangesJudged, _before: LoopState, after: LoopState) -> Iterator[Row]:
    good = entry.ending is Ending.OK
    yield Line(label="agent", text=attempt_words(after), colour="green" if good else "red")
    for note in entry.notes:
        yield Line(label="note", text=one_line(note), colour="yellow")


def _files_restored(entry: m.FilesRestored, before: LoopState, _after: LoopState) -> Iterator[Row]:
    for restoration in before.open_turn.restorations:
        yield Line(label="undone", text=_restored(restoration), colour="yellow")
    if entry.undo_commit is not None:
        yield Line(text=f"in git as well: {short_sha(entry.undo_commit)}")


def _restored(restoration: Restoration) -> str:
    path, reason = one_line(restoration.path), one_line(restoration.reason)
    return reason if reason.startswith(path) else f"{path}: {reason}"


def _gates_ended(entry: m.GatesEnded, _before: LoopState, after: LoopState) -> Iterator[Row]:
    for gate, verdict in zip(after.spec.gates, entry.verdicts, strict=False):
        yield Line(label="gate", text=verdict_words(verdict), colour="green" if verdict.passed else "red")
        if not verdict.passed:
            yield Line(text=DOT.join(filter(None, (one_line(verdict.log or ""), ON_FAIL[gate.on_fail]))))
    if entry.interrupted:
        yield Line(label="gate", text="interrupted; they run again when the loop goes on", colour="yellow")


def _scm_ended(entry: m.ScmEnded, before: LoopState, _after: LoopState) -> Iterator[Row]:
    text = scm_words(entry, before.open_turn.commit_message if entry.step is m.Step.COMMIT else None)
    yield Line(label=entry.step.value, text=text, colour="green" if entry.verdict.passed else "red")


def _iteration_ended(entry: m.IterationEnded, before: LoopState, after: LoopState) -> Iterator[Row]:
    """Why the loop goes on; that it is done is said by the end of the loop, which follows at once."""
    claim = before.open_turn.last.claim if before.open_turn.last else None
    believed = entry.done or claim is None or not claim.claimed
    if claim is not None and claim.tags and not claim.claimed and after.spec.work.kind is not Kind.FOLDER:
        yield Line(label="claim", text=f"none: {one_line(claim.why)}")
    if not believed and after.spec.work.kind is not Kind.FOLDER:
        yield Line(label="claim", text=f"not believed: {'; '.join(obstacles(before))}", colour="yellow")
    elif entry.failed and not entry.done and not done_overrules(before):
        yield Line(label="result", text=f"none: {one_line(entry.reason)}", colour="red")
    elif not entry.done:
        yield Line(label="result", text=f"not done: {'; '.join(obstacles(before))}")
    yield from _progress(entry, before, after)


def _progress(entry: m.IterationEnded, before: LoopState, after: LoopState) -> Iterator[Row]:
    was, now = before.open_turn.survey.remaining, before.survey.remaining if before.survey else None
    if was is not None and now is not None and now != was and after.spec.work.kind is not Kind.FOLDER:
        yield Line(label="tasks", text=f"{count(was - now, 'task')} closed" if now < was else f"{count(now - was, 'task')} more than before")
    if not entry.progress and not entry.done and (stall := after.spec.limits.stall):
        why = "; ".join(_hindrances(before))
        yield Line(label="note", text=f"no progress ({after.streaks.stalled} of {stall} in a row){f': {why}' if why else ''}", colour="yellow")


def _hindrances(before: LoopState) -> Iterator[str]:
    """What kept the agent from getting on, as far as its stream tells."""
    last = before.open_turn.last
    if last is None:
        return
    if last.stream.denied:
        yield f"the agent was not allowed to use {one_line(', '.join(last.stream.denied))} (agent.permissions is {one_line(before.spec.agent.permissions)})"
    if question := question_of(last.stream, courteous=any(not verdict.passed for verdict in before.open_turn.verdicts)):
        yield f"the agent asked: {one_line(question)}"


def _step_started(entry: m.StepStarted, _before: LoopState, after: LoopState) -> Iterator[Row]:
    """Steps are told when they end, but for the one that only waits."""
    if entry.step is m.Step.AWAIT_CHILDREN and after.survey is not None and after.survey.children:
        timeout_s = after.spec.limits.wait_timeout_s
        bound = f", at most {duration(timeout_s)}" if timeout_s else ""
        yield Line(label="wait", text=f"for {count(after.survey.children, 'child loop')}{bound}: the work is complete", colour="yellow")


def _children_awaited(entry: m.ChildrenAwaited, _before: LoopState, _after: LoopState) -> Iterator[Row]:
    if not entry.survey.children:
        yield Line(label="wait", text="no child loop runs any more")


def _wait_started(entry: m.WaitStarted, _before: LoopState, _after: LoopState) -> Iterator[Row]:
    left = max(entry.until - entry.at, 0.0)
    how_long = duration(left) if left < SHORT_WAIT_S else f"until {moment(entry.until, entry.at)} ({duration(left)})"
    yield Line(label="wait", text=f"{how_long}: {one_line(entry.why)}", colour="yellow")


def _request_taken(entry: m.RequestTaken, _before: LoopState, _after: LoopState) -> Iterator[Row]:
    author = one_line(entry.author)
    if entry.kind == m.TELL:
        yield Line(label="told", text=f"by {author}, for the next prompt: {one_line(entry.text)}")
    else:
        what = f"{one_line(entry.text)}, " if entry.kind == m.REFUSED else ""
        yield Line(label=one_line(entry.kind), text=f"{what}asked for by {author}", colour="yellow")


OUTCOME_COLOURS = {
    OutcomeKind.DONE: "green",
    OutcomeKind.LIMIT: "red",
    OutcomeKind.WAITING: "yellow",
    OutcomeKind.FAILED: "red",
    OutcomeKind.INTERRUPTED: "yellow",
}


def _loop_ended(entry: m.LoopEnded, _before: LoopState, after: LoopState) -> Iterator[Row]:
    for tell in after.tells if entry.outcome.kind is OutcomeKind.DONE else ():
        yield Line(label="note", text=f"no prompt carried what {one_line(tell.author)} said: {one_line(tell.text)}", colour="yellow")
    yield Closing(text=end_words(after, entry.outcome), colour=OUTCOME_COLOURS[entry.outcome.kind])
    if step := way_on(after.spec, entry.outcome):
        yield Line(label="next", text=step)


FACTS: dict[type, Callable[[Any, LoopState, LoopState], Iterator[Row]]] = {
    m.LoopStarted: _loop_started,
    m.LoopResumed: _loop_resumed,
    m.IterationStarted: _iteration_started,
    m.CheckStarted: _check_started,
    m.CheckEnded: _check_ended,
    m.AttemptStarted: _attempt_started,
    m.AttemptEnded: _attempt_ended,
    m.ChangesJudged: _changes_judged,
    m.FilesRestored: _files_restored,
    m.GatesEnded: _gates_ended,
    m.ScmEnded: _scm_ended,
    m.IterationEnded: _iteration_ended,
    m.StepStarted: _step_started,
    m.ChildrenAwaited: _children_awaited,
    m.WaitStarted: _wait_started,
    m.RequestTaken: _request_taken,
    m.LoopEnded: _loop_ended,
}
SILENT = {m.WorkLost, m.AttemptLost, m.LimitMet, m.WorkVerified, m.CommitStarted, m.WaitEnded}
