"""`ralph start`, `stop` and `tell`: a loop without a terminal, and what people may still ask of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from program import DONE, RALPH, Ended, Program

from ralphloop.core.identity import ProcessIdentity
from ralphloop.core.messages import AttemptStarted
from ralphloop.process.identity import is_alive

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

CLAIM = f"echo '{DONE}'"
HOLD = "at_work; await_go_on"
WORK = ("-p", "tidy up")


def started(program: Program, script: str, *more: str) -> tuple[Ended, ProcessIdentity, ProcessIdentity]:
    """A detached loop whose first agent is at work: what `start` left, that agent, and the process of the loop."""
    name = more[more.index("--name") + 1] if "--name" in more else "project"
    ended = program.run("start", *WORK, "--agent-command", program.agent(script, name=f"{name}.sh"), *more)
    assert ended.code == 0, ended
    return ended, program.await_agent(), program.loop_process(name)


def log(program: Program, name: str = "project") -> str:
    return (program.workspace / ".ralph/logs" / f"{name}.log").read_text()


# --- start ------------------------------------------------------------------------------------------------------------


def test_start_returns_once_the_loop_runs_says_where_its_words_go_and_holds_no_pipe_of_its_starter(program: Program) -> None:
    """`run` waits for the end of the starter's output and error pipe, and the loop still runs when that has come."""
    ended, agent, loop = started(program, f"{HOLD}; echo Everything is tidy.; {CLAIM}")
    path = program.workspace / ".ralph/logs/project.log"
    assert ended.out == f"Loop project runs, detached. `ralph status` shows it, `ralph stop project` ends it. Its words: {path}\n"
    assert ended.err == ""
    assert is_alive(agent)
    assert program.status()["project"]["status"] == "running"
    program.go_on()
    program.await_end(loop)
    assert program.status()["project"]["status"] == "complete"
    words = log(program)
    assert re.search(r"^\[\d\d:\d\d:\d\d\] done \(attested: nothing was checked\)", words, re.MULTILINE)
    assert "Everything is tidy." in words
    assert (program.workspace / ".ralph/.gitignore").read_text().count("/logs/") == 1


def test_a_detached_loop_is_in_a_session_of_its_own_and_a_hang_up_does_not_end_it(program: Program) -> None:
    _, _, loop = started(program, f"{HOLD}; {CLAIM}")
    guardian = os.getsid(loop.pid)
    assert guardian not in {os.getsid(0), loop.pid}
    for pid in (loop.pid, guardian):
        os.kill(pid, signal.SIGHUP)
    program.go_on()
    program.await_end(loop)
    assert program.status()["project"]["status"] == "complete"


