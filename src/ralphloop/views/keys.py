"""The two keys (docs/explanation/two-keys.md) in words: what stood for and against *done* when a turn closed.

The decision itself is core's (`core.close`); this only says it. A test holds the two together: there is an obstacle exactly where core
did not take the work for done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ralphloop.core.evolve import done_overrules
from ralphloop.core.model import Ending, Kind, Require
from ralphloop.core.state import LoopState, Turn
from ralphloop.views.figures import count
from ralphloop.views.text import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One of the two keys: what it is, what was found, and what kept it from turning."""

    found: str
    obstacles: tuple[str, ...]

    @property
    def turned(self) -> bool:
        """Whether nothing stood against it."""
        return not self.obstacles


def read_keys(state: LoopState) -> tuple[Key, Key]:
    """Both keys of the open turn, once everything in it has been seen."""
    return _disk(state), _evidence(state, state.open_turn)


def obstacles(state: LoopState) -> tuple[str, ...]:
    """Everything that stands between the open turn and *done*."""
    disk, evidence = read_keys(state)
    return disk.obstacles + evidence.obstacles


def _disk(state: LoopState) -> Key:
    if state.spec.work.kind is Kind.PROMPT:
        return Key(found="a prompt leaves nothing to count: key 2 decides alone", obstacles=())
    survey = state.survey
    if survey is None or survey.remaining is None:
        return Key(found="no tasks were seen", obstacles=("no tasks were seen",))
    if survey.remaining == 0 and state.spec.work.kind is Kind.FOLDER:
        return Key(found="there is a DONE in the task folder, and no child loop runs", obstacles=())
    if survey.remaining == 0:
        return Key(found=f"{survey.total} of {count(survey.total or 0, 'task')} ticked in {one_line(state.spec.work.task_file or '')}", obstacles=())
    if state.spec.work.kind is Kind.FOLDER:
        return Key(found="there is no DONE in the task folder", obstacles=("there is no DONE in the task folder",))
    still = f"{count(survey.remaining, 'task')} {'is' if survey.remaining == 1 else 'are'} still open"
    return Key(found=f"{still}; the next: {one_line(survey.task or '')}", obstacles=(still,))


def _evidence(state: LoopState, turn: Turn) -> Key:
    gates = len(state.spec.gates)
    green = sum(verdict.passed for verdict in turn.verdicts)
    claimed = turn.last is not None and turn.last.claim.claimed
    checks = f"{green} of {count(gates, 'gate')} green" if gates else "there are no gates"
    claim = "" if state.spec.work.kind is Kind.FOLDER else "; the agent claims to be done" if claimed else "; no claim"
    return Key(found=f"{checks}{claim}", obstacles=tuple(_against(state, turn, claimed=claimed)))


def _against(state: LoopState, turn: Turn, *, claimed: bool) -> Iterator[str]:
    if state.spec.work.kind is Kind.FOLDER and state.survey is not None and not state.survey.complete:
        return  # without a DONE it does not matter how the attempt ended
    if not _ended_well(state, turn):
        yield f"the attempt did not end well: {one_line(turn.reason)}"
    elif len(turn.verdicts) < len(state.spec.gates):
        yield "the gates were not all run"
    for verdict in turn.verdicts:
        if not verdict.passed:
            yield f"the gate {one_line(verdict.name)} {one_line(verdict.reason)}"
    if turn.tampered:
        yield "a gate changed a protected file"
    yield from _against_tree(state, turn)
    if _needs_claim(state, turn) and not claimed:
        yield "there is no claim"
    if state.spec.completion.require is Require.PROVED and not any(verdict.passed for verdict in turn.verdicts):
        yield "nothing proved it, and only a proved end counts here"


def _against_tree(state: LoopState, turn: Turn) -> Iterator[str]:
    """What is done must be what the gates saw; a failed push alone changes nothing about that."""
    green = len(turn.verdicts) == len(state.spec.gates) and all(verdict.passed for verdict in turn.verdicts) and not turn.tampered
    if turn.cleared is not None or not green or not _ended_well(state, turn):
        return
    failed = [verdict for verdict in turn.scm if not verdict.passed]
    for verdict in failed:
        yield f"{one_line(verdict.name)} failed: {one_line(verdict.reason)}"
    if not failed:
        yield "no gate has seen the tree as it is now"


def _ended_well(state: LoopState, turn: Turn) -> bool:
    return turn.checking or turn.ending is Ending.OK or done_overrules(state)


def _needs_claim(state: LoopState, turn: Turn) -> bool:
    kind = state.spec.work.kind
    return kind is Kind.PROMPT or (kind is Kind.CHECKLIST and not (state.spec.gates or turn.checking))
