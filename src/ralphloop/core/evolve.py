"""evolve(state, entry) → state: what each durable fact means. All state is a fold of this; it reads nothing but its arguments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from ralphloop.core import messages as m
from ralphloop.core.feedback import ADVICE, no_result, without_no_result
from ralphloop.core.limits import INSTANT_DEATH_S, backoff_s, usage_wait_until
from ralphloop.core.model import Ending, Feedback, Kind, Outcome, OutcomeKind, Usage
from ralphloop.core.state import LoopState, Phase, Streaks, Turn


def fold(entries: Iterable[m.Entry]) -> LoopState:
    """The state after a loop's entries, the first of which is LoopStarted."""
    stream = iter(entries)
    first = next(stream)
    assert isinstance(first, m.LoopStarted), "a loop's first entry is LoopStarted"
    state = LoopState(spec=first.spec, at=first.at)
    for entry in stream:
        state = evolve(state, entry)
    return state


def evolve(state: LoopState, entry: m.Entry) -> LoopState:
    """The state after one more entry."""
    return _apply(replace(state, at=entry.at), entry)


def _apply(state: LoopState, entry: m.Entry) -> LoopState:
    match entry:
        case m.LoopStarted():
            return LoopState(spec=entry.spec, at=entry.at)
        case m.LoopResumed():
            return _resumed(state, entry)
        case m.IterationStarted():
            turn = Turn(survey=entry.survey, tree=entry.tree, snapshot=entry.snapshot)
            return replace(_looked(state, entry), phase=Phase.ATTEMPT, iteration=entry.number, turn=turn)
        case m.CheckStarted():
            turn = Turn(survey=entry.survey, tree=entry.tree, snapshot=entry.snapshot, lawful=entry.snapshot, checking=True)
            # A wait that still stands was for an iteration that a bound forbids.
            return _on_to_gates(replace(_looked(state, entry), turn=turn, wait_until=None, wait_why=""))
        case m.CheckEnded():
            return _check_ended(state, entry)
        case m.WorkLost():
            return replace(state, decided=Outcome(kind=OutcomeKind.FAILED, reason=entry.reason))
        case m.AttemptStarted():
            return _attempt_started(state, entry)
        case m.AttemptEnded():
            return _attempt_ended(state, entry)
        case m.AttemptLost():
            return _attempt_lost(state, entry)
        case m.StepStarted():
            return replace(state, step=entry.step, step_since=entry.at)
        case m.ChangesJudged():
            return _changes_judged(state, entry)
        case m.FilesRestored():
            return _files_restored(_looked(state, entry), entry)
        case m.GatesEnded():
            return _gates_ended(state, entry)
        case m.WorkVerified():
            return _work_verified(_looked(state, entry), entry)
        case m.CommitStarted():
            turn = replace(state.open_turn, commit_message=entry.message)
            return replace(state, step=m.Step.COMMIT, step_since=entry.at, turn=turn)
        case m.ScmEnded():
            return _scm_ended(state, entry)
        case m.IterationEnded():
            return _iteration_ended(state, entry)
        case m.WaitStarted():
            return replace(state, step=m.Step.WAIT, step_since=entry.at)
        case m.WaitEnded():
            state = replace(state, step=None, wait_until=None, wait_why="")
            return _left_to_a_check(state) if entry.complete and state.phase is Phase.ATTEMPT else state
        case m.ChildrenAwaited():
            return _children_awaited(_looked(state, entry), entry)
        case m.LimitMet():
            return replace(state, decided=entry.outcome)
        case m.RequestTaken():
            return _request_taken(state, entry)
        case m.LoopEnded():
            return replace(state, outcome=entry.outcome, step=None)
    assert_never(entry)


def _looked(state: LoopState, seen: m.IterationStarted | m.CheckStarted | m.FilesRestored | m.WorkVerified | m.ChildrenAwaited) -> LoopState:
    return replace(state, survey=seen.survey, tree=seen.tree, step=None)


