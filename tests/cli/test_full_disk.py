"""The disk of the state home is full: the loop ends in one line, what was written is kept, and it goes on when there is space."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from program import DONE, PATIENCE_S, RALPH, Program

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

# $1 limits the first command; the rest is the command. What the agent said is taken away between the two.
TWICE = """
limit=$1; shift
(eval "$limit"; exec "$@") > ../first.out 2> ../first.err
echo $? > ../first.code
rm -f "$RALPH_STATE_HOME"/loops/*/1/1/events.ndjson
"$@" > ../second.out 2> ../second.err
echo $? > ../second.code
"$0" status > ../status
"""
MOUNT = 'mount -t tmpfs -o size=4m ralphloop-test "$RALPH_STATE_HOME" && exec "$@"'


@pytest.fixture(params=["a small disk", "a limit"])
def full_disk(program: Program, request: pytest.FixtureRequest) -> list[str]:
    """A command that runs another one twice, the first time with 4 MB of space: on a disk of its own, where that is allowed."""
    program.state.mkdir()
    twice = ["sh", "-c", TWICE, str(RALPH)]
    disk = ["unshare", "--mount", "sh", "-c", MOUNT, "sh"]
    if (
        request.param == "a small disk"
        and shutil.which("unshare")
        and subprocess.run([*disk, "true"], env=program.environ, check=False).returncode == 0
    ):
        return [*disk, *twice, "true"]
    return [*twice, "ulimit -f 400"]


def test_a_full_disk_ends_the_loop_in_one_line_and_it_goes_on_when_there_is_space(program: Program, full_disk: list[str]) -> None:
    program.settings()
    agent = program.agent(f"if [ -e ../again ]; then echo '{DONE}'; exit; fi; touch ../again; head -c 8000000 /dev/zero | tr '\\0' x")
    command = [*full_disk, str(RALPH), "run", "-p", "x", "--agent-command", agent]
    subprocess.run(command, cwd=program.workspace, env=program.environ, stdin=subprocess.DEVNULL, check=True, timeout=PATIENCE_S)
    left = {path.name: path.read_text() for path in program.root.iterdir() if path.is_file()}
    assert (left["first.code"], left["second.code"]) == ("4\n", "0\n"), left
    assert left["first.err"].startswith(f"ralph: the ledger {program.state / 'ledger.db'} cannot be used")
    assert left["first.err"].count("\n") == 1
    assert "Resuming loop project: it had crashed in iteration 1." in left["second.out"]
    assert "complete" in left["status"]
    assert program.calls() == [1, 1]
