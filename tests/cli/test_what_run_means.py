"""Which loop `ralph run` means: each way a loop of that name can be, told by what the command does and says."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from program import COMPLETE, DONE, Program, Running

from ralphloop.process.identity import is_alive

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

CLAIM = f"echo '{DONE}'"
TICK = "sed -i.bak '0,/\\[ \\]/s//[x]/' PRD.md && rm PRD.md.bak; echo ticked"
HOLD = "at_work; await_go_on"
WORK = ("-p", "tidy up")


def started(program: Program, *more: str) -> Running:
    """A loop whose agent is at work and waits."""
    running = program.start("run", *WORK, "--agent-command", program.agent(f"{HOLD}; {CLAIM}"), *more)
    program.await_agent()
    return running


def test_a_loop_that_is_alive_is_refused_with_its_state(program: Program) -> None:
    running = started(program)
    second = program.run("run", *WORK, "--agent-command", program.agent(CLAIM, name="other.sh"))
    assert second.code == 2
    assert second.err == (
        f"ralph: loop project is running here (iteration 1, process {program.status()['project']['pid']}): "
        "see `ralph status`; a second loop needs its own --name\n"
    )
    assert program.run("resume", "project").code == 2
    program.go_on()
    assert running.end().code == 0
    assert program.calls() == [1]


def test_a_crashed_loop_is_resumed_and_the_agent_that_it_left_is_ended(program: Program) -> None:
    running = program.start("run", *WORK, "--agent-command", program.agent(f"if [ -e ../again ]; then {CLAIM}; else touch ../again; {HOLD}; fi"))
    agent = program.await_agent()
    program.crash(running)
    assert is_alive(agent)
    again = program.run("run", *WORK, "--agent-command", program.agent("", name="unused.sh"))
    assert again.code == 0, again
    assert "Resuming loop project: it had crashed in iteration 1." in again.out
    assert not is_alive(agent)
    assert [attempt["ending"] for attempt in program.attempts()] == ["lost", "ok"]


def test_an_interrupted_loop_is_resumed_and_says_so(program: Program) -> None:
    running = program.start("run", *WORK, "--agent-command", program.agent(f'if [ "$RALPH_ITERATION" = 1 ]; then {HOLD}; echo hi; else {CLAIM}; fi'))
    program.await_agent()
    running.signal(signal.SIGINT)
    running.await_err("shutting down")
    program.go_on()
    assert running.end().code == 130
    assert program.status()["project"]["status"] == "stopped"
    again = program.run("run", *WORK, "--agent-command", program.agent("", name="unused.sh"))
    assert again.code == 0, again
    assert "Resuming loop project: it was stopped in iteration 1." in again.out
    assert program.show()["runs"] == 2


def test_a_waiting_loop_is_resumed_and_says_so(program: Program) -> None:
    agent = program.agent(f'if [ "$(wc -l < ../calls)" = 1 ]; then exit 42; else {CLAIM}; fi')
    assert program.run("run", *WORK, "--agent-command", agent).code == 3
    again = program.run("run", *WORK, "--agent-command", agent)
    assert again.code == 0, again
    assert "Resuming loop project: it was waiting in iteration 1." in again.out


def test_a_failed_loop_is_explained_and_nothing_is_started(program: Program) -> None:
    missing = ("--agent-command", str(program.root / "no-such-agent"))
    assert program.run("run", *WORK, *missing).code == 4
    again = program.run("run", *WORK, "--agent-command", program.agent(CLAIM))
    assert again.code == 4
    assert "Loop project ended with failed: cannot start" in again.out
    assert "Nothing was started." in again.out
    assert "Go on with `ralph resume project`, or begin afresh with `ralph run --new`." in again.out
    assert program.calls() == []


def test_a_loop_that_met_its_limit_is_explained_and_goes_on_by_resume_with_a_higher_one(program: Program) -> None:
    agent = ("--agent-command", program.agent("date +%N > work; echo on it"))
    assert program.run("run", *WORK, *agent, "-m", "2").code == 1
    again = program.run("run", *WORK, *agent)
    assert again.code == 1
    assert "Loop project ended with limit: 2 of 2 iterations are used up. Nothing was started." in again.out
    assert "`ralph resume project -m N`" in again.out
    assert program.calls() == [1, 2]
    resumed = program.run("resume", "project", "-m", "3")
    assert resumed.code == 1
    assert "Resuming loop project: it had met a limit in iteration 2." in resumed.out
    assert "limits.iterations: 2 → 3" in resumed.out
    assert "Iteration 3/3" in resumed.out
    assert program.calls() == [1, 2, 3]
    assert program.status()["project"]["iteration"] == 3
    assert program.show()["limits"]["iterations"] == 3


def test_done_work_that_has_open_tasks_again_begins_a_new_loop(program: Program) -> None:
    program.tasks("one")
    agent = ("--agent-command", program.agent(f"{TICK}; echo '{COMPLETE}'"))
    assert program.run("run", *agent).code == 0
    program.tasks("two")
    again = program.run("run", *agent)
    assert again.code == 0, again
    assert "Resuming" not in again.out
    assert program.calls() == [1, 1]
    assert len(program.status()) == 2


def test_done_work_that_is_still_done_needs_no_agent(program: Program) -> None:
    program.tasks("one")
    agent = ("--agent-command", program.agent(f"{TICK}; echo '{COMPLETE}'"))
    assert program.run("run", *agent).code == 0
    for command in (("run", *agent), ("resume", "project")):
        again = program.run(*command)
        assert again.code == 0
        assert "Loop project is done" in again.out
    assert program.calls() == [1]
    assert len(program.status()) == 1


def test_work_that_is_complete_before_the_first_attempt_is_done_without_an_agent(program: Program) -> None:
    program.write("PRD.md", "- [x] one\n")
    ended = program.run("run", "--agent-command", program.agent("true"), "--gate", "true")
    assert ended.code == 0
    assert "done (proved): 1 gate green" in ended.out
    assert program.calls() == []


@pytest.mark.parametrize("work", [("-p", "tidy up more"), ("--task-file", "TODO.md"), ("-f", "PROMPT.md")])
def test_other_work_or_another_prompt_is_a_new_loop_even_where_the_last_one_failed(program: Program, work: tuple[str, ...]) -> None:
    program.tasks("one", path="TODO.md")
    program.write("PROMPT.md", "tidy up")
    agent = ("--agent-command", program.agent("echo on it"))
    assert program.run("run", *WORK, *agent, "-m", "1").code == 1
    again = program.run("run", *work, *agent, "-m", "1")
    assert "Nothing was started" not in again.out
    assert program.calls() == [1, 1]
    assert len(program.status()) == 2


def test_new_begins_afresh_whatever_the_loop_did_before(program: Program) -> None:
    agent = ("--agent-command", program.agent("echo on it"))
    assert program.run("run", *WORK, *agent, "-m", "1").code == 1
    again = program.run("run", *WORK, *agent, "-m", "1", "--new")
    assert again.code == 1
    assert "Iteration 1/1" in again.out
    assert program.calls() == [1, 1]
    assert len({loop["id"] for loop in program.status().values()}) == 2


def test_new_does_not_resume_a_loop_that_crashed(program: Program) -> None:
    program.crash(started(program))
    again = program.run("run", *WORK, "--new", "--agent-command", program.agent(CLAIM, name="other.sh"))
    assert again.code == 0, again
    assert "Resuming" not in again.out
    assert sorted(loop["status"] for loop in program.status().values()) == ["complete", "crashed"]


def test_a_default_name_that_is_taken_elsewhere_gets_a_suffix_and_says_so(program: Program) -> None:
    agent = ("--agent-command", program.agent(CLAIM))
    assert program.run("run", *WORK, *agent).code == 0
    elsewhere = program.root / "elsewhere" / "project"
    elsewhere.mkdir(parents=True)
    second = program.run("run", *WORK, *agent, cwd=elsewhere)
    assert second.code == 0
    assert f"The name project is taken by the loop in {program.workspace}; this one is called project-2." in second.out
    assert {name: loop["dir"] for name, loop in program.status().items()} == {"project": str(program.workspace), "project-2": str(elsewhere)}


def test_an_explicit_name_that_is_taken_elsewhere_is_an_error(program: Program) -> None:
    agent = ("--agent-command", program.agent(CLAIM))
    assert program.run("run", *WORK, *agent, "--name", "login").code == 0
    elsewhere = program.root / "elsewhere"
    elsewhere.mkdir()
    second = program.run("run", *WORK, *agent, "--name", "login", cwd=elsewhere)
    assert second.code == 2
    assert second.err == f"ralph: the name login is taken by the loop in {program.workspace}: choose another --name\n"
    assert program.calls() == [1]
    assert len(program.status()) == 1


def test_a_second_loop_on_the_same_task_file_is_refused_whatever_its_name(program: Program) -> None:
    program.tasks("one")
    first = program.start("run", "--name", "first", "--agent-command", program.agent(f"{HOLD}; {TICK}; echo '{COMPLETE}'"))
    program.await_agent()
    link = program.root / "link"
    link.symlink_to(program.workspace)
    for place in (program.workspace, link):
        second = program.run("run", place, "--name", "second", "--agent-command", program.agent("true", name="other.sh"))
        assert second.code == 2
        assert second.err.startswith(f"ralph: another loop is working on {program.workspace / 'PRD.md'} (process ")
        assert second.err.count("\n") == 1
    program.go_on()
    assert first.end().code == 0
    assert program.calls() == [1]
    assert list(program.status()) == ["first"]


def test_two_loops_of_different_names_and_different_work_share_a_workspace(program: Program) -> None:
    running = started(program, "--name", "first")
    second = program.run("run", "-p", "other work", "--name", "second", "--agent-command", program.agent(CLAIM, name="other.sh"))
    assert second.code == 0, second
    program.go_on()
    assert running.end().code == 0


def test_a_workspace_is_the_same_by_every_path_that_leads_to_it(program: Program, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(program.workspace)
    agent = ("--agent-command", program.agent("echo on it"))
    assert program.run("run", *WORK, *agent, "-m", "1").code == 1
    again = program.run("run", tmp_path / "link", *WORK, *agent, cwd=tmp_path)
    assert "Loop project ended with limit" in again.out
    assert json.loads(program.run("status", "--json").out)["sessions"]["project"]["dir"] == str(program.workspace)


def test_limits_on_the_command_line_hold_for_a_loop_that_is_resumed(program: Program) -> None:
    agent = program.agent("exit 42")
    assert program.run("run", *WORK, "--agent-command", agent).code == 3
    flags = ("-m", "4", "--max-minutes", "7", "--max-cost", "2.5", "--max-calls", "9")
    assert program.run("run", *WORK, "--agent-command", agent, *flags).code == 3
    limits = program.show()["limits"]
    assert (limits["iterations"], limits["minutes"], limits["cost_usd"], limits["calls"]) == (4, 7.0, 2.5, 9)
