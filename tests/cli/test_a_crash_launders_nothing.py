"""Ralph is killed while an agent breaks the rules: whatever is run next, the disk is judged first."""

from __future__ import annotations

import json

import pytest
from program import DONE, Program

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

CLAIM = f"echo '{DONE}'"
TICK = "sed -i.bak '0,/\\[ \\]/s//[x]/' PRD.md && rm PRD.md.bak; echo ticked"


def kill_while(program: Program, crime: str, *arguments: str, name: str = "project") -> None:
    """A loop whose first agent commits the crime and never comes back; every later one does a task."""
    agent = program.agent(f"if [ -e ../again ]; then {TICK}; else touch ../again; {crime}; at_work; await_go_on; fi")
    running = program.start("run", *arguments, "--agent-command", agent)
    program.await_agent()
    program.crash(running, name)


def test_settings_that_the_agent_rewrote_are_not_those_of_the_next_run(program: Program) -> None:
    program.tasks("One", "Two")
    program.settings(limits={"backoff_s": 0}, gates=[{"command": "! grep -q '\\[ \\]' PRD.md"}])
    before = (program.workspace / ".ralph/settings.json").read_bytes()
    forged = json.dumps({"work": {"task_file": "other.md"}})
    kill_while(program, f"echo '- [x] all' > other.md; echo '{forged}' > .ralph/settings.json")
    again = program.run("run", "--agent-command", program.agent("", name="unused.sh"))
    assert again.code == 0, again
    assert "done (proved)" in again.out
    assert ".ralph/settings.json is protected and was changed; it is as it was." in again.out
    assert (program.workspace / ".ralph/settings.json").read_bytes() == before
    assert (program.workspace / "PRD.md").read_text().count("- [x]") == 2


@pytest.mark.parametrize("garbage", ["garbage", '{"limits": 7}'])
def test_settings_that_the_agent_made_unreadable_do_not_stop_a_resume(program: Program, garbage: str) -> None:
    program.tasks("One")
    program.settings(limits={"backoff_s": 0})
    kill_while(program, f"echo '{garbage}' > .ralph/settings.json", "--gate", "true")
    assert program.run("resume", "project").code == 0


def test_a_task_that_was_deleted_in_a_crash_is_back_before_other_work_is_done(program: Program) -> None:
    program.tasks("One", "Two")
    program.settings(limits={"backoff_s": 0})
    kill_while(program, "printf -- '- [x] One\\n' > PRD.md", "--gate", "true")
    assert program.run("run", "-p", "hello", "--agent-command", program.agent(CLAIM, name="other.sh")).code == 0
    assert "- [ ] Two" in (program.workspace / "PRD.md").read_text()


def test_a_task_list_that_was_deleted_in_a_crash_is_back_and_its_loop_goes_on(program: Program) -> None:
    program.tasks("One", "Two")
    program.settings(limits={"backoff_s": 0})
    kill_while(program, "rm PRD.md", "--gate", "true")
    again = program.run("run", "--agent-command", program.agent("", name="unused.sh"))
    assert again.code == 0, again
    assert (program.workspace / "PRD.md").read_text().count("- [x]") == 2


def test_what_a_loop_that_is_begun_afresh_finds_is_judged_as_well(program: Program) -> None:
    program.tasks("One", "Two")
    program.settings(limits={"backoff_s": 0})
    kill_while(program, "printf -- '- [x] One\\n' > PRD.md", "--gate", "true")
    assert program.run("run", "--new", "--gate", "true", "--agent-command", program.agent(TICK, name="other.sh")).code == 0
    assert "- [x] Two" in (program.workspace / "PRD.md").read_text()
