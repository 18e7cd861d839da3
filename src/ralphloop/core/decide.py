"""The heart: next_action(state) · begin(state, action) · decide(state, observation) → entries.

A loop is READY between iterations. A survey opens an iteration (ATTEMPT), or, where the work is already complete, a check (GATES without an
agent). An attempt is always JUDGED against the Snapshot of its iteration before anything else, and what it was not allowed to change is
put back (RESTORE); nothing, not even a stop, comes between, unless the workspace cannot be read at all. Work that is complete waits for its
CHILDREN. Then GATES, VERIFY and SCM, and the iteration CLOSES: the two keys are turned, or the feedback is gathered for the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import assert_never

from ralphloop.core import messages as m
from ralphloop.core.close import close
from ralphloop.core.endings import classify
from ralphloop.core.evolve import evolve
from ralphloop.core.limits import budget_left, charge, limit_reached, mean_charge
from ralphloop.core.model import Ending, Kind, Outcome, OutcomeKind, Purpose, Strength
from ralphloop.core.prompts import commit_message
from ralphloop.core.state import LoopState, Phase

# --- next_action ------------------------------------------------------------------------------------------------------


def next_action(state: LoopState) -> m.Action:
    """What the loop does next; a pure function of everything that is known."""
    turn = state.turn
    if turn is not None and state.phase is Phase.JUDGE and state.decided is None:
        return m.Judge(snapshot=turn.snapshot)
    if turn is not None and state.phase is Phase.RESTORE and state.decided is None:
        return m.Restore(iteration=state.iteration, head=turn.tree.head, snapshot=turn.snapshot, restorations=turn.restorations)
    outcome = _outcome(state)
    if outcome is not None:
        return m.Stop(outcome=outcome)
    if state.wait_until is not None and not (state.phase is Phase.READY and limit_reached(state, new_iteration=True)):
        return m.Wait(until=state.wait_until, why=state.wait_why)
    return _work_on(state)


def _work_on(state: LoopState) -> m.Action:
    match state.phase:
        case Phase.READY:
            return m.SurveyWork()
        case Phase.ATTEMPT:
            attempt = state.open_turn.attempt + 1
            run_id = f"{state.spec.loop_id}/{state.iteration}/{attempt}"
            return m.RunAgent(
                before=state.spent.calls,
                iteration=state.iteration,
                attempt=attempt,
                purpose=Purpose.WORK,
                run_id=run_id,
                budget_usd=budget_left(state),
            )
        case Phase.CHILDREN:
            limits = state.spec.limits
            return m.AwaitChildren(pause_s=limits.poll_interval_s, timeout_s=limits.wait_timeout_s, snapshot=state.open_turn.snapshot)
        case Phase.GATES:
            return m.RunGates(iteration=state.iteration + state.open_turn.checking, run_id=gates_run_id(state))
        case Phase.VERIFY:
            return m.Verify(lawful=state.open_turn.lawful)
        case Phase.SCM:
            return _scm_action(state)
        case Phase.JUDGE | Phase.RESTORE | Phase.CLOSE:
            raise AssertionError(f"phase {state.phase} never waits for an action")
    assert_never(state.phase)


def gates_run_id(state: LoopState) -> str:
    """By which the processes of the gates are known, should Ralph die while they run."""
    return f"{state.spec.loop_id}/{state.iteration}/gates"


def _scm_action(state: LoopState) -> m.Action:
    turn, scm = state.open_turn, state.spec.scm
    assert turn.cleared is not None
    task, _, rest = scm.tasks[turn.scm_next].partition(" ")
    match task:
        case "commit":
            message = turn.commit_message or commit_message(state)
            return m.Commit(iteration=state.iteration, message=message, fingerprint=turn.cleared)
        case "push":
            return m.Push()
        case _:
            return m.Merge(branch=rest)


def _outcome(state: LoopState) -> Outcome | None:
    """Why the loop should end now. Done comes before every bound: completion on the last allowed iteration is done.

    Between iterations the bounds are looked at after the work (`_opened`): what is complete, whoever completed it, needs no further iteration.
    """
    if state.outcome is not None:
        return state.outcome
    if state.done is not None:
        return _done(state, state.done)
    if state.stopping is not None and (state.decided is None or state.decided.kind is OutcomeKind.INTERRUPTED):
        return Outcome(kind=OutcomeKind.INTERRUPTED, reason=f"stopped by {state.stopping}")
    if state.decided is not None:
        return state.decided
    return limit_reached(state, new_iteration=False) if state.phase is Phase.ATTEMPT else None


def _done(state: LoopState, strength: Strength) -> Outcome:
    checked = len(state.spec.gates)
    reason = "nothing was checked" if strength is Strength.ATTESTED else f"{checked} gate{'' if checked == 1 else 's'} green"
    return Outcome(kind=OutcomeKind.DONE, reason=reason, strength=strength)


# --- begin ------------------------------------------------------------------------------------------------------------


def begin(state: LoopState, action: m.Action, at: float) -> tuple[m.Entry, ...]:
    """The entries that stand in the ledger before the action is done."""
    match action:
        case m.SurveyWork():
            return ()
        case m.RunAgent():
            tells = tuple(tell.request_id for tell in state.tells if tell.request_id is not None)
            return (
                m.AttemptStarted(
                    at=at, iteration=action.iteration, attempt=action.attempt, purpose=action.purpose, run_id=action.run_id, tells=tells
                ),
            )
        case m.Commit():
            return (m.CommitStarted(at=at, message=action.message),)
        case m.Wait():
            return () if state.step is m.Step.WAIT else (m.WaitStarted(at=at, until=action.until, why=action.why),)
        case m.Stop():
            return (m.LoopEnded(at=at, outcome=action.outcome),)
        case m.AwaitChildren():
            return () if state.step is m.Step.AWAIT_CHILDREN else (m.StepStarted(at=at, step=STEPS[type(action)]),)
        case m.Judge() | m.Restore() | m.RunGates() | m.Verify() | m.Push() | m.Merge():
            return (m.StepStarted(at=at, step=STEPS[type(action)]),)
    assert_never(action)


STEPS: dict[type, m.Step] = {
    m.RunAgent: m.Step.RUN_AGENT,
    m.Judge: m.Step.JUDGE,
    m.Restore: m.Step.RESTORE,
    m.RunGates: m.Step.RUN_GATES,
    m.Verify: m.Step.VERIFY,
    m.Commit: m.Step.COMMIT,
    m.Push: m.Step.PUSH,
    m.Merge: m.Step.MERGE,
    m.Wait: m.Step.WAIT,
    m.AwaitChildren: m.Step.AWAIT_CHILDREN,
}


# --- decide -----------------------------------------------------------------------------------------------------------


def decide(state: LoopState, seen: m.Observation) -> tuple[m.Entry, ...]:
    """The entries that follow from what was seen; a turn that is through closes in the same breath."""
    entries = list(_facts(state, seen))
    for entry in entries:
        state = evolve(state, entry)
    if state.phase is Phase.CLOSE:
        entries.append(close(state, seen.at))
    return tuple(entries)


def _facts(state: LoopState, seen: m.Observation) -> Sequence[m.Entry]:  # one arm per observation
    match seen:
        case m.WorkSurveyed():
            return (_opened(state, seen),)
        case m.WorkUnreadable():
            return (m.WorkLost(at=seen.at, reason=seen.reason),)
        case m.AttemptSeen():
            return (_attempt_ended(state, seen),)
        case m.Judged():
            return (_changes_judged(state, seen),)
        case m.RestoreSeen():
            return (m.FilesRestored(at=seen.at, survey=seen.survey, tree=seen.tree, lawful=seen.lawful, undo_commit=seen.undo_commit),)
        case m.GatesSeen():
            return (m.GatesEnded(at=seen.at, verdicts=seen.verdicts, interrupted=seen.interrupted),)
        case m.Verified():
            return (m.WorkVerified(at=seen.at, survey=seen.survey, tree=seen.tree, restorations=seen.restorations),)
        case m.ScmSeen():
            return (m.ScmEnded(at=seen.at, step=STEPS[type(_scm_action(state))], verdict=seen.verdict, survey=seen.survey, sha=seen.sha),)
        case m.Waited():
            return (m.WaitEnded(at=seen.at, complete=seen.complete),) if seen.over else ()
        case m.ChildrenSeen():
            return (m.ChildrenAwaited(at=seen.at, survey=seen.survey, tree=seen.tree, lawful=seen.lawful, restorations=seen.restorations),)
        case m.RequestSeen():
            return (m.RequestTaken(at=seen.at, kind=seen.kind, author=seen.author, text=seen.text, request_id=seen.request_id),)
    assert_never(seen)


def _opened(state: LoopState, seen: m.WorkSurveyed) -> m.Entry:
    """A check where the work is complete and something can still be learnt without an agent; otherwise an iteration, as far as the bounds allow.

    At most one check stands between two iterations: a workspace that never rests must not keep the gates running for ever.
    """
    unknown = bool(state.spec.gates) and seen.tree.fingerprint != state.red_fingerprint
    enough = not state.spec.gates and (state.spent.calls == 0 or state.spec.work.kind is Kind.FOLDER)
    if seen.survey.complete and (unknown or enough) and state.checked != state.iteration:
        return m.CheckStarted(at=seen.at, survey=seen.survey, tree=seen.tree, snapshot=seen.snapshot)
    bound = limit_reached(replace(state, survey=seen.survey), new_iteration=True)
    if bound is not None:
        return m.LimitMet(at=seen.at, outcome=bound)
    edited = state.survey is not None and state.survey.digest != seen.survey.digest
    return m.IterationStarted(at=seen.at, number=state.iteration + 1, survey=seen.survey, tree=seen.tree, snapshot=seen.snapshot, edited=edited)


def _attempt_ended(state: LoopState, seen: m.AttemptSeen) -> m.Entry:
    charged_usd, estimated = charge(state, seen.run, seen.stream)
    return m.AttemptEnded(
        at=seen.at,
        dice=seen.dice,
        run=seen.run,
        stream=seen.stream,
        claim=seen.claim,
        charged_usd=charged_usd,
        estimated=estimated,
        artifacts=seen.artifacts,
    )


def _changes_judged(state: LoopState, seen: m.Judged) -> m.Entry:
    turn = state.open_turn
    # Work that git does not see (ignored, assume-unchanged) counts as well.
    digest = state.survey.digest if state.survey else None
    changed = (state.tree, digest) != (seen.tree, seen.survey.digest) or bool(seen.restorations)
    if turn.last is None:
        ending, reason = (Ending.WAITING, seen.survey.waiting) if seen.survey.waiting else (Ending.LOST, "Ralph died while it ran")
    else:
        ending, reason = classify(turn.last.run, turn.last.stream, changed=changed, waiting=seen.survey.waiting)
    return m.ChangesJudged(
        at=seen.at,
        survey=seen.survey,
        tree=seen.tree,
        changed=changed,
        ending=ending,
        reason=reason,
        lawful=seen.lawful,
        restorations=seen.restorations,
        notes=seen.notes,
    )


# --- resume -----------------------------------------------------------------------------------------------------------


class Recovery(StrEnum):
    """What is done, when a loop is resumed, about an action that was open when it died."""

    LOST = "the attempt counts as failed, and the disk is judged against its Snapshot"
    AGAIN = "it is done again"
    LOOK_FIRST = "the trailer is looked for at HEAD, else it is done again with the recorded message"
    ABORT_FIRST = "a half merge is aborted, then it is done again"
    GO_ON = "the loop goes on to the recorded moment"


ON_RESUME: dict[m.Step, Recovery] = {
    m.Step.RUN_AGENT: Recovery.LOST,
    m.Step.JUDGE: Recovery.AGAIN,
    m.Step.RESTORE: Recovery.AGAIN,
    m.Step.RUN_GATES: Recovery.AGAIN,
    m.Step.VERIFY: Recovery.AGAIN,
    m.Step.COMMIT: Recovery.LOOK_FIRST,
    m.Step.PUSH: Recovery.AGAIN,
    m.Step.MERGE: Recovery.ABORT_FIRST,
    m.Step.WAIT: Recovery.GO_ON,
    m.Step.AWAIT_CHILDREN: Recovery.AGAIN,
}


def close_open(state: LoopState, at: float) -> Iterator[m.Entry]:
    """The entries that close what was open when the last incarnation died.

    All recoveries but LOST leave the phase as it is, and `next_action` gives the same action again: commit looks for its trailer, and
    merge aborts a half merge, whenever they run.
    """
    if state.step is not None and ON_RESUME[state.step] is Recovery.LOST:
        yield m.AttemptLost(at=at, charged_usd=mean_charge(state))
