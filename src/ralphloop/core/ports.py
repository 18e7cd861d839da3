"""Every Protocol of the house: what the loop needs from the rooms around it.

`loop/` speaks to these and to nothing else, so each room can be replaced by a fake (`ralphloop.testing`) or by a third party's.
One contract suite per port runs against every implementation and the fake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Protocol

from ralphloop.core.messages import AttemptSeen, Entry, Event, RequestSeen, RunAgent
from ralphloop.core.model import (
    AgentSpec,
    Gate,
    RunReport,
    StreamReport,
    Survey,
    Tree,
    Verdict,
)
from ralphloop.core.state import LoopState


class Clock(Protocol):
    """The time of day, and waiting."""

    def now(self) -> float:
        """Seconds of the Unix clock."""

    def dice(self) -> float:
        """A random number in [0, 1)."""

    def has_come(self, until: float, longest_s: float) -> bool:
        """Whether that moment has come, asked again and again: so many seconds after the first time in this process, sleep of the machine left out."""

    def wait(self, until: float, longest_s: float) -> bool:
        """Return at that moment, or earlier when somebody wants something; whether it has come.

        It has also come when so many seconds have passed in this process: the clock of day may be set back meanwhile.
        """


class Journal(Protocol):
    """The one writer of a loop's stream."""

    def append(self, entries: Sequence[Entry], state: LoopState) -> None:
        """Write entries durably, in order; `state` is the fold including them, for the roll-up columns."""


class Requests(Protocol):
    """What people want of a running loop: signals and the inbox."""

    def take(self) -> Sequence[RequestSeen]:
        """Every request that was not taken before."""


class Blobs(Protocol):
    """Contents by digest."""

    def put(self, content: bytes) -> str:
        """Keep the content; the answer is its SHA-256 in hex."""

    def get(self, digest: str) -> bytes:
        """The content of that digest."""


class Work(Protocol):
    """Where tasks come from and where they are ticked. Raises errors.WorkError where the work cannot be read."""

    def survey(self, since: Survey | None = None) -> Survey:
        """Look at the work now. Only a request to wait that was made after `since` counts; without it, none does."""

    def files(self) -> tuple[str, ...]:
        """The files that the work itself judges (relative to the workspace)."""

    def judge(self, path: str, before: bytes | None, now: bytes | None) -> tuple[bytes | None, tuple[str, ...]]:
        """Compare two contents of one of `files()`: what it should hold now, and a reason for each illegal change."""

    def brief(self) -> str:
        """The text that the prompt is built on, read anew."""

    def consume(self) -> None:
        """Put aside what asked the loop to wait: a loop that is taken up again does not wait for it once more."""


class WaitBoard(Protocol):
    """Where an agent may post that it waits for something."""

    def mark(self) -> str:
        """Where the messages end now."""

    def asked_to_wait(self, since: str) -> tuple[str | None, str]:
        """What was said in a request to wait that was posted after that mark, None where there was none; and where the messages end now."""


class Workspace(Protocol):
    """The directory being changed. A path is relative to it; that of a protected file elsewhere is absolute."""

    def look(self) -> Tree:
        """Fingerprint, HEAD and branch as they are now."""

    def read(self, path: str) -> bytes | None:
        """The content of a regular file, or None where there is none; never through a link."""

    def is_executable(self, path: str) -> bool:
        """Whether there is a regular file that its owner may run."""

    def restore(self, path: str, content: bytes | None, *, executable: bool = False) -> None:
        """Put content back (None: take the file away), whatever stands in its place now."""

    def read_at(self, revision: str, path: str) -> bytes | None:
        """The content of a file in a commit, or None where that commit has none."""

    def commit_paths(self, paths: Sequence[str], message: str, trailer: str) -> str | None:
        """Commit those paths alone as they are on disk; the new commit, or None where there is nothing to commit."""

    def describe_moves(self, before: Tree, after: Tree) -> tuple[str, ...]:
        """In words: a switched branch, a reset: what was done to history between two looks."""

    def commit(self, message: str, trailer: str, fingerprint: str) -> tuple[Verdict, str | None]:
        """Commit all changes if the tree is still the one with that fingerprint; found by its trailer if made before a crash.

        The commit, or None where there was nothing to commit.
        """

    def push(self) -> Verdict:
        """Push the current branch."""

    def merge(self, branch: str) -> tuple[Verdict, str | None]:
        """Merge a branch into the current one, after aborting a half merge; a conflict is a failed verdict and is aborted. HEAD after it."""


