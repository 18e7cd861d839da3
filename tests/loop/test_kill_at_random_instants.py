"""`kill -9` of a running `ralph run` (its loop, its guardian, or both) at random instants, then `ralph run` again: the counts stay right, nothing is
lost, and no crime pays.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ralphloop.core import messages as m
from ralphloop.core.evolve import fold
from ralphloop.ledger.codec import decode
from ralphloop.ledger.queries import Queries
from ralphloop.process.identity import identify, is_alive
from ralphloop.process.kinship import children_of

TASKS = [f"Build part {number}" for number in range(1, 26)]
AGENT = """\
import os, sys, time, pathlib
prompt = sys.stdin.read()
calls = pathlib.Path("calls"); calls.mkdir(exist_ok=True)
(calls / os.environ["RALPH_RUN_ID"].replace("/", "_")).write_text(os.environ["RALPH_ITERATION"])
plan = pathlib.Path("PRD.md")
lines = plan.read_text().splitlines()
number = next((i for i, line in enumerate(lines) if "[ ]" in line), None)
if number is not None:
    lines[number] = lines[number].replace("[ ]", "[x]")
    part = lines[number].split()[-1]
    pathlib.Path("part-" + part).write_text("built")
    # The crime: every open task is deleted for a moment, and the tag is printed.
    plan.write_text("\\n".join(line for line in lines if "[ ]" not in line) + "\\n")
    time.sleep(0.02)
    if int(part) % 2:
        plan.write_text("\\n".join(lines) + "\\n")
print("All done.\\n\\n<promise>COMPLETE</promise>")
"""
GATE = """\
import pathlib, re, sys
ticked = re.findall(r"\\[x\\] Build part (\\d+)", pathlib.Path("PRD.md").read_text())
sys.exit(any(not pathlib.Path("part-" + part).exists() for part in ticked))
"""


def prepare(workspace: Path) -> None:
    workspace.mkdir()
    (workspace / "PRD.md").write_text("# Plan\n\n" + "".join(f"- [ ] {task}\n" for task in TASKS))
    (workspace / "agent.py").write_text(AGENT)
    (workspace / "gate.py").write_text(GATE)
    settings = {
        "agent": {"command": f"{sys.executable} agent.py"},
        "gates": [{"command": f"{sys.executable} gate.py"}],
        "limits": {"backoff_s": 0, "iterations": 90, "attempts": 20, "calls": 0, "stall": 0},
    }
    (workspace / ".ralph").mkdir()
    (workspace / ".ralph" / "settings.json").write_text(json.dumps(settings))


def start(workspace: Path, home: Path) -> subprocess.Popen[bytes]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "RALPH_STATE_HOME": str(home / "state"), "LANG": "C.UTF-8"}
    ralph = Path(sys.executable).parent / "ralph"
    with (home / "out").open("ab") as out:
        return subprocess.Popen([ralph, "run", workspace, "--name", "loop"], env=environ, stdout=out, stderr=out, stdin=subprocess.DEVNULL)


def kill(guardian: subprocess.Popen[bytes], whom: str) -> None:
    """Kill, and return when neither lives. A guardian that is killed alone leaves a loop that ends by itself."""
    guardian.send_signal(signal.SIGSTOP)  # so that it acts only once everybody has been found
    loops = [identity for pid in children_of(guardian.pid) if (identity := identify(pid))]
    for loop in loops if whom != "guardian" else ():
        os.kill(loop.pid, signal.SIGKILL)
    if whom != "loop":
        guardian.send_signal(signal.SIGKILL)
    guardian.send_signal(signal.SIGCONT)
    if not loops:
        guardian.kill()  # it had not forked yet
    guardian.wait()
    for loop in loops:
        while is_alive(loop):
            time.sleep(0.01)  # it is not our child: nothing tells of its end


def entries_of(home: Path) -> list[m.Entry]:
    with Queries(home / "state" / "ledger.db") as queries:
        row = queries.find("loop")
        return [] if row is None else [decode(raw.type, raw.v, raw.json) for raw in queries.entries_raw(row.id)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_loop_that_is_killed_again_and_again_ends_as_if_nothing_had_been(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    workspace, home = tmp_path / "project", tmp_path / "home"
    home.mkdir()
    prepare(workspace)
    for _ in range(12):
        process = start(workspace, home)
        time.sleep(chance.uniform(0.1, 0.5))  # the instant of the crash, not a wait for anything
        kill(process, chance.choice(("loop", "guardian", "both")))
    last = start(workspace, home)
    assert last.wait(timeout=300) == 0, (home / "out").read_text()
    assert (workspace / "PRD.md").read_text() == "# Plan\n\n" + "".join(f"- [x] {task}\n" for task in TASKS)
    assert_honest(entries_of(home), workspace)


def assert_honest(entries: list[m.Entry], workspace: Path) -> None:
    state = fold(entries)
    assert state.incarnation > 2, "no kill hit a running loop: this test tested nothing"
    assert state.outcome is not None
    assert state.outcome.strength == "proved"
    started = [entry for entry in entries if isinstance(entry, m.AttemptStarted)]
    ended = [entry for entry in entries if isinstance(entry, m.AttemptEnded | m.AttemptLost)]
    assert len(started) == len(ended) == state.spent.calls, "every attempt that was started has an end, and all are counted"
    assert len({entry.run_id for entry in started}) == len(started)
    iterations = [entry.number for entry in entries if isinstance(entry, m.IterationStarted)]
    assert iterations == list(range(1, state.iteration + 1)), "no iteration is lost, and none counted twice"
    runs = {path.name for path in (workspace / "calls").iterdir()}
    assert runs <= {entry.run_id.replace("/", "_") for entry in started}, "no agent ran without an entry before it"
