"""The guardian above a loop, through the installed program: whichever process is killed, no agent outlives Ralph, and the loop can go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from program import ALONE, DONE, PATIENCE_S, RALPH, Program, Running

from ralphloop.core.identity import ProcessIdentity
from ralphloop.process.identity import identify, is_alive, written
from ralphloop.process.kinship import children_of

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

WORK = ("run", "-p", "x")
CLAIM = f"echo '{DONE}'"
KILLED = "ralph: the loop was killed by signal 9; what it ran is ended."
SHUTTING_DOWN = "Received signal, shutting down..."

# A process in another session, and a daemon that forks twice and keeps neither environment nor descriptors. Both say that they are at work.
RUNAWAYS = """
import os, time
at_work = os.open("../at-work", os.O_WRONLY)
def say(): os.write(at_work, b"%d\\n" % os.getpid())
if not os.fork():
    os.setsid()
    say()
    time.sleep(600)
if not os.fork():
    os.setsid()
    if os.fork(): os._exit(0)
    say()
    for fd in 0, 1, 2, at_work: os.close(fd)
    os.execve("/bin/sleep", ["sleep", "600"], {})
"""
# What still can be found when loop and guardian are gone: by the name of the loop, or by the session of the agent.
FINDABLE = f"""
{ALONE} sh -c 'echo $$ > ../at-work; exec sleep 600' &
env -i sh -c 'echo $$ > ../at-work; exec sleep 600' &
"""


def at_work_once(program: Program, companions: str) -> str:
    """An agent that is at work with companions, until it is killed; the next one is done at once."""
    return program.agent(f"if [ -e ../again ]; then {CLAIM}; exit; fi\ntouch ../again; at_work\n{companions}\nawait_go_on")


def runaways(program: Program) -> str:
    (program.root / "agents" / "runaways.py").write_text(RUNAWAYS)
    return f"{sys.executable} -I -S ../agents/runaways.py"


@pytest.fixture
def family(program: Program) -> Iterator[tuple[Running, list[ProcessIdentity]]]:
    """A loop whose agent is at work, with all that it started."""
    running = program.start(*WORK, "--agent-command", at_work_once(program, runaways(program)))
    processes = [program.await_agent() for _ in range(3)]
    yield running, processes
    assert not any(map(is_alive, processes))


# --- kill -9 ---


def test_when_the_loop_is_killed_its_guardian_ends_what_it_ran_and_says_so(program: Program, family: tuple[Running, list[ProcessIdentity]]) -> None:
    running, processes = family
    os.kill(program.loop_process().pid, signal.SIGKILL)
    ended = running.end()
    assert not any(map(is_alive, processes))
    assert ended.code == 137
    assert ended.err == f"{KILLED} Go on with `ralph run` or `ralph resume`.\n"
    again = program.run(*WORK)
    assert again.code == 0, again
    assert "Resuming loop project: it had crashed in iteration 1." in again.out


def test_a_guardian_whom_nobody_hears_does_its_work_all_the_same(program: Program) -> None:
    running = program.start(*WORK, "--agent-command", program.agent("at_work; await_go_on"))
    agent, loop = program.await_agent(), program.loop_process()
    assert running.process.stderr is not None
    running.process.stderr.close()
    os.kill(loop.pid, signal.SIGKILL)
    assert running.process.wait() == 137
    assert not is_alive(agent)


def test_when_a_loop_that_ran_nothing_is_killed_its_guardian_says_so_too(program: Program) -> None:
    program.settings(limits={"delay_s": 600})
    running = program.start(*WORK, "--agent-command", program.agent("echo on it"))
    running.await_out("\nwait    until ")
    os.kill(program.loop_process().pid, signal.SIGKILL)
    ended = running.end()
    assert ended.code == 137
    assert KILLED in ended.err


def test_when_the_guardian_is_killed_the_loop_ends_what_it_runs_and_itself(program: Program, family: tuple[Running, list[ProcessIdentity]]) -> None:
    running, processes = family
    loop = program.loop_process()
    running.signal(signal.SIGKILL)
    program.await_end(loop)
    assert not any(map(is_alive, processes))
    outcome = program.show()["outcome"]
    assert outcome["kind"] == "interrupted"
    assert "the death of its guardian process" in outcome["reason"]
    assert [attempt["ending"] for attempt in program.attempts()] == ["interrupted"]
    again = program.run(*WORK)
    assert again.code == 0, again


def test_when_the_guardian_is_killed_a_loop_that_waits_ends(program: Program) -> None:
    program.settings(limits={"delay_s": 600})
    running = program.start(*WORK, "--agent-command", program.agent("echo on it"))
    running.await_out("\nwait    until ")
    loop = program.loop_process()
    running.signal(signal.SIGKILL)
    program.await_end(loop)
    assert program.show()["outcome"]["kind"] == "interrupted"


def test_when_both_are_killed_the_next_start_finds_and_ends_what_is_left(program: Program) -> None:
    running = program.start(*WORK, "--agent-command", at_work_once(program, FINDABLE))
    processes = [program.await_agent() for _ in range(3)]
    program.crash(running)
    assert all(map(is_alive, processes))
    with subprocess.Popen(["sleep", "600"], env={"PATH": os.defpath, "RALPH_RUN_ID": "project-0123abcd/1/1"}) as stranger:
        again = program.run(*WORK)
        spared = stranger.poll() is None
        stranger.kill()
    assert again.code == 0, again
    assert spared, "it belongs to another loop"
    assert not any(map(is_alive, processes))


def test_when_both_are_killed_an_agent_without_an_environment_is_found_by_its_session(program: Program) -> None:
    bare = f"exec env -i sh -c 'echo $$ > {program.root}/at-work; sleep 600 & wait'"
    running = program.start(*WORK, "--agent-command", at_work_once(program, bare))
    agent = program.await_agent()
    program.crash(running)
    assert is_alive(agent)
    again = program.run(*WORK)
    assert (again.code, "Loop project had left 2 processes running: ended now." in again.out) == (0, True), again
    assert not is_alive(agent)


def test_when_both_are_killed_a_process_with_the_number_of_the_agent_is_left_alone(program: Program) -> None:
    running = program.start(*WORK, "--agent-command", at_work_once(program, ""))
    agent = program.await_agent()
    program.crash(running)
    with subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; wait"], start_new_session=True, stdout=subprocess.PIPE) as stranger:
        assert stranger.stdout is not None
        leader, member = identify(stranger.pid), identify(int(stranger.stdout.readline()))
        assert leader is not None
        assert member is not None
        (note,) = program.state.glob("loops/*/1/1/process")
        note.write_bytes(written(leader._replace(started=str(int(leader.started) - 1))))
        again = program.run(*WORK)
        spared = is_alive(leader), is_alive(member)
        os.killpg(stranger.pid, signal.SIGKILL)
    assert again.code == 0, again
    assert spared == (True, True)
    assert not is_alive(agent)


# --- what the guardian was before ---


def start_by(program: Program, *launcher: str, arguments: tuple[str, ...]) -> Running:
    """Started by another program, that becomes `ralph` by `exec`."""
    argv = [*launcher, str(RALPH), *arguments]
    process = subprocess.Popen(
        argv,
        cwd=program.workspace,
        env=program.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    running = Running(process)
    program._running.append(running)
    return running


@pytest.mark.parametrize("killed", [False, True], ids=["a loop that ends", "a loop that is killed"])
def test_the_jobs_of_the_shell_that_became_ralph_are_left_alone(program: Program, killed: bool) -> None:
    """A job, and a daemon that a job leaves behind while the loop runs: both are children of the guardian."""
    job = "echo $$ > ../child-at-work; exec sleep 600"
    waiting = "while kill -0 $job; do sleep 0.01; done"  # until the guardian has buried the job
    daemon = f"read word < ../child-goes-on; job=$$ {ALONE} sh -c '{waiting}; echo $$ > ../child-at-work; exec sleep 600' &"
    shell = 'sh -c "$0" > /dev/null 2>&1 & sh -c "$1" > /dev/null 2>&1 & shift; exec "$@"'
    running = start_by(program, "sh", "-c", shell, job, daemon, arguments=(*WORK, "--agent-command", program.agent(f"at_work; await_go_on; {CLAIM}")))
    agent, jobs = program.await_agent(), [program.await_agent("child-at-work")]
    program.go_on("child-goes-on")
    jobs.append(program.await_agent("child-at-work"))
    if killed:
        os.kill(program.loop_process().pid, signal.SIGKILL)
    else:
        program.go_on()
    assert running.end().code == (137 if killed else 0)
    assert all(map(is_alive, jobs))
    assert not is_alive(agent)


IGNORE_SIGCHLD = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"


def test_a_parent_that_ignores_sigchld_makes_no_gate_green(program: Program) -> None:
    """Under such a parent every exit status reads 0."""
    arguments = (*WORK, "-m", "1", "--gate", "exit 3", "--agent-command", program.agent(CLAIM))
    ended = start_by(program, sys.executable, "-c", IGNORE_SIGCHLD, arguments=arguments).end()
    assert ended.code == 1, ended
    assert "failed with exit code 3" in ended.out
    assert [attempt["ending"] for attempt in program.attempts()] == ["ok"]


@pytest.mark.parametrize(
    ("code", "script", "more"),
    [
        pytest.param(0, CLAIM, (), id="done"),
        pytest.param(1, "echo on it", ("-m", "1"), id="limit"),
        pytest.param(2, CLAIM, ("--task-file", "nowhere.md"), id="config"),
        pytest.param(3, "exit 42", (), id="waiting"),
        pytest.param(4, CLAIM, ("--agent-command", "./no-such-program"), id="failed"),
    ],
)
def test_the_exit_code_of_the_loop_comes_through_the_guardian(program: Program, code: int, script: str, more: tuple[str, ...]) -> None:
    work = more if "--task-file" in more else ("-p", "x", *more)
    assert program.run("run", "--agent-command", program.agent(script), *work).code == code


# --- signals ---

TO: dict[str, Callable[[int, int], None]] = {"the guardian": os.kill, "its group": os.killpg}


@pytest.mark.parametrize("to", TO)
def test_one_sigint_is_one_signal_for_the_loop(program: Program, to: str) -> None:
    running = program.start(*WORK, "--agent-command", program.agent("at_work; await_go_on; echo finished > work"))
    program.await_agent()
    TO[to](running.process.pid, signal.SIGINT)
    running.await_err(SHUTTING_DOWN)
    program.go_on()
    ended = running.end()
    assert (ended.code, ended.err.count(SHUTTING_DOWN)) == (130, 1)
    assert (program.workspace / "work").exists()
    assert [attempt["ending"] for attempt in program.attempts()] == ["ok"]


@pytest.mark.parametrize("to", TO)
def test_a_hang_up_ends_nothing(program: Program, to: str) -> None:
    running = program.start(*WORK, "--agent-command", program.agent(f"at_work; await_go_on; {CLAIM}"))
    program.await_agent()
    TO[to](running.process.pid, signal.SIGHUP)
    os.kill(program.loop_process().pid, signal.SIGHUP)
    program.go_on()
    ended = running.end()
    assert (ended.code, ended.err) == (0, "")


def test_ctrl_z_lets_guardian_and_loop_stand_still_until_they_go_on(program: Program) -> None:
    running = program.start(*WORK, "--agent-command", program.agent(f"at_work; await_go_on; {CLAIM}"))
    program.await_agent()
    loop = program.loop_process()
    running.signal(signal.SIGTSTP)
    os.waitid(os.P_PID, running.process.pid, os.WSTOPPED)
    await_standstill(loop)
    running.signal(signal.SIGCONT)
    program.go_on()
    assert running.end().code == 0
    assert [attempt["ending"] for attempt in program.attempts()] == ["ok"]


def test_a_signal_that_comes_while_they_stand_still_is_not_lost(program: Program) -> None:
    running = program.start(*WORK, "--agent-command", program.agent("at_work; await_go_on"))
    program.await_agent()
    running.signal(signal.SIGTSTP)
    os.waitid(os.P_PID, running.process.pid, os.WSTOPPED)
    running.signal(signal.SIGINT)
    running.signal(signal.SIGCONT)
    running.await_err(SHUTTING_DOWN)
    program.go_on()
    assert running.end().code == 130


def await_standstill(process: ProcessIdentity) -> None:
    """Wait until the system has stopped it: nothing but its state tells."""
    deadline = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{process.pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"T":
        assert time.monotonic() < deadline, "it does not stand still"
        time.sleep(0.01)


# Python reads this when it starts: the import of the loop stands still until the test lets it go on.
HELD_IMPORT = """
import os, sys
class Hold:
    def find_spec(name, path=None, target=None):
        if name == "ralphloop.cli.hosted_run":
            with open("../at-work", "w") as at_work: print(os.getpid(), file=at_work)
            with open("../go-on") as go_on: go_on.readline()
