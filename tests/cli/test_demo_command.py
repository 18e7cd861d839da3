"""`ralph demo`: the whole promise on one screen, offline, for everybody who has just installed it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from program import Program

pytest_plugins = ["program_fixtures"]

CATCHES = [
    "claim   not believed: 3 tasks are still open",
    "gate    python3 check.py … failed with exit code 1",
    'undone  PRD.md: the open task "Write shout: HELLO, ADA!" (line 7) was deleted; it is back',
]


@pytest.mark.slow
def test_the_demo_shows_three_catches_and_ends_proved(program: Program) -> None:
    ended = program.run("demo", str(program.root / "demo"))
    assert ended.code == 0, ended
    assert [ended.out.count(catch) for catch in CATCHES] == [1, 1, 1]
    assert "done (proved): 1 gate green · 6 iterations" in ended.out
    messages = subprocess.run(
        ["git", "-C", program.root / "demo", "log", "--format=%s"], env=program.environ, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert "ralph: undo a change of PRD.md" in messages
    assert messages[-1] == "A plan with three tasks"
    assert (program.root / "demo" / "PRD.md").read_text().count("- [x] Write") == 3


@pytest.mark.slow
def test_the_demo_runs_without_git_and_without_a_directory(program: Program) -> None:
    """Everything but git: what is undone in the file is then all that there is to undo."""
    tools = program.root / "tools"
    tools.mkdir()
    for name, program_of_that_name in (("python3", sys.executable), ("sh", "/bin/sh")):
        (tools / name).symlink_to(program_of_that_name)
    ended = program.run("demo", env={"PATH": str(tools)})
    assert ended.code == 0, ended
    assert [ended.out.count(catch) for catch in CATCHES] == [1, 1, 1]
    assert "done (proved)" in ended.out
    assert program.files() == set()