class Agent(Protocol):
    """Runs attempts: prompt in, report out. A CLI under supervision, or a callable."""

    def attempt(self, action: RunAgent, prompt: str) -> AttemptSeen:
        """Run one agent process to its end. Failures are values; WorkError where nothing could be started for want of a prompt."""


class Gates(Protocol):
    """Runs gates."""

    def log_names(self, gates: Sequence[Gate], iteration: int) -> tuple[str, ...]:
        """The name of each gate's log in that iteration."""

    def run(self, gate: Gate, iteration: int, log: str, run_id: str) -> Verdict | None:
        """The gate's verdict, its full output in the log; None where a person interrupted it."""


class Watcher(Protocol):
    """A view of a live loop. It never steers, and its failure never harms the loop."""

    def entry(self, entry: Entry, state: LoopState) -> None:
        """An entry was written; `state` is the fold including it."""

    def event(self, event: Event) -> None:
        """The agent's stream said something."""

    def gate_started(self, gate: Gate) -> None:
        """A gate is about to run."""

    def waiting(self, until: float) -> None:
        """The loop waits until that moment; said again and again while it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Everything that one loop needs."""

    clock: Clock
    journal: Journal
    requests: Requests
    blobs: Blobs
    work: Work
    workspace: Workspace
    agent: Agent
    gates: Gates
    watcher: Watcher


# --- The seam to process/ ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A command to supervise: the environment is complete, nothing is inherited. `identity_file`: where it is written down which process it became."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    stdin: bytes | None = None
    stdout_log: Path | None = None
    stderr_log: Path | None = None
    timeout_s: float = 3600.0
    idle_timeout_s: float = 0.0
    after_result_s: float = 10.0
    grace_s: float = 5.0
    identity_file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReport:
    """How a short trusted command ended. `error` is set where it did not run or ran out of time."""

    exit_code: int | None
    stdout: bytes = b""
    stderr: bytes = b""
    error: str | None = None


class Sign(IntEnum):
    """What a stream says of its run: it goes on; its turn is over; it is over, and work in the background still runs; it will never be over."""

    WORKING = 0
    OVER = 1
    BACKGROUND = 2
    ASTRAY = 3


class Runner(Protocol):
    """The two doors of process/: the only way to run a program."""

    def supervise(self, launch: Launch, on_line: Callable[[bytes], Sign]) -> RunReport:
        """Run to the end, in bounded time. `on_line` gets each line of stdout and says how far the run is."""

    def call(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        timeout_s: float,
        stdin: bytes = b"",
    ) -> CallReport:
        """Run a short trusted tool."""


# --- The seam to agents/ ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What an agent is asked to do. The prompt also lies in the file; `budget_usd` is what it may cost, where there is a bound."""

    prompt: str
    prompt_file: Path
    budget_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """How to start an agent for one prompt."""

    argv: tuple[str, ...]
    stdin: bytes | None
    env: Mapping[str, str] = field(default_factory=dict)


class StreamParser(Protocol):
    """Reads one run's stdout, line by line."""

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line. Never raises, whatever the line holds."""

    @property
    def result_seen(self) -> bool:
        """Whether the client has said that its turn is over."""

    @property
    def background(self) -> bool:
        """Whether the client says that work of the turn still runs in the background."""

    @property
    def astray(self) -> bool:
        """Whether the client goes round in circles, and spends money on it, until somebody ends it."""

    def finish(self, run: RunReport, now: float) -> StreamReport:
        """What the stream said, all told; `now` is when it ended, for what is said of times."""


Call = Callable[[Sequence[str]], CallReport]
"""Runs a short command in an agent's environment."""


class Access(IntEnum):
    """Whether a client could begin to work: what can be told without asking its provider."""

    UNKNOWN = 0
    LOGGED_IN = 1
    LOGGED_OUT = 2


class Adapter(Protocol):
    """One agent CLI: a module satisfies this, and the catalogue is one dict.

    `MINIMUM` is the oldest version whose flags and stream are known to fit; empty where there is no such thing as a version.
    """

    NAME: str
    MINIMUM: tuple[int, ...]

    def invocation(self, spec: AgentSpec, order: Order) -> Invocation:
        """The command line, environment and standard input for one prompt."""

    def streams(self, spec: AgentSpec) -> bool:
        """Whether the agent says something while it works, so that silence means that it hangs."""

    def parser(self, spec: AgentSpec, order: Order | None = None) -> StreamParser:
        """A fresh parser for one run; without an order, for a recorded one."""

    def access(self, program: str, version: tuple[int, ...], call: Call, env: Mapping[str, str]) -> Access:
        """Whether somebody is logged in, as far as the client or the environment tells without the network and without cost."""