sys.meta_path.insert(0, Hold)
"""


def test_a_signal_that_comes_while_the_loop_is_still_being_imported_waits_for_it(program: Program) -> None:
    (program.root / "agents" / "sitecustomize.py").write_text(HELD_IMPORT)
    program.environ["PYTHONPATH"] = str(program.root / "agents")
    running = program.start(*WORK, "--agent-command", program.agent("at_work; await_go_on"))
    assert program.await_agent().pid in children_of(running.process.pid)
    running.signal(signal.SIGTERM)
    program.go_on()
    ended = running.end()
    assert (ended.code, program.calls()) == (130, [])
    assert SHUTTING_DOWN in ended.err


BLOCKED = """
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1})
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_signals_that_the_parent_had_blocked_reach_the_loop_and_its_agents(program: Program) -> None:
    agent = program.agent('grep SigBlk /proc/self/status > "$root/blocked"; at_work; await_go_on')
    running = program.start("-c", BLOCKED, RALPH, *WORK, "--agent-command", agent, executable=sys.executable)
    at_work = program.await_agent()
    assert int((program.root / "blocked").read_text().split()[1], 16) == 0
    running.signal(signal.SIGTERM)
    running.await_err("Received signal, shutting down...")
    running.signal(signal.SIGTERM)
    assert running.end().code == 130
    assert not is_alive(at_work)
