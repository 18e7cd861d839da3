"""The closed unions that travel through the house: Event, Action, Observation, Entry.

An **Action** is what the loop is about to do. An **Observation** is what was seen when it was done, with the times and random values that the
pure core may not fetch for itself. An **Entry** is a durable fact, in the past tense: the ledger is a list of them and all state is their fold.
An **Event** is something that an agent's stream said; it is shown and kept in the raw log, and never decides anything by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ralphloop.core.claims import ClaimReading
from ralphloop.core.model import (
    Ending,
    Feedback,
    LoopSpec,
    Outcome,
    ProtectedFile,
    Purpose,
    Restoration,
    RunReport,
    StreamReport,
    Strength,
    Survey,
    Tree,
    Usage,
    UsageLimit,
    Verdict,
)

# --- Events: what an agent's stream said ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The agent said something."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStart:
    """The agent began to use a tool."""

    tool_id: str
    name: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnd:
    """A tool returned."""

    tool_id: str
    output: str
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoItem:
    """One line of the agent's own list."""

    text: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """The agent changed its own list of things to do."""

    items: tuple[TodoItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """News of the client itself: a conversation began, a call is being retried."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalResult:
    """The client says that the turn is over."""

    usage: Usage
    is_error: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitNotice:
    """The provider spoke of a usage limit in a structured event."""

    limit: UsageLimit


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A line that this version does not understand; it is kept, and nothing follows from it."""

    line: str


Event = Text | ToolStart | ToolEnd | Todo | Progress | FinalResult | LimitNotice | Unknown


# --- Actions: what the loop does next ---------------------------------------------------------------------------------


class Step(StrEnum):
    """The actions that are open between their beginning and their observation, by name."""

    RUN_AGENT = "run_agent"
    JUDGE = "judge"
    RESTORE = "restore"
    RUN_GATES = "run_gates"
    VERIFY = "verify"
    COMMIT = "commit"
    PUSH = "push"
    MERGE = "merge"
    WAIT = "wait"
    AWAIT_CHILDREN = "await_children"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyWork:
    """Look at the work and the workspace, and take the Snapshot for the iteration that may follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgent:
    """Start one agent process and stay with it until it ends. `before`: how many this loop has started already; `budget_usd`: what it may cost."""

    before: int
    iteration: int
    attempt: int
    purpose: Purpose
    run_id: str
    budget_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Look at what the attempt left behind and compare it with the Snapshot. Changes nothing."""

    snapshot: tuple[ProtectedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """Put protected content back, on disk and, where HEAD moved since the iteration began, in git."""

    iteration: int
    head: str | None
    snapshot: tuple[ProtectedFile, ...]
    restorations: tuple[Restoration, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGates:
    """Run every gate, in order."""

    iteration: int
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """Look once more, after the gates: the work, the tree, and the protected files, which a gate may not change either."""

    lawful: tuple[ProtectedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """Commit the tree that the gates saw, and no other."""

    iteration: int
    message: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """Push the branch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Merge a branch into the current one."""

    branch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Do nothing until a moment, given as seconds of the Unix clock."""

    until: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitChildren:
    """Look again, in a while, whether child loops still run: the work is complete, and they may still change it."""

    pause_s: float
    timeout_s: float
    snapshot: tuple[ProtectedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """End the loop."""

    outcome: Outcome


Action = SurveyWork | RunAgent | Judge | Restore | RunGates | Verify | Commit | Push | Merge | Wait | AwaitChildren | Stop


# --- Observations: what was seen --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSurveyed:
    """The work could be read."""

    at: float
    survey: Survey
    tree: Tree
    snapshot: tuple[ProtectedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkUnreadable:
    """The work could not be read: the reason says what is wrong and what to do."""

    at: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSeen:
    """An agent process ended. `dice` is a random number in [0, 1) for jitter."""

    at: float
    dice: float
    run: RunReport
    stream: StreamReport
    claim: ClaimReading
    artifacts: tuple[ProtectedFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the attempt left, compared with the Snapshot. `notes` are judged changes that cannot be put back; `lawful`: the files now."""

    at: float
    survey: Survey
    tree: Tree
    lawful: tuple[ProtectedFile, ...] = ()
    restorations: tuple[Restoration, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSeen:
    """Protected content is back; survey, tree and protected files are those after it."""

    at: float
    survey: Survey
    tree: Tree
    lawful: tuple[ProtectedFile, ...] = ()
    undo_commit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GatesSeen:
    """Every gate has a verdict."""

    at: float
    verdicts: tuple[Verdict, ...]
    interrupted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The last look before the decision. Restorations: what a gate changed although it is protected."""

    at: float
    survey: Survey
    tree: Tree
    restorations: tuple[Restoration, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScmSeen:
    """A commit, push or merge ended. `sha`: the commit that was made, or HEAD after a merge."""

    at: float
    verdict: Verdict
    survey: Survey
    sha: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waited:
    """Time has passed, perhaps not all of it; `complete`: the work was found complete meanwhile, and is not waited for any longer."""

    at: float
    over: bool
    complete: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildrenSeen:
    """No child loop runs any more, or time is up; and what the work, the tree and the protected files look like after them."""

    at: float
    survey: Survey
    tree: Tree
    lawful: tuple[ProtectedFile, ...] = ()
    restorations: tuple[Restoration, ...] = ()


STOP, TELL, REFUSED = "stop", "tell", "refused"
"""The requests that this version knows; others are recorded, and nothing follows from them. `refused`: an agent asked for what only people may."""
NOW = "now"
"""The text of a `stop` that does not wait for the current operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSeen:
    """A person asked for something, by kind. `request_id` is None for a signal."""

    at: float
    kind: str
    author: str
    text: str = ""
    request_id: int | None = None


Observation = (
    WorkSurveyed | WorkUnreadable | AttemptSeen | Judged | RestoreSeen | GatesSeen | Verified | ScmSeen | Waited | ChildrenSeen | RequestSeen
)


# --- Entries: durable facts -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStarted:
    """A loop began, pinned to this spec."""

    at: float
    spec: LoopSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshLook:
    """The work, the tree and the protected files as they are when a loop is taken up again."""

    survey: Survey
    tree: Tree
    lawful: tuple[ProtectedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopResumed:
    """A new incarnation took the loop up again, perhaps with raised limits. `look`: what it found where nothing was left to be judged."""

    at: float
    spec: LoopSpec
    incarnation: int
    changes: tuple[str, ...] = ()
    look: FreshLook | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationStarted:
    """A counted turn began. `edited`: a person changed the work while no iteration was open."""

    at: float
    number: int
    survey: Survey
    tree: Tree
    snapshot: tuple[ProtectedFile, ...]
    edited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckStarted:
    """The work was found complete before an attempt: the gates decide without an agent."""

    at: float
    survey: Survey
    tree: Tree
    snapshot: tuple[ProtectedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckEnded:
    """What the gates said of work that was found complete."""

    at: float
    done: bool
    strength: Strength | None
    fingerprint: str
    feedback: tuple[Feedback, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkLost:
    """The work could not be read any more."""

    at: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted:
    """An agent process is about to start: written before the money flows. `tells` are the requests that its prompt carries."""

    at: float
    iteration: int
    attempt: int
    purpose: Purpose
    run_id: str
    tells: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEnded:
    """An agent process ended, with everything that its ending is judged from. `charged_usd` may be an estimate."""

    at: float
    dice: float
    run: RunReport
    stream: StreamReport
    claim: ClaimReading
    charged_usd: float
    estimated: bool
    artifacts: tuple[ProtectedFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLost:
    """Ralph died while an agent process ran. Charged with an estimate."""

    at: float
    charged_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """An action that is simply done again after a crash has begun."""

    at: float
    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesJudged:
    """What the attempt changed, and how it ended, all things considered."""

    at: float
    survey: Survey
    tree: Tree
    changed: bool
    ending: Ending
    reason: str
    lawful: tuple[ProtectedFile, ...] = ()
    restorations: tuple[Restoration, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRestored:
    """Protected content is back."""

    at: float
    survey: Survey
    tree: Tree
    lawful: tuple[ProtectedFile, ...] = ()
    undo_commit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GatesEnded:
    """Every gate has a verdict; or a person interrupted them, and they run again."""

    at: float
    verdicts: tuple[Verdict, ...]
    interrupted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkVerified:
    """The last look before the decision."""

    at: float
    survey: Survey
    tree: Tree
    restorations: tuple[Restoration, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStarted:
    """A commit with this message is about to be made."""

    at: float
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScmEnded:
    """A commit, push or merge ended."""

    at: float
    step: Step
    verdict: Verdict
    survey: Survey
    sha: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationEnded:
    """A counted turn closed. `failed`: no attempt of it came to a good end."""

    at: float
    number: int
    done: bool
    strength: Strength | None
    failed: bool
    progress: bool
    reason: str
    feedback: tuple[Feedback, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitStarted:
    """The loop does nothing until a moment."""

    at: float
    until: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitEnded:
    """The moment has come, or somebody else has completed the work."""

    at: float
    complete: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildrenAwaited:
    """No child loop runs any more, or time is up: `survey.children` says how many still run. Their changes were compared with the Snapshot."""

    at: float
    survey: Survey
    tree: Tree
    lawful: tuple[ProtectedFile, ...] = ()
    restorations: tuple[Restoration, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitMet:
    """The work was looked at once more before another iteration, is not complete, and a bound forbids to go on."""

    at: float
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTaken:
    """A request was read: a person's, or an agent's that was refused."""

    at: float
    kind: str
    author: str
    text: str = ""
    request_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopEnded:
    """The loop ended."""

    at: float
    outcome: Outcome


Entry = (
    LoopStarted
    | LoopResumed
    | IterationStarted
    | CheckStarted
    | CheckEnded
    | WorkLost
    | AttemptStarted
    | AttemptEnded
    | AttemptLost
    | StepStarted
    | ChangesJudged
    | FilesRestored
    | GatesEnded
    | WorkVerified
    | CommitStarted
    | ScmEnded
    | IterationEnded
    | WaitStarted
    | WaitEnded
    | ChildrenAwaited
    | LimitMet
    | RequestTaken
    | LoopEnded
)
