"""The nouns of a loop: frozen values that say what is, and cannot be built wrong.

Every word here is used with one meaning in code, commands, documents and ledger; the glossary explains them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """Where the tasks come from and where they are ticked."""

    PROMPT = "prompt"
    CHECKLIST = "checklist"
    FOLDER = "folder"


class Stage(StrEnum):
    """How far a task has come."""

    TODO = "todo"
    DONE = "done"


class Purpose(StrEnum):
    """What one agent process is for; every purpose goes through supervisor, ledger and budget."""

    WORK = "work"


class OnFail(StrEnum):
    """What the text of a failed gate does to the next prompt."""

    APPEND = "append"
    PREPEND = "prepend"
    REPLACE = "replace"


class Strength(StrEnum):
    """What stands behind a *done*: evidence that Ralph collected, or only the agent's word."""

    PROVED = "proved"
    ATTESTED = "attested"


class Require(StrEnum):
    """How strong a *done* has to be to end the loop."""

    ANY = "any"
    PROVED = "proved"


class Result(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"


class Ending(StrEnum):
    """How an attempt ended, judged from everything Ralph saw of it."""

    OK = "ok"
    EMPTY = "empty"
    FAILED = "failed"
    USAGE_LIMIT = "usage_limit"
    WAITING = "waiting"
    FATAL = "fatal"
    LOST = "lost"
    INTERRUPTED = "interrupted"


class Cause(StrEnum):
    """Why an attempt failed, where its client named a cause for which there is a word."""

    CONTEXT_WINDOW = "context_window"
    OUTPUT_LIMIT = "output_limit"
    REFUSAL = "refusal"
    TURNS = "turns"
    BUDGET = "budget"
    OVERLOADED = "overloaded"


class EndedBy(StrEnum):
    """What made a supervised process end."""

    EXIT = "exit"
    TOTAL_TIMEOUT = "total_timeout"
    IDLE_TIMEOUT = "idle_timeout"
    AFTER_RESULT = "after_result"
    STOPPED = "stopped"
    NOT_STARTED = "not_started"


class OutcomeKind(StrEnum):
    """Why a loop ended."""

    DONE = "done"
    LIMIT = "limit"
    WAITING = "waiting"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


EXIT_CODES = {
    OutcomeKind.DONE: 0,
    OutcomeKind.LIMIT: 1,
    OutcomeKind.WAITING: 3,
    OutcomeKind.FAILED: 4,
    OutcomeKind.INTERRUPTED: 130,
}

STATUS_WORDS = {
    OutcomeKind.DONE: "complete",
    OutcomeKind.LIMIT: "failed",
    OutcomeKind.WAITING: "waiting",
    OutcomeKind.FAILED: "failed",
    OutcomeKind.INTERRUPTED: "stopped",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A unit of work, known by its text."""

    key: str
    title: str
    stage: Stage
    line: int

    @property
    def is_open(self) -> bool:
        """Whether something is left to do."""
        return self.stage is not Stage.DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What the work looked like at one moment. `remaining` is None where work has no tasks to count.

    `children` are the child loops that still run. `mark` says how far the requests to wait had been read, and `waiting` what was asked since then.
    """

    remaining: int | None
    total: int | None
    task: str | None
    digest: str
    children: int = 0
    mark: str = ""
    waiting: str = ""

    @property
    def complete(self) -> bool:
        """Key 1 on disk: there were tasks, and none is open."""
        return self.remaining == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """What the workspace looked like at one moment."""

    fingerprint: str
    head: str | None = None
    branch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedFile:
    """One file of a Snapshot: its content by digest, or None where there was no such file, and whether it could be run."""

    path: str
    digest: str | None
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoration:
    """A file that is put back: its content by digest, or None to take it away. `reason` is told to the agent; what stood there is kept."""

    path: str
    digest: str | None
    reason: str
    replaced: str | None = None
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A command that must pass after an attempt."""

    command: str
    on_fail: OnFail = OnFail.APPEND
    hint: str | None = None
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The one result type of gates, verifiers and reviews, with the evidence for it. `fatal`: the loop cannot go on, whatever else is green."""

    name: str
    result: Result
    reason: str
    exit_code: int | None = None
    duration_s: float = 0.0
    log: str | None = None
    output: str = ""
    output_digest: str | None = None
    fatal: bool = False

    @property
    def passed(self) -> bool:
        """Whether this check is green."""
        return self.result is Result.PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Text from failed verdicts and rejected changes that the next prompt carries."""

    text: str
    on_fail: OnFail = OnFail.APPEND


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an attempt cost, as far as the agent said. None: it did not say. `input_tokens` are those that no cache was involved in."""

    cost_usd: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def has_tokens(self) -> bool:
        """Whether the agent said how many tokens it used."""
        return bool(self.input_tokens or self.output_tokens or self.cache_read_tokens or self.cache_write_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens; what is None costs as input does."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPrice:
    """A price that the user set, for every model whose name begins so; or for an agent, where no model is known."""

    model: str
    price: Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of a loop. 0 switches a bound off."""

    iterations: int = 10
    attempts: int = 3
    empty_retries: int = 2
    calls: int = 30
    minutes: float = 0.0
    cost_usd: float = 0.0
    stall: int = 5
    instant_deaths: int = 10
    delay_s: float = 0.0
    backoff_s: float = 1.0
    backoff_max_s: float = 60.0
    usage_waits: int = 20
    usage_wait_hours: float = 192.0
    wait_timeout_s: float = 300.0
    poll_interval_s: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The text of a claim, and how strong a *done* must be."""

    text: str
    require: Require = Require.ANY


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedSecret:
    """An environment variable for the agent, known by name and digest only: the value is never recorded."""

    name: str
    digest: str


FUNCTION = "function"
"""The type of an agent that is a Python function; no client is called so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """Which agent runs, and how. None for `prompt_via`: the adapter's own default.

    `type` is the adapter, `name` what the user calls the agent where that is another word. `speaks` is the stream that a mere command writes.
    `format` is what a known client is asked for: its stream, or plain text.
    """

    type: str
    command: str
    name: str = ""
    speaks: str = "text"
    format: str = "stream"
    flags: tuple[str, ...] = ()
    model: str | None = None
    env: tuple[PinnedSecret, ...] = ()
    permissions: str = "skip"
    prompt_via: str | None = None
    timeout_s: float = 3600.0
    idle_timeout_s: float = 900.0
    grace_s: float = 5.0

    @property
    def called(self) -> str:
        """The agent's name, for people."""
        return self.name or self.type


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSpec:
    """The piece of work: exactly the fields of its kind are set. Paths are relative to the workspace where they lie in it."""

    kind: Kind
    prompt_text: str | None = None
    prompt_file: str | None = None
    task_file: str | None = None
    template: str | None = None
    task_dir: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scm:
    """What happens to source control after green gates: `commit`, `push`, `merge BRANCH`, in order."""

    command: str = "git"
    tasks: tuple[str, ...] = ()
    message: str = "Ralph: iteration {iteration}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """How much of gate output reaches the next prompt, and whether the iteration line stands in it."""

    truncate_chars: int = 5000
    iteration_in_prompt: bool = False
    stream: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSpec:
    """Everything a loop is pinned to when it starts: later edits of settings files do not change it."""

    loop_id: str
    name: str
    workspace: str
    work: WorkSpec
    agent: AgentSpec
    completion: Completion
    limits: Limits = field(default_factory=Limits)
    gates: tuple[Gate, ...] = ()
    scm: Scm = field(default_factory=Scm)
    output: Output = field(default_factory=Output)
    protect: tuple[str, ...] = ()
    prices: tuple[OwnPrice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLimit:
    """The provider says that no more calls are allowed; `resets_at` is None where it did not say until when."""

    resets_at: float | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReport:
    """What an agent's stream said by its end. `fatal` is a reason why no further attempt can help.

    `model` is the one that answered. `denied` names the tools that it was not allowed to use, `question` is what it asked a person.
    """

    final_words: str = ""
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    conversation_id: str | None = None
    tools: int = 0
    tool_errors: int = 0
    denied: tuple[str, ...] = ()
    question: str = ""
    error: str | None = None
    cause: Cause | None = None
    fatal: str | None = None
    limit: UsageLimit | None = None
    result_seen: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """How a supervised process ended. Exactly one of exit_code and signal is set, unless it never started or the status was lost.

    `strays` are the processes that it left behind and that were ended; `leaked` names those that could not be. `suspended_s` was not counted.
    """

    ended_by: EndedBy
    exit_code: int | None = None
    signal: int | None = None
    duration_s: float = 0.0
    start_error: str | None = None
    output_bytes: int = 0
    dropped_bytes: int = 0
    stdout_digest: str | None = None
    stderr_digest: str | None = None
    stderr_tail: str = ""
    strays: int = 0
    leaked: str = ""
    suspended_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Why a loop ended. `limit` names the bound that was met; `strength` is set for *done* alone."""

    kind: OutcomeKind
    reason: str
    strength: Strength | None = None
    limit: str | None = None

    @property
    def exit_code(self) -> int:
        """The code that the command ends with."""
        return EXIT_CODES[self.kind]