def _resumed(state: LoopState, entry: m.LoopResumed) -> LoopState:
    """A loop that had ended begins its breakers anew: a person looked at it. One that crashed goes on counting.

    The workspace may have changed meanwhile: what the gates saw before is seen again, unless it is being committed, which is safe by itself; and
    an iteration that goes on with another attempt begins from what is there now.
    """
    if entry.look is not None:
        turn = replace(state.open_turn, lawful=entry.look.lawful)
        if state.phase is Phase.ATTEMPT:
            turn = replace(turn, survey=entry.look.survey, tree=entry.look.tree, snapshot=entry.look.lawful)
        state = replace(state, survey=entry.look.survey, tree=entry.look.tree, turn=turn)
        if state.phase is Phase.ATTEMPT and state.spec.work.kind is Kind.FOLDER and entry.look.survey.complete:
            state = _left_to_a_check(replace(state, wait_until=None, wait_why=""))
    if state.phase is Phase.VERIFY or (
        state.phase is Phase.SCM and state.spec.gates and state.open_turn.scm_next == 0 and state.step is not m.Step.COMMIT
    ):
        state = replace(state, phase=Phase.GATES, step=None, turn=replace(state.open_turn, verdicts=(), cleared=None))
    streaks, spent = state.streaks, state.spent
    if state.outcome is not None:
        streaks, spent = Streaks(last_checks=streaks.last_checks), replace(spent, waits=0, waited_s=0.0)
        if state.outcome.limit in {"usage_waits", "usage_wait_hours"}:  # a person says that it is worth a try
            state = replace(state, wait_until=None, wait_why="")
    return replace(
        state,
        spec=entry.spec,
        incarnation=entry.incarnation,
        step=None if state.step is m.Step.AWAIT_CHILDREN else state.step,  # that wait has its whole time again
        outcome=None,
        decided=_still_decided(state),
        stopping=None,
        checked=None,
        streaks=streaks,
        spent=spent,
    )


def _left_to_a_check(state: LoopState) -> LoopState:
    """Somebody has finished the task meanwhile: a check will tell, not another attempt."""
    return replace(state, phase=Phase.READY, turn=None, scm_owed=state.scm_owed or state.open_turn.changed)


def _still_decided(state: LoopState) -> Outcome | None:
    """A loop that died when it had been asked to wait waits, instead of asking the agent again; any other cause is looked at anew."""
    waits = state.outcome is None and state.decided is not None and state.decided.kind is OutcomeKind.WAITING
    return state.decided if waits else None


def _check_ended(state: LoopState, entry: m.CheckEnded) -> LoopState:
    red = None if entry.done else entry.fingerprint
    feedback = entry.feedback or state.feedback
    state = replace(state, phase=Phase.READY, turn=None, done=entry.strength)
    return replace(state, red_fingerprint=red, checked=state.iteration, feedback=feedback)


def _attempt_lost(state: LoopState, entry: m.AttemptLost) -> LoopState:
    spent = replace(state.spent, cost_usd=state.spent.cost_usd + entry.charged_usd, estimated=True)
    return replace(state, phase=Phase.JUDGE, step=None, spent=spent, turn=replace(state.open_turn, last=None))


def _attempt_started(state: LoopState, entry: m.AttemptStarted) -> LoopState:
    return replace(
        state,
        step=m.Step.RUN_AGENT,
        step_since=entry.at,
        run_id=entry.run_id,
        carried=entry.tells,
        spent=replace(state.spent, calls=state.spent.calls + 1),
        turn=replace(state.open_turn, attempt=entry.attempt, last=None, ending=None, reason=""),
    )


def _attempt_ended(state: LoopState, entry: m.AttemptEnded) -> LoopState:
    reported, spent = entry.stream.usage, state.spent
    priced = reported.cost_usd is not None or (entry.stream.result_seen and entry.charged_usd > 0 and reported.has_tokens)
    spent = replace(
        spent,
        cost_usd=spent.cost_usd + entry.charged_usd,
        estimated=spent.estimated or entry.estimated,
        priced_calls=spent.priced_calls + priced,
        priced_usd=spent.priced_usd + (entry.charged_usd if priced else 0.0),
        usage=_added(spent.usage, reported),
        active_s=spent.active_s + entry.run.duration_s,
    )
    return replace(
        state,
        phase=Phase.JUDGE,
        step=None,
        spent=spent,
        turn=replace(state.open_turn, last=entry),
    )


