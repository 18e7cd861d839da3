"""The installed `ralph`, run as a user would: a home, a state home, a workspace and a clean environment of its own."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ralphloop.bus.board import TASK_BUS, Bus
from ralphloop.core.identity import ProcessIdentity
from ralphloop.core.messages import Entry
from ralphloop.ledger.codec import decode
from ralphloop.ledger.queries import Queries
from ralphloop.process.identity import identify, is_alive
from ralphloop.process.pidfd import open_pidfd

RALPH = Path(sys.executable).with_name("ralph")
PATIENCE_S = 60.0
"""How long a test waits for what must happen; nothing that goes well takes that long."""

# Root may read and write everything: these two capabilities are what that means. Nobody else has them to lose.
UNPRIVILEGED = """\
import ctypes, os, sys
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, PR_CAPBSET_DROP = 1, 2, 24
if os.geteuid() == 0:
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability)
os.execv(sys.argv[1], sys.argv[1:])
"""

ALONE = f"{sys.executable} -c 'import os, sys; os.setsid(); os.execvp(sys.argv[1], sys.argv[1:])'"
"""What a script says before a command that is to have a session of its own."""

DONE = "<response>DONE</response>"
COMPLETE = "<promise>COMPLETE</promise>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a command left: its exit code and its words."""

    code: int
    out: str
    err: str


class Running:
    """A command that still runs; its words can be waited for."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._said = {name: bytearray() for name in ("out", "err")}

    def await_out(self, words: str) -> None:
        """Wait until it has said these words on standard output."""
        self._await("out", words.encode())

    def await_err(self, words: str) -> None:
        """Wait until it has said these words on standard error."""
        self._await("err", words.encode())

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> Ended:
        """Wait for its end."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return Ended(code=self.process.returncode, out=(self._said["out"] + out).decode(), err=(self._said["err"] + err).decode())

    def _await(self, name: str, words: bytes) -> None:
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        pipes = {self.process.stdout: "out", self.process.stderr: "err"}
        while words not in self._said[name]:
            ready, _, _ = select.select(list(pipes), [], [], PATIENCE_S)
            assert ready, f"it never said {words!r}: {self._said}"
            for pipe in ready:
                more = os.read(pipe.fileno(), 65536)
                assert more, f"it ended without {words!r}: {self._said}"
                self._said[pipes[pipe]] += more


