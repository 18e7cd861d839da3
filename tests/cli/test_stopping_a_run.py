"""Ctrl-C and SIGTERM through the real program: the first lets the attempt finish, the second ends the agent now."""

from __future__ import annotations

import signal

import pytest
from program import DONE, Program

from ralphloop.process.identity import is_alive

pytest_plugins = ["program_fixtures"]

SIGNALS = [signal.SIGINT, signal.SIGTERM]
SHUTTING_DOWN = "Received signal, shutting down..."


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_lets_the_attempt_finish(program: Program, number: signal.Signals) -> None:
    agent = program.agent("at_work; await_go_on; echo finished > work; echo I finished my turn")
    running = program.start("run", "-p", "x", "--agent-command", agent)
    program.await_agent()
    running.signal(number)
    running.await_err(SHUTTING_DOWN)
    program.go_on()
    ended = running.end()
    assert ended.code == 130
    assert ended.err.count(SHUTTING_DOWN) == 1
    assert "interrupted: " in ended.out
    assert (program.workspace / "work").read_text() == "finished\n"
    assert [attempt["ending"] for attempt in program.attempts()] == ["ok"]
    assert program.calls() == [1]
    assert program.status()["project"] | {"status": "stopped", "outcome": "interrupted", "exit_code": 130} == program.status()["project"]


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "child",
    [
        pytest.param("sh -c 'echo $$ > ../at-work; exec sleep 600' & wait", id="a child"),
        pytest.param("trap '' INT TERM; sh -c 'echo $$ > ../at-work; exec sleep 600' & wait; wait", id="a child, deaf to both signals"),
    ],
)
def test_the_second_signal_ends_the_agent_and_whatever_it_started(program: Program, number: signal.Signals, child: str) -> None:
    program.settings(agent={"grace_s": 0.2})
    running = program.start("run", "-p", "x", "--agent-command", program.agent(f"at_work; {child}"))
    processes = program.await_agent(), program.await_agent()
    running.signal(number)
    running.await_err(SHUTTING_DOWN)
    assert all(map(is_alive, processes)), "the first one is patient"
    running.signal(number)
    ended = running.end()
    assert ended.code == 130, ended
    assert not any(map(is_alive, processes))
    assert [attempt["ending"] for attempt in program.attempts()] == ["interrupted"]


def test_a_signal_during_a_wait_ends_it_at_once(program: Program) -> None:
    program.settings(limits={"delay_s": 600})
    running = program.start("run", "-p", "x", "--agent-command", program.agent("echo on it"))
    running.await_out("\nwait    until ")
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    assert program.calls() == [1]


def test_what_an_attempt_did_before_the_stop_is_not_done_again(program: Program) -> None:
    """The claim was made, but not yet weighed: the loop that goes on weighs it and needs no further attempt."""
    running = program.start("run", "-p", "x", "--gate", "true", "--agent-command", program.agent(f"at_work; await_go_on; echo '{DONE}'"))
    program.await_agent()
    running.signal(signal.SIGINT)
    running.await_err(SHUTTING_DOWN)
    program.go_on()
    assert running.end().code == 130
    again = program.run("resume", "project")
    assert again.code == 0, again
    assert "done (proved): 1 gate green" in again.out
    assert program.calls() == [1]


def test_a_hang_up_does_not_end_a_loop(program: Program) -> None:
    running = program.start("run", "-p", "x", "--agent-command", program.agent(f"at_work; await_go_on; echo '{DONE}'"))
    program.await_agent()
    running.signal(signal.SIGHUP)
    program.go_on()
    assert running.end().code == 0
