"""The close of a turn: are both keys turned, and if not, what does the next prompt carry."""

from __future__ import annotations

from typing import assert_never

from ralphloop.core import messages as m
from ralphloop.core.feedback import gate_feedback, hindrances, no_result, unproven_claim, without_no_result
from ralphloop.core.model import Ending, Feedback, Kind, Require, Strength
from ralphloop.core.state import LoopState, Turn


def close(state: LoopState, at: float) -> m.Entry:
    """The entry that ends the open turn."""
    turn = state.open_turn
    done = _keys_turned(state, turn)
    strength = _strength(turn) if done else None
    feedback = () if done else _feedback(state, turn)
    assert state.tree is not None
    if turn.checking:
        return m.CheckEnded(at=at, done=done, strength=strength, fingerprint=state.tree.fingerprint, feedback=feedback)
    return m.IterationEnded(
        at=at,
        number=state.iteration,
        done=done,
        strength=strength,
        failed=turn.ending is not Ending.OK,
        progress=_progress(state, turn),
        reason="" if turn.ending is Ending.OK else turn.reason,
        feedback=feedback,
    )


def _keys_turned(state: LoopState, turn: Turn) -> bool:
    """Key 1 and key 2, in this turn; `cleared` says that the attempt ended well and that every gate is green on the tree."""
    if turn.cleared is None:
        return False
    if state.spec.completion.require is Require.PROVED and _strength(turn) is not Strength.PROVED:
        return False
    complete = state.survey is not None and state.survey.complete
    match state.spec.work.kind:
        case Kind.PROMPT:
            return _claimed(turn)
        case Kind.CHECKLIST:
            return complete and (bool(state.spec.gates) or turn.checking or _claimed(turn))
        case Kind.FOLDER:
            return complete
    assert_never(state.spec.work.kind)


def _claimed(turn: Turn) -> bool:
    return turn.last is not None and turn.last.claim.claimed


def _strength(turn: Turn) -> Strength:
    return Strength.PROVED if any(verdict.passed for verdict in turn.verdicts) else Strength.ATTESTED


def _progress(state: LoopState, turn: Turn) -> bool:
    """A task was closed, the tree changed by lawful means, or a check says something new."""
    before, after = turn.survey.remaining, state.survey.remaining if state.survey else None
    closed = before is not None and after is not None and after < before
    checks = tuple((verdict.name, verdict.result.value) for verdict in turn.verdicts)
    return closed or (turn.changed and not turn.lawless) or bool(checks and checks != state.streaks.last_checks)


def _feedback(state: LoopState, turn: Turn) -> tuple[Feedback, ...]:
    """What the next prompt carries. Where no attempt came to a good end, what the last one carried stands on (this turn's notes included)."""
    if turn.ending is not Ending.OK and not turn.checking and not turn.verdicts:
        return (*without_no_result(state.feedback), no_result(turn.reason, turn.last.stream.cause if turn.last else None))
    notes = tuple(Feedback(text=note) for note in turn.notes)
    checked = zip(state.spec.gates, turn.verdicts, strict=False)
    gates = tuple(gate_feedback(gate, verdict) for gate, verdict in checked if not verdict.passed)
    claim = unproven_claim(state) if _claimed(turn) else None
    told = notes + gates + ((Feedback(text=claim),) if claim else ())
    if turn.last is None or turn.checking or _progress(state, turn):
        return told
    # Where there is another reason, a question at the end may be courtesy.
    return told + tuple(Feedback(text=text) for text in hindrances(turn.last.stream, courteous=bool(told)))