class Program:
    """`ralph` in a world of its own beneath `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.state, self.workspace = root / "home", root / "state", root / "project"
        self.environ = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(root / "tmp"),
            "RALPH_STATE_HOME": str(self.state),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        for directory in (self.home, self.workspace, root / "tmp", root / "agents"):
            directory.mkdir()
        self._fifos: dict[str, int] = {}
        for fifo in ("at-work", "go-on", "child-at-work", "child-goes-on"):
            os.mkfifo(root / fifo)
            self._fifos[fifo] = os.open(root / fifo, os.O_RDWR | os.O_NONBLOCK)
        self._seen: list[ProcessIdentity] = []
        self._running: list[Running] = []

    # --- commands ---

    def run(self, *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, privileged: bool = True) -> Ended:
        """Run `ralph` with these arguments to its end; not privileged: without root's power over closed files."""
        command = [*(() if privileged else (sys.executable, "-c", UNPRIVILEGED)), str(RALPH), *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=cwd or self.workspace,
            env={**self.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Ended(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    def start(self, *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, executable: str | None = None) -> Running:
        """Start `ralph` in a process group of its own, as a shell does."""
        process = subprocess.Popen(
            [executable or str(RALPH), *map(str, arguments)],
            cwd=cwd or self.workspace,
            env={**self.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
        self._running.append(Running(process))
        return self._running[-1]

    def show(self, name: str = "project") -> dict[str, Any]:
        """`ralph show NAME --json`."""
        ended = self.run("show", name, "--json")
        assert ended.code == 0, ended.err
        shown = json.loads(ended.out)
        assert isinstance(shown, dict)
        return shown

    def status(self) -> dict[str, dict[str, Any]]:
        """The loops of `ralph status --json`."""
        sessions = json.loads(self.run("status", "--json").out)["sessions"]
        assert isinstance(sessions, dict)
        return sessions

    def attempts(self, name: str = "project") -> list[dict[str, Any]]:
        """Every attempt of the newest loop of that name."""
        return [attempt for turn in self.show(name)["iterations"] for attempt in turn["attempts"]]

    def entries(self, name: str = "project") -> list[Entry]:
        """The stream of the newest loop of that name."""
        with Queries(self.state / "ledger.db") as queries:
            row = queries.find(name)
            return [] if row is None else [decode(raw.type, raw.v, raw.json) for raw in queries.entries_raw(row.id)]

    def prompts(self, name: str = "project") -> list[str]:
        """The prompt of every attempt of that loop which came to an end."""
        return [Path(attempt["files"], "prompt.md").read_text() for attempt in self.attempts(name)]

    def loop_process(self, name: str = "project") -> ProcessIdentity:
        """The process of a loop that runs; its guardian is another one."""
        identity = identify(self.status()[name]["pid"])
        assert identity is not None
        self._seen.append(identity)
        return identity

    def crash(self, running: Running, name: str = "project") -> ProcessIdentity:
        """`kill -9` of a loop and of its guardian at one instant: nobody is left to end anything, or to write it down. The loop that it was."""
        loop = self.loop_process(name)
        running.signal(signal.SIGSTOP)  # so that nobody acts between the two
        os.kill(loop.pid, signal.SIGKILL)
        running.signal(signal.SIGKILL)
        running.process.wait()
        self.await_end(loop)
        return loop

    # --- the workspace ---

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file into the workspace."""
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def settings(self, **settings: Any) -> None:
        """Write the project's settings; failing attempts do not wait."""
        settings["limits"] = {"backoff_s": 0} | settings.get("limits", {})
        self.write(".ralph/settings.json", json.dumps(settings))

    def tasks(self, *titles: str, path: str = "PRD.md") -> None:
        """Write a task list of open tasks."""
        self.write(path, "# Plan\n\n" + "".join(f"- [ ] {title}\n" for title in titles))

    def task(self, text: str = "# Log in\n\nMake it work.\n", path: str = "login") -> Path:
        """Make a task directory, beside the workspace if nothing else is said."""
        directory = self.root / path
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "TASK.md").write_text(text)
        return directory

    def posted(self, directory: Path, name: str = TASK_BUS) -> list[tuple[str, str]]:
        """The messages on a bus: type and text."""
        return [(str(message.type), message.text) for message in Bus(directory, name).messages()]

    def files(self) -> set[str]:
        """Every file of the workspace."""
        return {str(path.relative_to(self.workspace)) for path in self.workspace.rglob("*")}

    def loops(self) -> list[str]:
        """The loops that have left something in the state home."""
        return sorted(path.name for path in (self.state / "loops").glob("*"))

    # --- agents ---

    def agent(self, script: str, name: str = "agent.sh") -> str:
        """A shell script as an agent; each of its runs leaves a mark. It can say `at_work` and `await_go_on`, also by the name of another FIFO."""
        prelude = f"""\
#!/bin/sh
root='{self.root}'
echo "$RALPH_ITERATION" >> "$root/calls"
at_work() {{ echo "$$" > "$root/${{1:-at-work}}"; }}
await_go_on() {{ read -r word < "$root/${{1:-go-on}}"; }}
cat > /dev/null
"""
        path = self.root / "agents" / name
        path.write_text(prelude + script + "\n")
        path.chmod(0o755)
        return str(path)

    def calls(self) -> list[int]:
        """The iteration of each run of an agent so far."""
        marks = self.root / "calls"
        return [int(line) for line in marks.read_text().split()] if marks.exists() else []

    def await_agent(self, fifo: str = "at-work") -> ProcessIdentity:
        """Wait until an agent (or a process of it) says that it is at work."""
        ready, _, _ = select.select([self._fifos[fifo]], [], [], PATIENCE_S)
        assert ready, "the agent never came to work"
        pid = b""
        while not pid.endswith(b"\n"):
            pid += os.read(self._fifos[fifo], 1)
        identity = identify(int(pid))
        assert identity is not None
        self._seen.append(identity)
        return identity

    def go_on(self, fifo: str = "go-on") -> None:
        """Let one agent that waits go on."""
        os.write(self._fifos[fifo], b"on\n")

    def await_end(self, identity: ProcessIdentity) -> None:
        """Wait until a process has ended that is not ours."""
        descriptor = open_pidfd(identity.pid)
        deadline = time.monotonic() + PATIENCE_S
        while is_alive(identity):
            assert time.monotonic() < deadline, f"{identity} goes on and on"
            select.select([] if descriptor is None else [descriptor], [], [], PATIENCE_S if descriptor is not None else 0.05)
        if descriptor is not None:
            os.close(descriptor)

    def close(self) -> None:
        """End whatever a test has left running, by its identity."""
        for running in self._running:
            if running.process.poll() is None:
                running.process.kill()
                running.process.wait()
            for pipe in (running.process.stdout, running.process.stderr):
                assert pipe is not None
                pipe.close()
        for identity in filter(is_alive, self._seen + self._loops_that_run()):
            os.kill(identity.pid, signal.SIGKILL)
        for descriptor in self._fifos.values():
            os.close(descriptor)

    def _loops_that_run(self) -> list[ProcessIdentity]:
        with Queries(self.state / "ledger.db") as queries:
            open_loops = [row for row in queries.loops() if row.outcome is None and row.pid != os.getpid()]
        return [row.process for row in open_loops]