@pytest.mark.parametrize("to", ["the loop", "its guardian"])
def test_a_termination_of_a_detached_loop_is_urgent_at_once(program: Program, to: str) -> None:
    _, agent, loop = started(program, HOLD)
    os.kill(loop.pid if to == "the loop" else os.getsid(loop.pid), signal.SIGTERM)
    program.await_end(loop)
    assert not is_alive(agent)
    assert program.status()["project"] | {"status": "stopped", "outcome": "interrupted"} == program.status()["project"]
    assert "interrupted: " in log(program)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param((), "no work found in ", id="no work"),
        pytest.param(("--task-dir", "nowhere"), "nowhere is not there", id="no such task"),
        pytest.param(("--task-dir", "."), "the task TASK.md: there is no such file in ", id="no task in it"),
        pytest.param(("-p", "x", "--agent", "cladue"), 'unknown agent "cladue"; did you mean "claude"?', id="no such agent"),
        pytest.param(("-p", "x", "-n", "a/b"), "'a/b' is no name for a loop", id="no name"),
        pytest.param(("-p", "x", "-m", "50"), "-m is the model here; the number of iterations is --max-iterations", id="-m as of run"),
        pytest.param(("-p", "x", "--host", "cloud"), "'cloud' is not one of 'detached', 'foreground'", id="no such host"),
    ],
)
def test_a_mistake_is_told_on_the_terminal_and_nothing_is_started(program: Program, arguments: tuple[str, ...], words: str) -> None:
    ended = program.run("start", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
    assert len(ended.err.splitlines()) == 1
    assert not program.state.exists()
    assert program.files() == set()


def test_the_same_letter_means_iterations_for_run_and_a_word_gets_that_hint(program: Program) -> None:
    ended = program.run("run", *WORK, "-m", "opus")
    assert (ended.code, ended.out) == (2, "")
    assert "'opus' is not a number of iterations (-m is the number of iterations here; the model is --model)" in ended.err


def test_a_log_that_cannot_be_written_is_told_before_the_loop_begins(program: Program) -> None:
    (program.workspace / ".ralph").symlink_to(program.root / "tmp")
    ended = program.run("start", *WORK, "--agent-command", program.agent(CLAIM))
    assert ended.code != 0
    assert ".ralph" in ended.err
    assert program.status() == {}
    assert program.calls() == []


def test_a_loop_that_was_stopped_stays_stopped_where_its_log_cannot_be_written(program: Program) -> None:
    program.settings(limits={"delay_s": 600})
    running = program.start("run", *WORK, "--agent-command", program.agent("echo on it"))
    running.await_out("\nwait    ")
    assert program.run("stop", "project").code == 0
    running.end()
    program.write(".ralph/logs", "no directory")
    ended = program.run("start", *WORK, "--agent-command", program.agent("echo on it"))
    assert (ended.code, program.status()["project"]["status"]) == (2, "stopped")
    assert "the log of a detached loop" in ended.err


def test_what_the_starter_had_open_is_not_held_for_days(program: Program) -> None:
    ours, theirs = os.pipe()
    with subprocess.Popen(
        [RALPH, "start", *WORK, "--agent-command", program.agent(f"{HOLD}; {CLAIM}")],
        cwd=program.workspace,
        env=program.environ,
        pass_fds=[theirs],
        stdout=subprocess.DEVNULL,
    ) as starter:
        os.close(theirs)
    assert starter.returncode == 0
    program.await_agent()
    assert os.read(ours, 1) == b"", "nobody holds the other end any more"
    os.close(ours)
    program.go_on()


def test_words_that_the_terminal_cannot_show_are_no_reason_to_say_that_the_start_failed(program: Program) -> None:
    odd = program.root / "é"
    odd.mkdir()
    command = ("start", odd, *WORK, "--agent-command", program.agent(CLAIM))
    assert program.run(*command, env={"PYTHONIOENCODING": "ascii"}).code == 0


def test_a_loop_that_runs_detached_is_not_started_twice(program: Program) -> None:
    _, _, loop = started(program, f"{HOLD}; {CLAIM}")
    for command in ("start", "run"):
        second = program.run(command, *WORK, "--agent-command", program.agent(CLAIM, name="other.sh"))
        assert (second.code, second.out) == (2, "")
        assert f"loop project is running here (iteration 1, process {loop.pid})" in second.err
    program.go_on()
    program.await_end(loop)
    assert program.calls() == [1]


def test_start_goes_on_with_a_loop_that_was_stopped_and_its_log_grows(program: Program) -> None:
    _, _, loop = started(program, f'if [ "$RALPH_ITERATION" = 1 ]; then {HOLD}; echo half; else {CLAIM}; fi')
    stopping = program.start("stop", "project")
    stopping.await_out("waiting for it")
    program.go_on()
    assert stopping.end().code == 0
    program.await_end(loop)
    again = program.run("start", *WORK, "--agent-command", program.agent("", name="unused.sh"))
    assert again.code == 0, again
    assert "Resuming loop project: it was stopped in iteration 1." in again.out
    assert program.run("stop", "project").code == 0
    assert program.status()["project"]["status"] == "complete"
    assert "half" in log(program)
    assert "done (attested" in log(program)


def test_the_foreground_is_a_host_like_any_other(program: Program) -> None:
    ended = program.run("start", *WORK, "--host", "foreground", "--agent-command", program.agent(CLAIM))
    assert ended.code == 0, ended
    assert "done (attested" in ended.out
    assert not (program.workspace / ".ralph/logs").exists()


# --- stop -------------------------------------------------------------------------------------------------------------


def test_stop_waits_for_the_current_operation(program: Program) -> None:
    _, agent, _ = started(program, f"{HOLD}; sleep 1.2; echo finished > work; echo I did it")  # the loop looks for requests meanwhile
    stopping = program.start("stop", "project")
    stopping.await_out("Loop project is at work (run agent, 1 iteration so far); waiting for it.\n")
    assert is_alive(agent)
    program.go_on()
    ended = stopping.end()
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[-1].startswith("Loop project has ended: interrupted, stopped by ")
    assert (program.workspace / "work").read_text() == "finished\n"
    assert [attempt["ending"] for attempt in program.attempts()] == ["ok"]
    assert program.calls() == [1]


@pytest.mark.parametrize("host", ["detached", "foreground"])
def test_stop_now_ends_the_agent(program: Program, host: str) -> None:
    program.settings(agent={"grace_s": 0.2})
    running = program.start("start", *WORK, "--host", host, "--agent-command", program.agent(f"trap '' TERM; {HOLD}"))
    agent = program.await_agent()
    ended = program.run("stop", "project", "--now")
    assert (ended.code, ended.err) == (0, "")
    assert "Loop project has ended: interrupted, " in ended.out
    assert not is_alive(agent)
    assert [attempt["ending"] for attempt in program.attempts()] == ["interrupted"]
    assert running.end().code == (0 if host == "detached" else 130)


def test_stop_now_ends_a_gate_and_the_gates_run_again_when_the_loop_goes_on(program: Program) -> None:
    gate = f"if [ -e {program.root}/again ]; then exit 0; fi; touch {program.root}/again; echo $$ > {program.root}/at-work; exec sleep 600"
    _, gate_process, _ = started(program, CLAIM, "--gate", gate)
    assert program.run("stop", "project", "--now").code == 0
    assert not is_alive(gate_process)
    again = program.run("resume", "project")
    assert again.code == 0, again
    assert "done (proved): 1 gate green" in again.out
    assert program.calls() == [1]


def test_stop_ends_a_wait_at_once(program: Program) -> None:
    running = program.start("run", *WORK, "--delay", "600", "--agent-command", program.agent("echo on it"))
    running.await_out("\nwait    until ")
    assert program.run("stop", "project").code == 0
    assert running.end().code == 130


def test_every_loop_that_is_stopped_is_told_of_as_it_ended(program: Program) -> None:
    """The second ends while the first is still waited for."""
    _, _, first = started(program, HOLD, "--name", "first")
    _, _, second = started(program, f"at_work; await_go_on child-goes-on; {CLAIM}", "--name", "second")
    stopping = program.start("stop", "first", "second")
    stopping.await_out("Loop first is at work")
    program.go_on("child-goes-on")
    program.await_end(second)
    program.go_on()
    ended = stopping.end()
    assert (ended.code, ended.err) == (0, "")
    assert "Loop second has ended: done, nothing was checked.\n" in ended.out
    assert "Loop first has ended: interrupted, stopped by " in ended.out
    program.await_end(first)


def test_what_does_not_run_cannot_be_stopped_and_that_is_said(program: Program) -> None:
    assert program.run("run", *WORK, "--agent-command", program.agent(CLAIM)).code == 0
    ended = program.run("stop", "project")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "Loop project does not run: there is nothing to stop. `ralph status` tells how it is.\n"


def test_a_name_that_is_unknown_is_refused_with_the_nearest_and_no_loop_is_stopped(program: Program) -> None:
    _, agent, loop = started(program, f"{HOLD}; {CLAIM}")
    for command in (("stop", "project", "projekt"), ("tell", "projekt", "x")):
        ended = program.run(*command)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err == "ralph: there is no loop called projekt: did you mean project?\n"
    assert is_alive(agent)
    program.go_on()
    program.await_end(loop)
    assert program.status()["project"]["status"] == "complete"


# --- tell -------------------------------------------------------------------------------------------------------------

ADVICE = "Use the parser in src/parse.py, and $HOME `as` it is."


def test_what_people_tell_a_loop_is_in_its_next_prompt_and_in_no_other(program: Program) -> None:
    _, _, loop = started(program, f'case "$RALPH_ITERATION" in 1) {HOLD}; echo on it;; 3) {CLAIM};; *) echo on it;; esac')
    told = program.run("tell", "project", "Use the parser in src/parse.py,", "and $HOME `as` it is.")
    assert (told.code, told.err) == (0, "")
    assert told.out == "Loop project is told; its next prompt carries it, if there is one.\n"
    program.go_on()
    program.await_end(loop)
    assert [ADVICE in prompt for prompt in program.prompts()] == [False, True, False]
    assert "told    by " in log(program)


@pytest.mark.parametrize("killed", ["the loop", "the loop and its guardian"])
def test_what_people_told_is_carried_again_where_the_attempt_that_carried_it_is_lost(program: Program, killed: str) -> None:
    program.settings()
    script = f'case "$(wc -l < "$root/calls" | tr -d " ")" in 1|2) {HOLD}; echo on it;; 5) {CLAIM};; *) echo on it;; esac'
    arguments = ("run", *WORK, "--agent-command", program.agent(script))
    carrying = program.start(*arguments)
    program.await_agent()
    assert program.run("tell", "project", ADVICE).code == 0
    program.go_on()
    agent, loop = program.await_agent(), program.loop_process()
    if killed == "the loop and its guardian":
        program.crash(carrying)
        assert is_alive(agent)
    else:
        os.kill(loop.pid, signal.SIGKILL)
        carrying.end()
    again = program.run(*arguments)
    assert again.code == 0, again
    assert not is_alive(agent)
    assert [attempt["ending"] for attempt in program.attempts()] == ["ok", "lost", "ok", "ok", "ok"]
    assert [ADVICE in prompt for prompt in program.prompts()] == [False, True, True, False, False]
    assert [len(entry.tells) for entry in program.entries() if isinstance(entry, AttemptStarted)] == [0, 1, 1, 0, 0]


def test_a_loop_that_does_not_run_carries_what_it_was_told_when_it_goes_on(program: Program) -> None:
    agent = program.agent(f'if [ "$(wc -l < "$root/calls")" -eq 1 ]; then exit 42; else {CLAIM}; fi')
    assert program.run("run", *WORK, "--agent-command", agent).code == 3
    told = program.run("tell", "project", ADVICE)
    assert told.out == "Loop project is told; its next prompt carries it, once it goes on (`ralph resume project`).\n"
    assert program.run("resume", "project").code == 0
    assert [ADVICE in prompt for prompt in program.prompts()] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(("project", "more"), "loop project is done, and has no next prompt: write it into the work, then `ralph run`", id="done"),
        pytest.param(("project", " ", ""), "the message is empty: write what the agent should know", id="nothing said"),
    ],
)
def test_a_message_that_nobody_would_read_is_refused(program: Program, arguments: tuple[str, ...], words: str) -> None:
    assert program.run("run", *WORK, "--agent-command", program.agent(CLAIM)).code == 0
    ended = program.run("tell", *arguments)
    assert (ended.code, ended.out, ended.err) == (2, "", f"ralph: {words}\n")


