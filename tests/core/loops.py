"""Loops in memory for the tests of core: specs, checklists, and an agent for each temper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

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
from ralphloop.core.state import LoopState
from ralphloop.testing.memory import (
    FakeClock,
    MemoryBlobs,
    MemoryChecklist,
    MemoryFolder,
    MemoryGates,
    MemoryJournal,
    MemoryPrompt,
    MemoryRequests,
    MemoryWorkspace,
    SilentWatcher,
    no_children,
)
from ralphloop.testing.scripted import ScriptedAgent, Turn, run_again, run_new

PROMISE = "<promise>COMPLETE</promise>"
SECONDS = 60.0
"""How long a scripted agent takes, if nothing else is said."""
THREE_TASKS = b"# Plan\n\n- [ ] Write the parser\n- [ ] Write the printer\n- [ ] Write the manual\n"


WORK_OF = {
    Kind.PROMPT: WorkSpec(kind=Kind.PROMPT, prompt_text="Do it."),
    Kind.CHECKLIST: WorkSpec(kind=Kind.CHECKLIST, task_file="PRD.md"),
    Kind.FOLDER: WorkSpec(kind=Kind.FOLDER, task_dir="."),
}
FILES_OF = {Kind.PROMPT: {"PRD.md": THREE_TASKS}, Kind.CHECKLIST: {"PRD.md": THREE_TASKS}, Kind.FOLDER: {"TASK.md": b"Write the parser\n"}}


def spec(
    kind: Kind = Kind.CHECKLIST, *, gates: Sequence[str] = (), limits: Limits | None = None, scm: Scm | None = None, text: str = "COMPLETE"
) -> LoopSpec:
    work = WORK_OF[kind]
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


def folder_spec(*, gates: Sequence[str] = (), **limits: float) -> LoopSpec:
    """Folder work as the settings have it: every run is one iteration; nothing is waited for between two."""
    bounds = {"iterations": 10, "calls": 30, "attempts": 1, "empty_retries": 0, "stall": 0, "backoff_s": 0.0} | limits
    return spec(Kind.FOLDER, gates=gates, limits=Limits(**bounds))  # type: ignore[arg-type]


@dataclass
class Loop:
    """One loop in memory, with everything that a test looks at. `files` None: open work of its kind."""

    spec: LoopSpec
    turns: Sequence[Turn]
    files: dict[str, bytes] | None = None
    green: Callable[[MemoryWorkspace], bool] = lambda workspace: b"broken" not in b"".join(workspace.files.values())
    clock: FakeClock = field(default_factory=FakeClock)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    requests: MemoryRequests = field(default_factory=MemoryRequests)
    watcher: SilentWatcher = field(default_factory=SilentWatcher)
    children: Callable[[], int] = no_children

    def __post_init__(self) -> None:
        self.workspace = MemoryWorkspace(files=dict(FILES_OF[self.spec.work.kind] if self.files is None else self.files))
        self.agent = ScriptedAgent(clock=self.clock, workspace=self.workspace, turns=self.turns, text=self.spec.completion.text)
        self.gates = MemoryGates(green=lambda _gate: self.green(self.workspace))
        self.blobs = MemoryBlobs()

    @property
    def work(self) -> Work:
        match self.spec.work.kind:
            case Kind.PROMPT:
                return MemoryPrompt()
            case Kind.CHECKLIST:
                return MemoryChecklist(workspace=self.workspace)
            case Kind.FOLDER:
                return MemoryFolder(workspace=self.workspace, children=self.running_children)
        assert_never(self.spec.work.kind)

    def running_children(self) -> int:
        return self.children()

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


Does = Callable[[MemoryWorkspace], None]


def nothing(_workspace: MemoryWorkspace) -> None:
    """What an idle agent does."""


def edit(path: str, change: Callable[[bytes], bytes]) -> Does:
    def does(workspace: MemoryWorkspace) -> None:
        workspace.files[path] = change(workspace.files.get(path, b""))

    return does


def child_loop(loop: Loop, runs_s: float, at_its_end: Does = nothing) -> Does:
    """The agent starts a child loop, which runs on after it for so long, and does something at its end."""

    def starts(_workspace: MemoryWorkspace) -> None:
        ends = loop.clock.at + SECONDS + runs_s
        wait, deeds = loop.clock.wait, iter([at_its_end])

        def lets_it_run(until: float, longest_s: float) -> bool:
            over = wait(until, longest_s)
            if loop.clock.at >= ends:
                next(deeds, nothing)(loop.workspace)
            return over

        patched(loop.clock, "wait", lets_it_run)
        loop.children = lambda: int(loop.clock.at < ends)

    return starts


def both(*deeds: Does) -> Does:
    def does(workspace: MemoryWorkspace) -> None:
        for deed in deeds:
            deed(workspace)

    return does


def after(kind: type, loop: Loop, deed: Does) -> None:
    """Somebody does something, once, when the first entry of that kind has been written."""
    append, deeds = loop.journal.append, iter([deed])

    def appends(entries: Sequence[Entry], state: LoopState) -> None:
        append(entries, state)
        if any(isinstance(entry, kind) for entry in entries):
            next(deeds, nothing)(loop.workspace)

    patched(loop.journal, "append", appends)


def tick(content: bytes) -> bytes:
    return content.replace(b"- [ ]", b"- [x]", 1)


def tick_all(content: bytes) -> bytes:
    return content.replace(b"- [ ]", b"- [x]")


def delete_open(content: bytes) -> bytes:
    return b"".join(line for line in content.splitlines(keepends=True) if not line.startswith(b"- [ ]"))


def exited(code: int | None = 0, *, seconds: float = SECONDS, signal: int | None = None, ended_by: EndedBy = EndedBy.EXIT) -> RunReport:
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
DONE = edit("DONE", lambda _: b"It works.\n")
REQUEST = edit("WAIT_WITHOUT_RESTART", lambda content: content + b"for Ann\n")
CLOSES = Turn(does=DONE, says="It works.")
POSTS = Turn(does=REQUEST, says="I wait for Ann.")
NOT_THERE = Turn(run=RunReport(ended_by=EndedBy.NOT_STARTED, start_error="there is no program `agent`"))
