"""Which loop does `run` mean: the newest loop of that name in that workspace, a new one, or none.

The table of docs/explanation/crash-and-resume.md, as code: one row per way a loop of that name can be. A loop that is alive is refused before this is asked: its lock is held.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ralphloop.core.model import Kind, OutcomeKind, WorkSpec


class Standing(StrEnum):
    """How the loop of that name is, as far as starting it goes."""

    ABSENT = "absent"
    CRASHED = "crashed"
    INTERRUPTED = "interrupted"
    WAITING = "waiting"
    FAILED = "failed"
    LIMIT = "limit"
    DONE = "done"


class Choice(StrEnum):
    """What `run` does about it."""

    NEW = "a new loop"
    RESUME = "the loop is resumed"
    EXPLAIN = "the reason it ended, and the way on"
    FINISHED = "there is nothing left to do"


STANDINGS = {
    OutcomeKind.INTERRUPTED: Standing.INTERRUPTED,
    OutcomeKind.WAITING: Standing.WAITING,
    OutcomeKind.FAILED: Standing.FAILED,
    OutcomeKind.LIMIT: Standing.LIMIT,
    OutcomeKind.DONE: Standing.DONE,
}

_SAME_WORK = {
    Standing.ABSENT: Choice.NEW,
    Standing.CRASHED: Choice.RESUME,
    Standing.INTERRUPTED: Choice.RESUME,
    Standing.WAITING: Choice.RESUME,
    Standing.FAILED: Choice.EXPLAIN,
    Standing.LIMIT: Choice.EXPLAIN,
    Standing.DONE: Choice.FINISHED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The newest loop of that name in that workspace."""

    standing: Standing
    work: WorkSpec | None = None


def choose(found: Found, wanted: WorkSpec, *, new: bool, open_work: bool) -> Choice:
    """What `run` does. `open_work`: the work, as it is on disk now, has something left to do."""
    if new or found.work != wanted:
        return Choice.NEW
    choice = _SAME_WORK[found.standing]
    if choice is Choice.FINISHED and open_work:
        return Choice.NEW
    return choice


def has_open_work(kind: Kind, remaining: int | None) -> bool:
    """Prompt work cannot be surveyed: whoever asks for it again wants it done again."""
    return kind is Kind.PROMPT or remaining != 0
