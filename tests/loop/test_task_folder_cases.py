"""The cases that anybody who drives task folders would test first, by their names.

What it calls a run of the agent is a call of the function here, and a process in the integration tests; its context is an event.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from ralphloop import RunContext, run_loop
from ralphloop.bus.board import TASK_BUS, Bus
from ralphloop.core import messages as m
from ralphloop.core.model import Outcome, OutcomeKind
from ralphloop.errors import ConfigError
from ralphloop.ledger.codec import decode
from ralphloop.ledger.queries import Queries
from ralphloop.process.identity import is_alive, read_back

RALPH = Path(sys.executable).with_name("ralph")
PATIENCE_S = 60.0
NO_DELAY = 0.0


class Task:
    """A task folder, and what the loop on it did."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder, self.state = root, root / "task", root / "state"
        self.calls: list[int] = []
        self.folder.mkdir()
        (self.folder / "TASK.md").write_text("# Implement the feature\n")

    def run(
        self,
        act: Callable[[int], None],
        *,
        max_restarts: int | None = None,
        restart_delay_s: float | None = NO_DELAY,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """Run the loop; `act` is called with the number of each restart."""

        def agent(_context: RunContext, attempt: int) -> None:
            self.calls.append(attempt)
            act(attempt)

        return run_loop(agent, task_dir=self.folder, state=self.state, max_restarts=max_restarts, restart_delay_s=restart_delay_s, stop=stop)

    def done(self) -> None:
        """Write DONE, as an agent does."""
        (self.folder / "DONE").write_text("Task completed successfully\n")

    def entries(self) -> list[m.Entry]:
        """The ledger of the loop."""
        with Queries(self.state / "ledger.db") as queries:
            row = queries.find("task")
            return [] if row is None else [decode(raw.type, raw.v, raw.json) for raw in queries.entries_raw(row.id)]

    def posted(self) -> list[tuple[str, str]]:
        """The bus of the task."""
        return [(str(message.type), message.text) for message in Bus(self.folder, TASK_BUS).messages()]


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task that nobody has begun."""
    return Task(tmp_path)


# --- unit tests -------------------------------------------------------------------------------------------------------


def test_run_with_immediate_success_exit_0(task: Task) -> None:
    """The first run ends well and leaves DONE: there is no second."""
    outcome = task.run(lambda _: task.done())
    assert (outcome.kind, outcome.exit_code, task.calls) == (OutcomeKind.DONE, 0, [0])
    assert ("INFO", "task completed (DONE marker present, no active children)") in task.posted()


def test_run_with_immediate_success_exit_0_but_without_done_goes_on(task: Task) -> None:
    """Exit code 0 by itself is no stop condition."""
    assert task.run(lambda attempt: task.done() if attempt == 3 else None).kind is OutcomeKind.DONE
    assert task.calls == [0, 1, 2, 3]


@pytest.mark.slow
def test_run_with_eventual_success_after_n_restarts(task: Task) -> None:
    """Whatever a run ends with, the next one begins, until there is a DONE."""

    def act(attempt: int) -> None:
        if attempt == 0:
            raise RuntimeError("rate limit")
        if attempt == 2:
            task.done()

    assert task.run(act).kind is OutcomeKind.DONE
    assert task.calls == [0, 1, 2]
    assert [str(entry.ending) for entry in task.entries() if isinstance(entry, m.ChangesJudged)] == ["failed", "empty", "ok"]
    assert [type_ for type_, _ in task.posted()] == ["RUN_START", "RUN_CRASH", "RUN_START", "RUN_STOP", "RUN_START", "RUN_STOP", "INFO"]


def test_run_with_max_restarts_exceeded(task: Task) -> None:
    """The loop fails, says so on the bus, and starts nothing more."""
    outcome = task.run(lambda _: None, max_restarts=3)
    assert (outcome.kind, outcome.limit, outcome.exit_code) == (OutcomeKind.LIMIT, "iterations", 1)
    assert task.calls == [0, 1, 2]
    type_, text = task.posted()[-1]
    assert (type_, text.partition(":")[0]) == ("ERROR", "max restarts exceeded")


@pytest.mark.parametrize("last", [0, 2], ids=["after the first run", "after the last allowed run"])
def test_run_with_done_file_detection(task: Task, last: int) -> None:
    """After every run, however it ended; presence is enough."""

    def act(attempt: int) -> None:
        if attempt == last:
            (task.folder / "DONE").touch()
            raise RuntimeError("crashed after the work was done")

    assert task.run(act, max_restarts=3).kind is OutcomeKind.DONE
    assert task.calls == list(range(last + 1))


def test_run_with_done_file_detection_before_the_first_run(task: Task) -> None:
    task.done()
    assert task.run(lambda _: None).kind is OutcomeKind.DONE
    assert task.calls == []


def test_run_with_done_file_detection_where_done_is_a_directory(task: Task) -> None:
    """An error, before the first run and after any."""
    outcome = task.run(lambda _: (task.folder / "DONE").mkdir())
    assert (outcome.kind, task.calls) == (OutcomeKind.FAILED, [0])
    assert "DONE is a directory" in outcome.reason
    with pytest.raises(ConfigError, match="DONE is a directory"):
        task.run(lambda _: None)


def test_run_with_context_cancellation(task: Task) -> None:
    """During a run: no further one."""
    stop = threading.Event()
    outcome = task.run(lambda _: stop.set(), stop=stop)
    assert (outcome.kind, outcome.exit_code, task.calls) == (OutcomeKind.INTERRUPTED, 130, [0])


def test_run_with_context_cancellation_before_the_first_run(task: Task) -> None:
    stop = threading.Event()
    stop.set()
    assert task.run(lambda _: None, stop=stop).kind is OutcomeKind.INTERRUPTED
    assert task.calls == []


class CancelledWhileSomebodyWaits(threading.Event):
    """An event that is set as soon as somebody waits for it."""

    def wait(self, timeout: float | None = None) -> bool:
        self.set()
        return super().wait(timeout)


def test_run_with_context_cancellation_during_the_delay(task: Task) -> None:
    """The delay ends at once: this one would take an hour."""
    outcome = task.run(lambda _: None, restart_delay_s=3600, stop=CancelledWhileSomebodyWaits())
    assert (outcome.kind, task.calls) == (OutcomeKind.INTERRUPTED, [0])
    assert any(isinstance(entry, m.WaitStarted) for entry in task.entries())


@pytest.mark.parametrize("error", [FileNotFoundError("claude"), PermissionError("claude"), ConfigError("the API key is wrong")], ids=repr)
def test_run_with_fatal_error(task: Task, error: Exception) -> None:
    """Executable not found, permission denied, configuration: stop, and say why."""

    def act(_attempt: int) -> None:
        raise error

    outcome = task.run(act)
    assert (outcome.kind, outcome.exit_code, task.calls) == (OutcomeKind.FAILED, 4, [0])
    assert str(error) in outcome.reason
    assert task.posted()[-1] == ("ERROR", outcome.reason)


@pytest.mark.parametrize("delay_s", [0.03, 0.3])
def test_run_with_restart_delay(task: Task, delay_s: float) -> None:
    """Between one run and the next, and neither before the first nor after the last."""
    task.run(lambda attempt: task.done() if attempt == 2 else None, restart_delay_s=delay_s)
    timed = [entry for entry in task.entries() if isinstance(entry, m.AttemptStarted | m.IterationEnded | m.WaitStarted | m.WaitEnded)]
    run, pause = ["AttemptStarted", "IterationEnded"], ["WaitStarted", "WaitEnded"]
    assert [type(entry).__name__ for entry in timed] == [*run, *pause, *run, *pause, *run]
    for ended, waits in pairwise(timed):
        if isinstance(waits, m.WaitStarted):
            assert waits.until - ended.at == pytest.approx(delay_s, abs=1e-5)
            assert waits.why == "delay between iterations"


@pytest.mark.slow
def test_run_with_restart_delay_of_a_second_where_none_is_given(task: Task) -> None:
    """Also after a run that failed."""

    def act(attempt: int) -> None:
        if attempt:
            task.done()
        else:
            raise RuntimeError("network timeout")

    task.run(act, restart_delay_s=None)
    ended, waits = (next(entry for entry in task.entries() if isinstance(entry, kind)) for kind in (m.IterationEnded, m.WaitStarted))
    assert isinstance(waits, m.WaitStarted)
    assert waits.until - ended.at == pytest.approx(1.0, abs=1e-5)


# --- integration tests ------------------------------------------------------------------------------------------------


def ralph_run(task: Task, script: str) -> subprocess.CompletedProcess[str]:
    """`ralph run --task-dir` with a shell script as the agent."""
    agent = task.root / "agent.sh"
    agent.write_text(f"#!/bin/sh\ncat > /dev/null\n{script}\n")
    agent.chmod(0o755)
    environ = {"PATH": os.environ["PATH"], "HOME": str(task.root), "RALPH_STATE_HOME": str(task.state), "LANG": "C.UTF-8"}
    command: list[str | Path] = [RALPH, "run", "--task-dir", task.folder, "--restart-delay", "0", "--agent-command", str(agent)]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def settings(task: Task, **sections: object) -> None:
    (task.folder / ".ralph").mkdir()
    (task.folder / ".ralph" / "settings.json").write_text(json.dumps({"limits": {"backoff_s": 0}, **sections}))


def test_integration_with_real_agent_execution(task: Task) -> None:
    settings(task)
    script = 'echo "$RALPH_ITERATION" >> "$TASK_FOLDER/runs"\n[ "$RALPH_ITERATION" = 3 ] && echo ok > "$TASK_FOLDER/DONE"\nexit "$RALPH_ITERATION"'
    ended = ralph_run(task, script)
    assert ended.returncode == 0, ended
    assert (task.folder / "runs").read_text().split() == ["1", "2", "3"]
    crashes = [text for type_, text in task.posted() if type_ == "RUN_CRASH"]
    assert [text.partition("\n")[0] for text in crashes] == [
        "Attempt 1: Agent failed (exit 1), restarting...",
        "Attempt 2: Agent failed (exit 2), restarting...",
        "Attempt 3: Agent failed (exit 3)",
    ]


# A process that writes down who it is, and stays.
STAY = f"""{sys.executable} -c '
import os, sys
from ralphloop.process.identity import own_identity, written
open(sys.argv[1], "wb").write(written(own_identity()))
os.execvp("sleep", ["sleep", "600"])
'"""
ALONE = f"{sys.executable} -c 'import os, sys; os.setsid(); os.execvp(sys.argv[1], sys.argv[1:])'"
FAMILY = {"child": "{stay} &", "deaf": "(trap '' TERM; {stay}) &", "alone": f"{ALONE} {{stay}} &", "orphan": "({stay} &)"}


@pytest.mark.slow
def test_integration_process_group_cleanup(task: Task) -> None:
    """Not the group alone: whatever the agent started, and however that tried to get away."""
    starts = "\n".join(way.format(stay=f"{STAY} {task.root}/{name}") for name, way in FAMILY.items())
    waits = "\n".join(f"while [ ! -s {task.root}/{name} ]; do sleep 0.01; done" for name in FAMILY)
    ended = ralph_run(task, f'{starts}\n{waits}\necho ok > "$TASK_FOLDER/DONE"')
    assert ended.returncode == 0, ended
    assert "processes that it left behind were ended" in ended.stdout
    for name in FAMILY:
        process = read_back((task.root / name).read_bytes())
        assert process is not None
        assert not is_alive(process), name


@pytest.mark.slow
def test_integration_timeout_handling(task: Task) -> None:
    """A run that takes too long is ended with its group, counts as failed, and the next one begins."""
    settings(task, agent={"timeout_s": 2, "grace_s": 0.2})
    script = 'echo "$$" >> "$TASK_FOLDER/runs"\nif [ "$RALPH_ITERATION" = 1 ]; then trap "" TERM; sleep 600; fi\necho ok > "$TASK_FOLDER/DONE"'
    ended = ralph_run(task, script)
    assert ended.returncode == 0, ended
    judged = [(str(entry.ending), entry.reason) for entry in task.entries() if isinstance(entry, m.ChangesJudged)]
    assert judged == [("failed", "it ran into the total time-out"), ("ok", "")]
    assert ("RUN_CRASH", "Attempt 1: Agent failed, restarting...\nit ran into the total time-out") in task.posted()
