"""Loops that an agent starts: they live on when the agent ends, are waited for when the work is complete, and never outlive their parent."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from program import ALONE, DONE, Program, Running

from ralphloop.core.identity import ProcessIdentity
from ralphloop.core.messages import ChangesJudged, LoopEnded, LoopResumed
from ralphloop.files.children import enlist, enlisted
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


def test_a_child_that_ends_with_its_parent_was_interrupted_and_can_go_on(program: Program) -> None:
    """In a repository as well: nobody but the child itself ends what it runs, git among it."""
    subprocess.run(["git", "init", "-q", program.workspace], env=program.environ, check=True)
    child = program.agent(f"[ -e $root/again ] && echo '{DONE}' && exit; at_work child-at-work; await_go_on child-goes-on", name="child.sh")
    start = f"ralph start -p x --name form --agent-command '{child}' > /dev/null"
    agent = program.agent(f"{start}; await_go_on; echo '{DONE}'")
    running = program.start("run", "-p", "all of it", "--agent-command", agent)
    at_work = program.await_agent("child-at-work")
    program.go_on()
    ended = running.end()
    assert ended.code == 0, ended
    assert "1 child loop that still ran ended with it." in ended.out
    assert not is_alive(at_work)
    assert [entry.ending for entry in program.entries("form") if isinstance(entry, ChangesJudged)] == ["interrupted"]
    assert program.show("form")["outcome"]["kind"] == "interrupted"
    (program.root / "again").touch()
    again = program.run("run", "-p", "x", "--name", "form", "--agent-command", child)
    assert (again.code, "Resuming loop form: it was stopped in iteration 1." in again.out) == (0, True), again


def test_the_agent_of_a_child_has_the_grace_of_its_own_loop(program: Program, task: Path) -> None:
    program.environ["RALPH_AGENT__GRACE_S"] = "600"
    tidy = 'trap "sleep 0.5; touch $root/tidied; exit" TERM; at_work child-at-work; while :; do sleep 0.01; done'
    running, child = waiting_parent(program, task, child=tidy)
    running.await_out("wait    for 1 child loop")
    assert program.run("stop", "login").code == 0
    assert not is_alive(child)
    assert (program.root / "tidied").exists()


@pytest.mark.parametrize("junk", ["mkdir", "mkfifo", "ln -s nowhere", "touch"])
def test_what_an_agent_puts_among_the_children_harms_nothing(program: Program, task: Path, junk: str) -> None:
    crime = f'mkdir -p "$RUN_FOLDER/../../children"; {junk} "$RUN_FOLDER/../../children/1"'
    ended = program.run("run", "--task-dir", task, "--agent-command", program.agent(f"{crime}; sleep 600 & {FINISH}"))
    assert (ended.code, ended.err) == (0, ""), ended
    assert "note    1 process that it left behind was ended" in ended.out
    assert "child loop" not in ended.out


def test_children_that_begin_at_the_same_moment_are_all_enlisted(tmp_path: Path) -> None:
    for loop in map(str, range(20)):
        (tmp_path / "loops" / loop).mkdir(parents=True)
        together = Barrier(8)

        def begin(pid: int, loop: str = loop, together: Barrier = together) -> None:
            together.wait()
            enlist(str(tmp_path), loop, pid, b"%d" % pid)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(begin, range(8)))
        assert sorted(enlisted(str(tmp_path), loop)) == [b"%d" % pid for pid in range(8)]


def test_children_that_begin_at_the_same_moment_each_get_a_name(program: Program) -> None:
    child = program.agent("at_work child-at-work; await_go_on child-goes-on", name="child.sh")
    begin = f"ralph run -p {{}} --agent-command '{child}' > /dev/null 2> $root/said-{{}} &"
    agent = program.agent("\n".join(begin.format(number, number) for number in range(3)) + f"\nawait_go_on; echo '{DONE}'")
    running = program.start("run", "-p", "all of it", "--agent-command", agent)
    for _ in range(3):
        program.await_agent("child-at-work")
    assert set(program.status()) == {"project", "project-2", "project-3", "project-4"}
    program.go_on()
    assert running.end().code == 0


def test_who_only_says_that_it_is_a_child_is_none(program: Program, task: Path) -> None:
    """The environment alone makes nobody a child: it would be waited for, and spared."""
    running = program.start("run", "--task-dir", task, "--agent-command", program.agent(f"at_work; await_go_on; {FINISH}"))
    program.await_agent()
    named = {"RALPH_RUN_ID": f"{program.status()['login']['id']}/1/1"}
    outside = program.agent("at_work child-at-work; await_go_on child-goes-on", name="outside.sh")
    stranger = program.start("run", "-p", "y", "--name", "outside", "--agent-command", outside, env=named)
    at_work = program.await_agent("child-at-work")
    program.go_on()
    ended = running.end()
    assert ended.code == 0, ended
    assert "child loop" not in ended.out
    assert is_alive(at_work)
    stranger.signal(signal.SIGTERM)
    stranger.signal(signal.SIGINT)
    assert stranger.end().code == 130


def test_the_time_for_child_loops_can_be_raised_when_the_loop_goes_on(program: Program, task: Path) -> None:
    running, _ = waiting_parent(program, task, "--wait-timeout", "0.2")
    ended = running.end()
    assert "next    ralph resume login --wait-timeout N   go on, with a higher limit" in ended.out
    assert program.run("resume", "login", "--wait-timeout", "900").code == 0
    (resumed,) = [entry for entry in program.entries("login") if isinstance(entry, LoopResumed)]
    assert resumed.changes == ("limits.wait_timeout_s: 0.2 → 900",)


def test_an_agent_that_says_the_same_again_goes_on_with_its_child(program: Program, task: Path) -> None:
    """Each run of an agent is the first one for it: it starts its child with the same words."""
    child = program.agent(f'if [ -e "$root/once" ]; then {FINISH}; else touch "$root/once"; exit 42; fi', name="child.sh")
    start = f'ralph run --task-dir "$TASK_FOLDER/form" -m 3 --agent-command "{child}" > $root/words 2>&1; echo $? >> $root/codes'
    agent = program.agent(f'{start}; [ "$RALPH_ITERATION" = 2 ] && {FINISH}; true')
    ended = program.run("run", "--task-dir", task, "--agent-command", agent)
    assert ended.code == 0, ended
    assert (program.root / "codes").read_text().split() == ["3", "0"], (program.root / "words").read_text()
