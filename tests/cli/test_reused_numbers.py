"""Processes that crashed have left their numbers to strangers: a loop goes on, and no stranger is taken for one of its own.

The numbers are given away for real: in a PID namespace, which is told what number comes next.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from program import DONE, PATIENCE_S, RALPH, Program

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

NAMESPACE = ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc"]

# The first process of the namespace: whoever loses its parent becomes a child of it.
HISTORY = """
import json, os, signal, subprocess, sys
from pathlib import Path

ralph, agent = sys.argv[1:]
run = [ralph, "run", "-p", "x", "--agent-command", agent]
def status(): return json.loads(subprocess.check_output([ralph, "status", "--json"]))["sessions"]["project"]
def stranger(number):
    Path("/proc/sys/kernel/ns_last_pid").write_text(str(number - 1))
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    assert process.pid == number, (process.pid, number)
    return process

guardian = subprocess.Popen(run)
with open("../at-work") as at_work: agent_number = int(at_work.readline())
numbers = [status()["pid"], agent_number, guardian.pid]
guardian.send_signal(signal.SIGSTOP)  # so that it does not act when the loop is killed
for number in numbers: os.kill(number, signal.SIGKILL)
guardian.wait()
for number in numbers[:2]: os.waitpid(number, 0)
strangers = [stranger(number) for number in numbers]
seen = status()["status"]
again = subprocess.run(run).returncode
print(json.dumps([seen, again, [stranger.poll() for stranger in strangers]]))
"""


def can_give_numbers_away() -> bool:
    asked = [*NAMESPACE, "sh", "-c", "echo 100 > /proc/sys/kernel/ns_last_pid"]
    try:
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


if can_give_numbers_away():  # else the tests of the guardian and of leftovers alter what was written down instead

    def test_strangers_with_the_numbers_of_a_crashed_loop_are_left_alone(program: Program) -> None:
        program.settings()
        agent = program.agent(f"if [ -e ../again ]; then echo '{DONE}'; exit; fi\ntouch ../again; at_work; await_go_on")
        history = [*NAMESPACE, sys.executable, "-c", HISTORY, str(RALPH), agent]
        told = subprocess.run(
            history, cwd=program.workspace, env=program.environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False
        )
        assert told.returncode == 0, told.stderr.decode()
        seen, again, strangers = json.loads(told.stdout.splitlines()[-1])
        assert (seen, again) == ("crashed", 0), told.stdout.decode()
        assert strangers == [None, None, None]
