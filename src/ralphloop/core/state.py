"""LoopState: everything the loop knows, as a fold of its entries. Nothing else is remembered anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ralphloop.core.messages import AttemptEnded, RequestTaken, Step
from ralphloop.core.model import (
    Ending,
    Feedback,
    LoopSpec,
    Outcome,
    ProtectedFile,
    Restoration,
    Strength,
    Survey,
    Tree,
    Usage,
    Verdict,
)

NO_USAGE = Usage()


class Phase(StrEnum):
    """What comes next inside and between iterations."""

    READY = "ready"
    ATTEMPT = "attempt"
    JUDGE = "judge"
    RESTORE = "restore"
    CHILDREN = "children"
    GATES = "gates"
    VERIFY = "verify"
    SCM = "scm"
    CLOSE = "close"


PAST_JUDGING = frozenset({Phase.CHILDREN, Phase.GATES, Phase.VERIFY, Phase.SCM})
"""Phases in which no agent has run since the disk was judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What the loop has used up, every purpose of attempt included."""

    calls: int = 0
    cost_usd: float = 0.0
    estimated: bool = False
    priced_calls: int = 0
    priced_usd: float = 0.0
    usage: Usage = NO_USAGE
    active_s: float = 0.0
    waits: int = 0
    waited_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Streaks:
    """What has happened in a row: the breakers read these."""

    failures: int = 0
    instant_deaths: int = 0
    usage_limits: int = 0
    stalled: int = 0
    last_checks: tuple[tuple[str, str], ...] = ()


NOTHING_SPENT = Spent()
NO_STREAKS = Streaks()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The open iteration; or, `checking`, the gates alone on work that was found complete.

    `cleared` is the fingerprint of the tree on which no gate of this turn was red; without it nothing is committed and nothing is done.
    """

    survey: Survey
    tree: Tree
    snapshot: tuple[ProtectedFile, ...]
    checking: bool = False
    attempt: int = 0
    failed: int = 0
    empty: int = 0
    last: AttemptEnded | None = None
    ending: Ending | None = None
    reason: str = ""
    changed: bool = False
    lawless: bool = False
    restorations: tuple[Restoration, ...] = ()
    lawful: tuple[ProtectedFile, ...] = ()
    notes: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    cleared: str | None = None
    head: str | None = None
    tampered: bool = False
    scm_next: int = 0
    scm: tuple[Verdict, ...] = ()
    commit_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopState:
    """The fold of a loop's entries."""

    spec: LoopSpec
    at: float
    incarnation: int = 1
    phase: Phase = Phase.READY
    step: Step | None = None
    step_since: float = 0.0
    iteration: int = 0
    turn: Turn | None = None
    survey: Survey | None = None
    tree: Tree | None = None
    spent: Spent = NOTHING_SPENT
    streaks: Streaks = NO_STREAKS
    feedback: tuple[Feedback, ...] = ()
    tells: tuple[RequestTaken, ...] = ()
    carried: tuple[int, ...] = ()
    run_id: str | None = None
    red_fingerprint: str | None = None
    checked: int | None = None
    scm_owed: bool = False
    wait_until: float | None = None
    wait_why: str = ""
    stopping: str | None = None
    done: Strength | None = None
    decided: Outcome | None = None
    outcome: Outcome | None = None

    @property
    def open_turn(self) -> Turn:
        """The iteration or check that is open; asking outside of one is a bug."""
        assert self.turn is not None, f"no turn is open in phase {self.phase}"
        return self.turn