def _added(total: Usage, one: Usage) -> Usage:
    return Usage(
        cost_usd=None if total.cost_usd is None and one.cost_usd is None else (total.cost_usd or 0.0) + (one.cost_usd or 0.0),
        input_tokens=total.input_tokens + one.input_tokens,
        output_tokens=total.output_tokens + one.output_tokens,
        cache_read_tokens=total.cache_read_tokens + one.cache_read_tokens,
        cache_write_tokens=total.cache_write_tokens + one.cache_write_tokens,
    )


UNREAD = frozenset({Ending.LOST, Ending.USAGE_LIMIT, Ending.FATAL})
"""Endings after which nobody can say that the prompt was read: its messages are carried again."""


def _changes_judged(state: LoopState, entry: m.ChangesJudged) -> LoopState:
    turn = state.open_turn
    told = what_was_judged(entry)
    turn = replace(
        turn,
        ending=entry.ending,
        reason=entry.reason,
        restorations=entry.restorations,
        lawful=entry.lawful,
        changed=turn.changed or entry.changed,
        lawless=turn.lawless or bool(entry.restorations),
        notes=turn.notes + told,
        failed=turn.failed + (entry.ending in {Ending.FAILED, Ending.LOST}),
        empty=turn.empty + (entry.ending is Ending.EMPTY),
    )
    state = replace(
        state,
        step=None,
        survey=entry.survey,
        tree=entry.tree,
        turn=turn,
        streaks=_streaks_after(state.streaks, turn, entry.ending),
        tells=tuple(tell for tell in state.tells if entry.ending in UNREAD or tell.request_id not in state.carried),
        carried=(),
        feedback=_told_of_failure(state.feedback, turn) + tuple(Feedback(text=text) for text in told),
    )
    return replace(state, phase=Phase.RESTORE) if entry.restorations else _after_ending(state)


def _told_of_failure(feedback: tuple[Feedback, ...], turn: Turn) -> tuple[Feedback, ...]:
    """The next attempt is told at once of a failure that it can do something about."""
    if turn.ending in UNREAD:
        return feedback
    cause = turn.last.stream.cause if turn.last and turn.ending is Ending.FAILED else None
    return (*without_no_result(feedback), *([no_result(turn.reason, cause)] if cause in ADVICE else []))


def what_was_judged(entry: m.ChangesJudged) -> tuple[str, ...]:
    """In words: what of an attempt's changes was put back, and what could not be."""
    return tuple(restoration.reason for restoration in entry.restorations) + entry.notes


def _streaks_after(streaks: Streaks, turn: Turn, ending: Ending) -> Streaks:
    failed = ending in {Ending.FAILED, Ending.LOST}
    instant = ending is Ending.FAILED and turn.last is not None and turn.last.run.duration_s < INSTANT_DEATH_S
    limited = ending is Ending.USAGE_LIMIT
    return replace(
        streaks,
        failures=streaks.failures + 1 if failed else 0,
        instant_deaths=streaks.instant_deaths + 1 if instant else 0,
        usage_limits=streaks.usage_limits + 1 if limited else 0,
    )


HOWEVER_IT_ENDED = frozenset({Ending.EMPTY, Ending.FAILED, Ending.LOST, Ending.WAITING, Ending.USAGE_LIMIT})
"""Endings that a task folder overrules: its DONE counts, however the run that wrote it ended."""


def done_overrules(state: LoopState) -> bool:
    """Whether the open turn goes on to the gates although its attempt did not end well."""
    complete = state.survey is not None and state.survey.complete
    return state.spec.work.kind is Kind.FOLDER and complete and state.open_turn.ending in HOWEVER_IT_ENDED


