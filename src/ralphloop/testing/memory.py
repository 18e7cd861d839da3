"""In-memory rooms that behave like the real ones: clock, journal, blobs, requests, workspace, work and gates.

They ship with the package, so that whoever writes an adapter, a work or a verifier can run the true loop against them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ralphloop.core.messages import Entry, Event, RequestSeen
from ralphloop.core.model import Gate, Result, Survey, Tree, Verdict
from ralphloop.core.state import LoopState
from ralphloop.errors import WorkError
from ralphloop.work.changes import judge_tasks
from ralphloop.work.folder import DONE, TASK, WAIT
from ralphloop.work.tasklist import parse_tasks


@dataclass(slots=True)
class FakeClock:
    """Time that passes only when somebody waits; each look costs a millisecond, so that entries have an order."""

    at: float = 1_800_000_000.0
    luck: float = 0.5

    def now(self) -> float:
        """Seconds of the Unix clock."""
        self.at += 0.001
        return self.at

    def dice(self) -> float:
        """Always the same luck."""
        return self.luck

    def has_come(self, until: float, longest_s: float) -> bool:  # noqa: ARG002 - the machine never sleeps here
        """By this clock."""
        return self.at >= until

    def wait(self, until: float, longest_s: float) -> bool:  # noqa: ARG002 - this clock is never set back
        """Be there at once."""
        self.at = max(self.at, until)
        return True


@dataclass(slots=True)
class MemoryJournal:
    """A stream in memory."""

    entries: list[Entry] = field(default_factory=list)

    def append(self, entries: Sequence[Entry], state: LoopState) -> None:  # noqa: ARG002 - the port's signature
        """Keep entries, in order."""
        self.entries.extend(entries)


@dataclass(slots=True)
class MemoryRequests:
    """Requests that a test has put in."""

    waiting: list[RequestSeen] = field(default_factory=list)

    def take(self) -> Sequence[RequestSeen]:
        """Every request that was not taken before."""
        taken, self.waiting = self.waiting, []
        return taken


@dataclass(slots=True)
class MemoryBlobs:
    """Contents by digest."""

    contents: dict[str, bytes] = field(default_factory=dict)

    def put(self, content: bytes) -> str:
        """Keep the content."""
        digest = hashlib.sha256(content).hexdigest()
        self.contents[digest] = content
        return digest

    def get(self, digest: str) -> bytes:
        """The content of that digest."""
        return self.contents[digest]


@dataclass(slots=True)
class MemoryWorkspace:
    """Files in a dict, and a line of commits, each a copy of them."""

    files: dict[str, bytes] = field(default_factory=dict)
    commits: list[tuple[str, dict[str, bytes]]] = field(default_factory=list)

    @property
    def head(self) -> str | None:
        """The newest commit, by its number."""
        return str(len(self.commits)) if self.commits else None

    def look(self) -> Tree:
        """A fingerprint of the files and the head."""
        digest = hashlib.sha256(repr((self.head, sorted(self.files.items()))).encode()).hexdigest()
        return Tree(fingerprint=digest, head=self.head, branch="main" if self.commits else None)

    def read(self, path: str) -> bytes | None:
        """The content of a file."""
        return self.files.get(path)

    def is_executable(self, path: str) -> bool:  # noqa: ARG002 - there are no modes here
        """Nothing can be run."""
        return False

    def restore(self, path: str, content: bytes | None, *, executable: bool = False) -> None:  # noqa: ARG002 - as above
        """Put content back, or take the file away."""
        if content is None:
            self.files.pop(path, None)
        else:
            self.files[path] = content

    def read_at(self, revision: str, path: str) -> bytes | None:
        """The content of a file in a commit."""
        return self.commits[int(revision) - 1][1].get(path)

    def commit_paths(self, paths: Sequence[str], message: str, trailer: str) -> str | None:
        """Commit those paths alone."""
        at_head = dict(self.commits[-1][1])
        at_head.update({path: self.files[path] for path in paths if path in self.files})
        self.commits.append((f"{message}\n\n{trailer}", at_head))
        return self.head

    def describe_moves(self, before: Tree, after: Tree) -> tuple[str, ...]:  # noqa: ARG002 - history is a line here
        """Nothing is ever reset."""
        return ()

    def commit(self, message: str, trailer: str, fingerprint: str) -> tuple[Verdict, str | None]:
        """Commit everything, once per trailer."""
        if self.look().fingerprint != fingerprint:
            if self.commits and trailer in self.commits[-1][0].splitlines():
                return _passed("commit", "found by its trailer"), self.head
            return Verdict(name="commit", result=Result.FAILED, reason="the tree changed after the gates saw it"), None
        self.commits.append((f"{message}\n\n{trailer}", dict(self.files)))
        return _passed("commit", "committed"), self.head

    def push(self) -> Verdict:
        """Always possible."""
        return _passed("push", "pushed")

    def merge(self, branch: str) -> tuple[Verdict, str | None]:
        """Always up to date."""
        return _passed(f"merge {branch}", "already up to date"), self.head


@dataclass(slots=True)
class MemoryChecklist:
    """A checklist in a memory workspace, judged by the real rules."""

    workspace: MemoryWorkspace
    path: str = "PRD.md"

    def survey(self, since: Survey | None = None) -> Survey:  # noqa: ARG002 - nothing here asks to wait
        """Look at the list now."""
        content = self.workspace.read(self.path)
        if content is None:
            raise WorkError(f"{self.path} is gone")
        tasks = parse_tasks(content.decode())
        open_tasks = [task for task in tasks if task.is_open]
        first = open_tasks[0].title if open_tasks else None
        return Survey(remaining=len(open_tasks), total=len(tasks), task=first, digest=hashlib.sha256(content).hexdigest())

    def files(self) -> tuple[str, ...]:
        """The list itself."""
        return (self.path,)

    def judge(self, path: str, before: bytes | None, now: bytes | None) -> tuple[bytes | None, tuple[str, ...]]:
        """By the real rules."""
        if before and not parse_tasks((now or b"").decode()):
            return before, (f"the task list {path} was deleted; it is back",)
        judgement = judge_tasks((before or b"").decode(), None if now is None else now.decode())
        reasons = tuple(f"the open task {task.title!r} was deleted; it is back" for task in judgement.vanished)
        return judgement.restored.encode(), reasons

    def brief(self) -> str:
        """A template."""
        return "Work on {task_file}: {task}"

    def consume(self) -> None:
        """Nothing here asks the loop to wait."""


@dataclass(slots=True)
class MemoryPrompt:
    """Prompt work: nothing to survey."""

    text: str = "Do it."

    def survey(self, since: Survey | None = None) -> Survey:  # noqa: ARG002 - nothing here asks to wait
        """There are no tasks to count."""
        return Survey(remaining=None, total=None, task=None, digest="")

    def files(self) -> tuple[str, ...]:
        """None."""
        return ()

    def judge(self, path: str, before: bytes | None, now: bytes | None) -> tuple[bytes | None, tuple[str, ...]]:  # noqa: ARG002 - nothing is judged
        """Nothing is forbidden."""
        return now, ()

    def brief(self) -> str:
        """The prompt."""
        return self.text

    def consume(self) -> None:
        """Nothing here asks the loop to wait."""


def no_children() -> int:
    """No child loop runs."""
    return 0


@dataclass(slots=True)
class MemoryFolder:
    """A task folder in a memory workspace. `children` is asked at each look; a request to wait is told from an older one by its text."""

    workspace: MemoryWorkspace
    children: Callable[[], int] = no_children

    def survey(self, since: Survey | None = None) -> Survey:
        """Whether it is done, and whether something asked to wait after `since`."""
        task = self.workspace.read(TASK)
        if task is None:
            raise WorkError(f"{TASK} is gone")
        done, asked = self.workspace.read(DONE) is not None, self.workspace.read(WAIT)
        mark = "" if asked is None else hashlib.sha256(asked).hexdigest()
        new = asked is not None and since is not None and mark != since.mark
        return Survey(
            remaining=0 if done else 1,
            total=1,
            task=task.decode().partition("\n")[0],
            digest=hashlib.sha256(repr((done, task)).encode()).hexdigest(),
            children=self.children(),
            mark=mark,
            waiting="the agent asked to wait" if new else "",
        )

    def files(self) -> tuple[str, ...]:
        """The task."""
        return (TASK,)

    def judge(self, path: str, before: bytes | None, now: bytes | None) -> tuple[bytes | None, tuple[str, ...]]:
        """No change of the task is lawful."""
        return before, () if now == before else (f"{path} was changed; it is as it was",)

    def brief(self) -> str:
        """The task."""
        return (self.workspace.read(TASK) or b"").decode()

    def consume(self) -> None:
        """Put the request aside."""
        self.workspace.restore(WAIT, None)


@dataclass(slots=True)
class MemoryGates:
    """Gates that look at the memory workspace with a predicate."""

    green: Callable[[Gate], bool]
    runs: int = 0

    def log_names(self, gates: Sequence[Gate], iteration: int) -> tuple[str, ...]:
        """A name for each."""
        return tuple(f"guardrail_{iteration}_{number}.log" for number, _ in enumerate(gates))

    def run(self, gate: Gate, iteration: int, log: str, run_id: str) -> Verdict | None:  # noqa: ARG002 - the port's signature
        """Ask the predicate."""
        self.runs += 1
        if self.green(gate):
            return _passed(gate.command, "passed")
        return Verdict(name=gate.command, result=Result.FAILED, reason="failed with exit code 1", exit_code=1, output="red")


@dataclass(slots=True)
class SilentWatcher:
    """Sees everything and says nothing."""

    seen: list[Entry] = field(default_factory=list)

    def entry(self, entry: Entry, state: LoopState) -> None:  # noqa: ARG002 - the port's signature
        """Keep it."""
        self.seen.append(entry)

    def event(self, event: Event) -> None:
        """Let it pass."""

    def gate_started(self, gate: Gate) -> None:
        """Let it pass."""

    def waiting(self, until: float) -> None:
        """Let it pass."""


def _passed(name: str, reason: str) -> Verdict:
    return Verdict(name=name, result=Result.PASSED, reason=reason, exit_code=0)