def test_no_message_changes_how_a_terminal_behaves(program: Program) -> None:
    _, _, loop = started(program, f"{HOLD}; {CLAIM}")
    assert program.run("tell", "project", "\x1b]0;owned\x07hi\x1b[31m").code == 0
    program.go_on()
    program.await_end(loop)
    shown = Path(program.workspace / ".ralph/logs/project.log").read_text() + program.run("show", "project").out
    assert "hi" in shown
    assert not any(char in shown for char in "\x1b\x07")


IGNORING = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_a_start_under_a_parent_that_ignores_sigchld_tells_what_is_wrong_as_ever(program: Program) -> None:
    running = program.start("-c", IGNORING, RALPH, "start", "--task-file", "nope.md", executable=sys.executable)
    ended = running.end()
    assert (ended.code, ended.out) == (2, ""), ended
    assert ended.err == program.run("start", "--task-file", "nope.md").err


def test_stop_ends_the_agent_of_a_loop_that_was_killed_with_its_guardian(program: Program) -> None:
    running = program.start("run", "-p", "x", "--agent-command", program.agent("at_work; await_go_on"))
    agent = program.await_agent()
    program.crash(running)
    assert is_alive(agent)
    ended = program.run("stop", "project")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "Loop project has crashed. `ralph resume project` goes on with it.\nLoop project had left 1 process running: ended now.\n"
    assert not is_alive(agent)
    assert program.status()["project"]["status"] == "crashed"


def test_what_no_prompt_carried_is_said_when_the_loop_is_done(program: Program) -> None:
    agent = program.agent(f"at_work; await_go_on; echo '{DONE}'")
    running = program.start("run", "-p", "x", "--agent-command", agent)
    program.await_agent()
    assert program.run("tell", "project", "do Y first").code == 0
    program.go_on()
    ended = running.end()
    assert ended.code == 0, ended
    assert " said: do Y first\n" in ended.out.partition("note    no prompt carried what ")[2]