def _after_ending(state: LoopState) -> LoopState:  # one arm per ending
    """Where the loop goes once the ending of an attempt is known and the protected files are as they should be."""
    turn, limits = state.open_turn, state.spec.limits
    if done_overrules(state):
        return _on_to_gates(state)
    match turn.ending:
        case Ending.OK:
            return _on_to_gates(state)
        case Ending.EMPTY:
            again = turn.empty <= limits.empty_retries
            return replace(state, phase=Phase.ATTEMPT if again else Phase.CLOSE)
        case Ending.FAILED | Ending.LOST:
            exhausted = limits.attempts and turn.failed >= limits.attempts
            return replace(_backed_off(state), phase=Phase.CLOSE if exhausted else Phase.ATTEMPT)
        case Ending.USAGE_LIMIT:
            return replace(_waiting_for_usage(state), phase=Phase.ATTEMPT)
        case Ending.WAITING:
            return _decided(state, OutcomeKind.WAITING)
        case Ending.FATAL:
            return _decided(state, OutcomeKind.FAILED)
        case Ending.INTERRUPTED:
            return _decided(state, OutcomeKind.INTERRUPTED)
        case None:
            raise AssertionError("an attempt is judged before the loop goes on")
    assert_never(turn.ending)


def _on_to_gates(state: LoopState) -> LoopState:
    """The gates, or what comes after them; child loops of complete work are waited for before."""
    if state.survey is not None and state.survey.complete and state.survey.children:
        return replace(state, phase=Phase.CHILDREN)
    return replace(state, phase=Phase.GATES) if state.spec.gates else _on_to_scm(state)


def _on_to_scm(state: LoopState) -> LoopState:
    assert state.tree is not None
    # Work that a person finished is not committed for them; what an iteration could not commit or merge is still owed.
    tasks = state.spec.scm.tasks and (state.scm_owed or not state.open_turn.checking)
    turn = replace(state.open_turn, cleared=state.tree.fingerprint, head=state.tree.head)
    return replace(state, phase=Phase.SCM if tasks else Phase.CLOSE, turn=turn)


def _children_awaited(state: LoopState, entry: m.ChildrenAwaited) -> LoopState:
    if entry.survey.children:
        running = f"{entry.survey.children} child loop{'' if entry.survey.children == 1 else 's'}"
        reason = f"children still running: {running} after {state.spec.limits.wait_timeout_s:g} s"
        return replace(state, decided=Outcome(kind=OutcomeKind.LIMIT, reason=reason, limit="wait_timeout_s"))
    told = tuple(f"A child loop changed a protected file. {restoration.reason}" for restoration in entry.restorations)
    turn = replace(state.open_turn, restorations=entry.restorations, lawful=entry.lawful, notes=state.open_turn.notes + told)
    state = replace(state, turn=turn, feedback=state.feedback + tuple(Feedback(text=text) for text in told))
    return replace(state, phase=Phase.RESTORE) if entry.restorations else _on_to_gates(state)


def _decided(state: LoopState, kind: OutcomeKind) -> LoopState:
    return replace(state, phase=Phase.ATTEMPT, decided=Outcome(kind=kind, reason=state.open_turn.reason))


def _backed_off(state: LoopState) -> LoopState:
    if not state.spec.limits.backoff_s:
        return state
    dice = state.open_turn.last.dice if state.open_turn.last else 1.0
    wait = backoff_s(state, dice)
    return replace(state, wait_until=state.at + wait, wait_why="back-off after a failed attempt")


def _waiting_for_usage(state: LoopState) -> LoopState:
    last = state.open_turn.last
    assert last is not None, "a usage limit is read from an attempt"
    until = usage_wait_until(state, last.stream.limit, last.dice)
    spent = replace(state.spent, waits=state.spent.waits + 1, waited_s=state.spent.waited_s + until - state.at)
    return replace(state, spent=spent, wait_until=until, wait_why=f"usage limit: {state.open_turn.reason}")


def _files_restored(state: LoopState, entry: m.FilesRestored) -> LoopState:
    turn = replace(state.open_turn, restorations=(), lawful=entry.lawful)
    state = replace(state, turn=turn)
    if turn.tampered:
        return replace(state, phase=Phase.CLOSE)
    return _on_to_gates(state) if turn.checking else _after_ending(state)


