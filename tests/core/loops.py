"""Loops in memory for the tests of core: specs, checklists, and an agent for each temper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ralphloop.core.messages import Entry
from ralphloop.core.model import (
    AgentSpec,
    Completion,
    EndedBy,
    Gate,
    Kind,
    Limits,
    LoopSpec,
    Outcome,
    RunReport,
    Scm,
    StreamReport,
    UsageLimit,
    WorkSpec,
)
from ralphloop.core.ports import Ports, Work
from ralphloop.testing.memory import (
    FakeClock,
    MemoryBlobs,
    MemoryChecklist,
    MemoryGates,
    MemoryJournal,
    MemoryPrompt,
    MemoryRequests,
    MemoryWorkspace,
    SilentWatcher,
)
from ralphloop.testing.scripted import ScriptedAgent, Turn, run_again, run_new

PROMISE = "<promise>COMPLETE</promise>"
THREE_TASKS = b"# Plan\n\n- [ ] Write the parser\n- [ ] Write the printer\n- [ ] Write the manual\n"


def spec(
    kind: Kind = Kind.CHECKLIST, *, gates: Sequence[str] = (), limits: Limits | None = None, scm: Scm | None = None, text: str = "COMPLETE"
) -> LoopSpec:
    work = WorkSpec(kind=kind, task_file="PRD.md") if kind is Kind.CHECKLIST else WorkSpec(kind=kind, prompt_text="Do it.")
    return LoopSpec(
        loop_id="app-1",
        name="app",
        workspace="/nowhere",
        work=work,
        agent=AgentSpec(type="command", command="agent"),
        completion=Completion(text=text),
        limits=limits or Limits(iterations=10, calls=60),
        gates=tuple(Gate(command=command) for command in gates),
        scm=scm or Scm(),
    )


@dataclass
class Loop:
    """One loop in memory, with everything that a test looks at."""

    spec: LoopSpec
    turns: Sequence[Turn]
    files: dict[str, bytes] = field(default_factory=lambda: {"PRD.md": THREE_TASKS})
    green: Callable[[MemoryWorkspace], bool] = lambda workspace: b"broken" not in b"".join(workspace.files.values())
    clock: FakeClock = field(default_factory=FakeClock)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    requests: MemoryRequests = field(default_factory=MemoryRequests)
    watcher: SilentWatcher = field(default_factory=SilentWatcher)

    def __post_init__(self) -> None:
        self.workspace = MemoryWorkspace(files=dict(self.files))
        self.agent = ScriptedAgent(clock=self.clock, workspace=self.workspace, turns=self.turns, text=self.spec.completion.text)
        self.gates = MemoryGates(green=lambda _gate: self.green(self.workspace))
        self.blobs = MemoryBlobs()

    @property
    def work(self) -> Work:
        return MemoryChecklist(workspace=self.workspace) if self.spec.work.kind is Kind.CHECKLIST else MemoryPrompt()

    def ports(self) -> Ports:
        return Ports(
            clock=self.clock,
            journal=self.journal,
            requests=self.requests,
            blobs=self.blobs,
            work=self.work,
            workspace=self.workspace,
            agent=self.agent,
            gates=self.gates,
            watcher=self.watcher,
        )

    def run(self) -> Outcome:
        return run_new(self.spec, self.ports())

    def resume(self, spec: LoopSpec | None = None) -> Outcome:
        return run_again(self.entries, self.ports(), spec)

    @property
    def entries(self) -> list[Entry]:
        return self.journal.entries

    def of(self, *kinds: type) -> list[Entry]:
        return [entry for entry in self.entries if isinstance(entry, kinds)]

    @property
    def tasks(self) -> str:
        return self.workspace.files["PRD.md"].decode()


def patched(target: object, name: str, call: Callable[..., object]) -> None:
    """One method of one object is replaced; the classes have slots, so the object gets a class of its own."""
    kind = target.__class__
    target.__class__ = type(kind.__name__, (kind,), {"__slots__": (), name: lambda _self, *arguments, **named: call(*arguments, **named)})


def edit(path: str, change: Callable[[bytes], bytes]) -> Callable[[MemoryWorkspace], None]:
    def does(workspace: MemoryWorkspace) -> None:
        workspace.files[path] = change(workspace.files.get(path, b""))

    return does


def tick(content: bytes) -> bytes:
    return content.replace(b"- [ ]", b"- [x]", 1)


def tick_all(content: bytes) -> bytes:
    return content.replace(b"- [ ]", b"- [x]")


def delete_open(content: bytes) -> bytes:
    return b"".join(line for line in content.splitlines(keepends=True) if not line.startswith(b"- [ ]"))


def exited(code: int | None = 0, *, seconds: float = 60.0, signal: int | None = None, ended_by: EndedBy = EndedBy.EXIT) -> RunReport:
    return RunReport(ended_by=ended_by, exit_code=code, signal=signal, duration_s=seconds)


WORKS = Turn(does=edit("PRD.md", tick), says="I did one task.")
FINISHES = Turn(does=edit("PRD.md", tick_all), says="I did everything.")
CLAIMS = Turn(says=f"Everything is done.\n\n{PROMISE}")
IDLES = Turn(says="I looked around.")
FAILS = Turn(says="", run=exited(1))
DIES = Turn(says="", run=exited(1, seconds=0.1))
EMPTY = Turn(says="")
DELETES = Turn(does=edit("PRD.md", delete_open), says=f"All done.\n\n{PROMISE}")
LIMITED = Turn(stream=StreamReport(limit=UsageLimit(resets_at=None, text="you have hit your limit"), error="limit"), run=exited(1, seconds=1))
ASKS_TO_WAIT = Turn(says="", run=exited(42))
NOT_THERE = Turn(run=RunReport(ended_by=EndedBy.NOT_STARTED, start_error="there is no program `agent`"))
