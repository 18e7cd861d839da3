"""Loops that an agent starts: they live on when the agent ends, are waited for when the work is complete, and never outlive their parent."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from program import ALONE, DONE, Program, Running

from ralphloop.core.identity import ProcessIdentity
from ralphloop.core.messages import LoopEnded
from ralphloop.process.identity import is_alive

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

FINISH = 'echo "It works." > "$TASK_FOLDER/DONE"'
CHILD = f"at_work child-at-work; await_go_on child-goes-on; {FINISH}"
STARTING = {
    "run in the background": 'ralph run --task-dir "$TASK_FOLDER/form" --agent-command "{child}" > "$root/words" 2>&1 &',
    "start": 'ralph start --task-dir "$TASK_FOLDER/form" --agent-command "{child}" > "$root/words"',
}


@pytest.fixture
def task(program: Program) -> Path:
    """A task, with a smaller one in it for a child."""
    program.environ |= {"RALPH_LIMITS__DELAY_S": "0", "RALPH_LIMITS__BACKOFF_S": "0", "RALPH_AGENT__GRACE_S": "0.2"}
    program.task(path="login/form")
    return program.task()


def start_child(program: Program, child: str = CHILD, *, how: str = "start") -> str:
    """What an agent says to start a child, and to stay until that is at work."""
    return STARTING[how].format(child=program.agent(child, name="child.sh")) + "\nawait_go_on"


def waiting_parent(program: Program, task: Path, *more: str, child: str = CHILD, how: str = "start") -> tuple[Running, ProcessIdentity]:
    """A loop whose work is complete and whose child is at work, and the agent of that child."""
    agent = program.agent(f"{start_child(program, child, how=how)}; {FINISH}")
    running = program.start("run", "--task-dir", task, "--agent-command", agent, "--poll-interval", "0.05", *more)
    at_work = program.await_agent("child-at-work")
    program.go_on()
    return running, at_work


@pytest.mark.parametrize("how", STARTING)
def test_a_child_outlives_the_runs_of_its_parents_agent_and_is_waited_for_before_the_gates(program: Program, task: Path, how: str) -> None:
    stray = f'{ALONE} sh -c \'echo $$ > "$0/at-work"; exec sleep 600\' "$root" &'
    first = f"{stray} {start_child(program, how=how)}"
    agent = program.agent(f'if [ "$RALPH_ITERATION" = 1 ]; then {first}\nelse {FINISH}; fi')
    gate = 'test -e "$TASK_FOLDER/form/DONE"'
    running = program.start("run", "--task-dir", task, "--agent-command", agent, "--poll-interval", "0.05", "--gate", gate)
    left_behind, child = program.await_agent(), program.await_agent("child-at-work")
    program.go_on()
    running.await_out("wait    for 1 child loop, at most 5m0s: the work is complete")
    assert is_alive(child)
    assert not is_alive(left_behind), "only loops are spared"
    assert program.status()["form"]["status"] == "running"
    program.go_on("child-goes-on")
    ended = running.end()
    assert ended.code == 0, ended
    assert "wait    no child loop runs any more" in ended.out
    assert "done (proved): 1 gate green" in ended.out
    assert {name: loop["status"] for name, loop in program.status().items()} == {"login": "complete", "form": "complete"}
    assert [turn["number"] for turn in program.show("login")["iterations"]] == [1, 2]
    of_child, of_parent = program.entries("form")[-1], program.entries("login")[-1]
    assert isinstance(of_child, LoopEnded)
    assert of_child.at <= of_parent.at


def test_a_child_that_runs_for_too_long_is_ended_with_its_parent_and_done_is_kept(program: Program, task: Path) -> None:
    running, child = waiting_parent(program, task, "--wait-timeout", "0.2")
    loop = program.loop_process("form")
    ended = running.end()
    assert ended.code == 1, ended
    reason = "children still running: 1 child loop after 0.2 s"
    assert f"limit: {reason}" in ended.out
    assert (program.show("login")["outcome"]["kind"], program.show("login")["outcome"]["reason"]) == ("limit", reason)
    assert ("ERROR", reason) in program.posted(task)
    assert (task / "DONE").exists()
    assert not is_alive(child)
    assert not is_alive(loop)
    assert program.show("form")["outcome"]["kind"] == "interrupted"
    again = program.run("resume", "login")
    assert again.code == 0, again
    assert len(program.attempts("login")) == 1, "nothing but the child was missing"


def test_a_loop_that_is_stopped_while_it_waits_for_its_children_ends_them(program: Program, task: Path) -> None:
    running, child = waiting_parent(program, task)
    running.await_out("wait    for 1 child loop")
    stopped = program.run("stop", "login")
    assert (stopped.code, stopped.err) == (0, "")
    assert running.end().code == 130
    assert not is_alive(child)
    assert {name: loop["status"] for name, loop in program.status().items()} == {"login": "stopped", "form": "stopped"}


@pytest.mark.parametrize(
    ("crime", "what"), [('echo "Do nothing." > "$TASK_FOLDER/../TASK.md"', "changed"), ('rm "$TASK_FOLDER/../TASK.md"', "deleted")]
)
def test_what_a_child_did_to_the_task_of_its_parent_is_undone(program: Program, task: Path, crime: str, what: str) -> None:
    before = (task / "TASK.md").read_text()
    child = f"at_work child-at-work; await_go_on child-goes-on; {crime}; {FINISH}"
    running, _ = waiting_parent(program, task, child=child)
    running.await_out("wait    for 1 child loop")
    program.go_on("child-goes-on")
    ended = running.end()
    assert ended.code == 0, ended
    assert f"TASK.md says what is to be done, and was {what}; it is as it was." in ended.out
    assert (task / "TASK.md").read_text() == before


@pytest.mark.parametrize("how", STARTING)
@pytest.mark.parametrize("killed", ["the loop", "its guardian"])
def test_a_child_does_not_outlive_a_parent_that_is_killed(program: Program, task: Path, killed: str, how: str) -> None:
    agent = program.agent(f"{start_child(program, how=how)}; at_work; await_go_on")
    running = program.start("run", "--task-dir", task, "--agent-command", agent)
    child, child_loop = program.await_agent("child-at-work"), program.loop_process("form")
    program.go_on()
    own, loop = program.await_agent(), program.loop_process("login")
    os.kill(loop.pid if killed == "the loop" else running.process.pid, signal.SIGKILL)
    running.end()
    for process in (loop, own, child_loop, child):
        program.await_end(process)


def test_a_child_of_a_loop_that_was_killed_with_its_guardian_is_ended_when_the_loop_goes_on(program: Program, task: Path) -> None:
    again = program.root / "again"
    first = f"touch {again}; {start_child(program)}; at_work; await_go_on"
    arguments = ("run", "--task-dir", task, "--agent-command", program.agent(f"if [ -e {again} ]; then {FINISH}; else {first}; fi"))
    running = program.start(*arguments)
    child, child_loop = program.await_agent("child-at-work"), program.loop_process("form")
    program.go_on()
    program.await_agent()
    program.crash(running, "login")
    assert is_alive(child_loop)
    ended = program.run(*arguments)
    assert ended.code == 0, ended
    assert not is_alive(child_loop)
    program.await_end(child)


def test_the_agent_of_a_child_is_ended_too_when_nobody_is_left_to_end_it_and_it_is_deaf(program: Program, task: Path) -> None:
    again = program.root / "again"
    deaf = "trap '' TERM; at_work child-at-work; while :; do sleep 600; done"
    first = f"touch {again}; {start_child(program, deaf)}; at_work; await_go_on"
    arguments = ("run", "--task-dir", task, "--agent-command", program.agent(f"if [ -e {again} ]; then {FINISH}; else {first}; fi"))
    running = program.start(*arguments)
    child = program.await_agent("child-at-work")
    program.go_on()
    program.await_agent()
    program.crash(running, "login")
    assert program.run(*arguments).code == 0
    assert not is_alive(child)


def test_a_stop_returns_when_the_child_loops_have_ended_as_well(program: Program, task: Path) -> None:
    deaf = "trap '' TERM; at_work child-at-work; while :; do sleep 600; done"
    program.start("run", "--task-dir", task, "--agent-command", program.agent(f"{start_child(program, deaf)}; at_work; await_go_on"))
    child, child_loop = program.await_agent("child-at-work"), program.loop_process("form")
    program.go_on()
    program.await_agent()
    assert program.run("stop", "login", "--now").code == 0
    assert not any(map(is_alive, (child, child_loop)))


def test_a_child_may_work_in_the_directory_of_its_parent(program: Program) -> None:
    child = program.agent(f"echo '{DONE}'", name="child.sh")
    agent = program.agent(f"ralph run -p x --agent-command '{child}' > {program.root}/words && echo '{DONE}'")
    ended = program.run("run", "-p", "all of it", "--agent-command", agent)
    assert ended.code == 0, ended
    assert f"The name project is taken by the loop in {program.workspace}; this one is called project-2." in (program.root / "words").read_text()
    assert {name: loop["status"] for name, loop in program.status().items()} == {"project": "complete", "project-2": "complete"}


def test_a_child_of_other_work_than_a_task_folder_ends_with_its_parent(program: Program) -> None:
    child = program.agent("at_work child-at-work; await_go_on child-goes-on", name="child.sh")
    agent = program.agent(f"ralph start -p x --name form --agent-command '{child}' > /dev/null; await_go_on; echo '{DONE}'")
    running = program.start("run", "-p", "all of it", "--agent-command", agent)
    at_work = program.await_agent("child-at-work")
    loop = program.loop_process("form")
    program.go_on()
    assert running.end().code == 0
    assert not is_alive(at_work)
    assert not is_alive(loop)
    assert program.status()["form"]["outcome"] == "interrupted"


@pytest.mark.parametrize("command", ["run", "start"])
def test_a_loop_that_a_gate_starts_ends_with_the_gate_and_nobody_waits_for_it(program: Program, task: Path, command: str) -> None:
    child = program.agent("at_work child-at-work; await_go_on child-goes-on", name="child.sh")
    gate = f"ralph {command} -p x --name form --agent-command '{child}' > {program.root}/words 2>&1 & read -r word < {program.root}/go-on"
    running = program.start("run", program.workspace, "--task-dir", task, "--agent-command", program.agent(FINISH), "--gate", gate)
    at_work = program.await_agent("child-at-work")
    loop = program.loop_process("form")
    program.go_on()
    ended = running.end()
    assert ended.code == 0, ended
    assert "child loop" not in ended.out
    assert not is_alive(at_work)
    assert not is_alive(loop)