def _gates_ended(state: LoopState, entry: m.GatesEnded) -> LoopState:
    spent = replace(state.spent, active_s=state.spent.active_s + sum(verdict.duration_s for verdict in entry.verdicts))
    if entry.interrupted:
        return replace(state, step=None, spent=spent)
    turn = replace(state.open_turn, verdicts=entry.verdicts)
    leak = next((verdict for verdict in entry.verdicts if verdict.fatal), None)
    decided = state.decided if leak is None else Outcome(kind=OutcomeKind.FAILED, reason=f"the gate {leak.name} {leak.reason}")
    return replace(state, phase=Phase.VERIFY, step=None, spent=spent, turn=turn, decided=decided)


def _work_verified(state: LoopState, entry: m.WorkVerified) -> LoopState:
    if entry.restorations:
        told = tuple(f"A gate changed a protected file. {restoration.reason}" for restoration in entry.restorations)
        turn = replace(state.open_turn, restorations=entry.restorations, tampered=True, notes=state.open_turn.notes + told)
        return replace(state, phase=Phase.RESTORE, turn=turn)
    green = all(verdict.passed for verdict in state.open_turn.verdicts)
    return _on_to_scm(state) if green else replace(state, phase=Phase.CLOSE)


def _scm_ended(state: LoopState, entry: m.ScmEnded) -> LoopState:
    turn = state.open_turn
    turn = replace(turn, scm=(*turn.scm, entry.verdict), scm_next=turn.scm_next + 1)
    if entry.step is not m.Step.PUSH and not entry.verdict.passed:
        told = f"Source control: {entry.verdict.name} failed. {entry.verdict.reason}"
        turn = replace(turn, notes=(*turn.notes, told), cleared=None)
    if entry.step is m.Step.COMMIT and entry.sha is not None:
        turn = replace(turn, head=entry.sha)
    if entry.step is m.Step.MERGE and entry.verdict.passed and entry.sha != turn.head:
        # The merged tree is one that no gate has seen, also where the merge was made before a crash: nothing is done on it in this iteration.
        turn = replace(turn, cleared=None)
    goes_on = entry.verdict.passed or entry.step is m.Step.PUSH
    more = goes_on and turn.scm_next < len(state.spec.scm.tasks)
    owed = turn.cleared is None if not more else state.scm_owed
    return replace(state, phase=Phase.SCM if more else Phase.CLOSE, step=None, turn=turn, survey=entry.survey, scm_owed=owed)


def _iteration_ended(state: LoopState, entry: m.IterationEnded) -> LoopState:
    turn, limits = state.open_turn, state.spec.limits
    if turn.ending is Ending.USAGE_LIMIT and not entry.done:  # the gates did not take what was finished before it for done
        state = _waiting_for_usage(state)
    checks = tuple((verdict.name, verdict.result.value) for verdict in turn.verdicts)
    streaks = replace(
        state.streaks,
        stalled=0 if entry.progress else state.streaks.stalled + 1,
        last_checks=checks or state.streaks.last_checks,
    )
    state = replace(
        state,
        phase=Phase.READY,
        turn=None,
        streaks=streaks,
        feedback=entry.feedback,
        done=entry.strength if entry.done else None,
        red_fingerprint=_red_fingerprint(state, turn),
    )
    delayed = entry.at + limits.delay_s
    if limits.delay_s and delayed > (state.wait_until or 0.0):
        state = replace(state, wait_until=delayed, wait_why="delay between iterations")
    return state


def _red_fingerprint(state: LoopState, turn: Turn) -> str | None:
    red = any(not verdict.passed for verdict in turn.verdicts)
    return state.tree.fingerprint if red and state.tree is not None else None


def _request_taken(state: LoopState, entry: m.RequestTaken) -> LoopState:
    match entry.kind:
        case m.TELL:
            return replace(state, tells=(*state.tells, entry))
        case m.STOP:
            return replace(state, stopping=entry.author)
        case _:  # put there by a newer program: recorded, and nothing follows from it
            return state
