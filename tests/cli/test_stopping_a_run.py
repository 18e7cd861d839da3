"""Ctrl-C and SIGTERM through the real program: the first lets the attempt finish, the second ends the agent now."""

from __future__ import annotations

import signal

import pytest
from program import ALONE, DONE, Program
from pseudo_terminal import CTRL_C, CTRL_Z, SHELL, Terminal

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


# --- in a terminal ---


def test_one_ctrl_c_in_a_terminal_is_one_signal_and_the_attempt_finishes(program: Program) -> None:
    agent = program.agent("at_work; await_go_on; sleep 1; echo finished > work")  # long enough to be hit by a second one
    with Terminal(program, "run", "-p", "x", "--agent-command", agent) as terminal:
        program.await_agent()
        terminal.type(CTRL_C)
        terminal.await_words(SHUTTING_DOWN)
        program.go_on()
        shown = terminal.await_words("code 130")
    assert shown.count(SHUTTING_DOWN) == 1
    assert (program.workspace / "work").exists()
    assert [attempt["ending"] for attempt in program.attempts()] == ["ok"]


@pytest.mark.slow
def test_the_second_ctrl_c_in_a_terminal_ends_the_agent(program: Program) -> None:
    agent = program.agent(f"at_work; {ALONE} sh -c 'echo $$ > ../at-work; exec sleep 600' & await_go_on")
    with Terminal(program, "run", "-p", "x", "--agent-command", agent) as terminal:
        processes = program.await_agent(), program.await_agent()
        terminal.type(CTRL_C)
        terminal.await_words(SHUTTING_DOWN)
        assert all(map(is_alive, processes))
        terminal.type(CTRL_C)
        shown = terminal.await_words("code 130")
    assert shown.count(SHUTTING_DOWN) == 1
    assert not any(map(is_alive, processes))
    assert [attempt["ending"] for attempt in program.attempts()] == ["interrupted"]


@pytest.mark.slow
def test_a_loop_goes_on_to_its_end_when_its_terminal_is_closed(program: Program) -> None:
    agent = program.agent(f"at_work; await_go_on; if [ $RALPH_ITERATION = 2 ]; then echo '{DONE}'; else echo on it; fi")
    with Terminal(program, "run", "-p", "x", "--gate", "echo green", "--agent-command", agent) as terminal:
        program.await_agent()
        loop = program.loop_process()
        terminal.close()
        program.go_on()
        program.await_agent()
        program.go_on()
        program.await_end(loop)
    assert program.status()["project"]["status"] == "complete"
    assert program.calls() == [1, 2]


@pytest.mark.slow
def test_ctrl_z_in_a_terminal_lets_the_loop_stand_still_until_it_is_in_the_foreground_again(program: Program) -> None:
    shell = 'set -m; "$@"; echo "code $?"; read line; fg; echo "code $?"'
    agent = program.agent(f"at_work; await_go_on; echo '{DONE}'")
    with Terminal(program, "run", "-p", "x", "--agent-command", agent, shell=shell) as terminal:
        program.await_agent()
        terminal.type(CTRL_Z)
        terminal.await_words(f"code {128 + signal.SIGTSTP}")
        terminal.type("\n")
        program.go_on()
        assert "done (attested" in terminal.await_words("code 0")


@pytest.mark.slow
@pytest.mark.parametrize(("words", "end", "code"), [(("-p", "x"), "done (attested", 0), ((), "ralph: no work found", 2)], ids=["a loop", "an error"])
def test_a_loop_prints_where_the_terminal_stops_whatever_is_not_in_the_foreground(
    program: Program, words: tuple[str, ...], end: str, code: int
) -> None:
    agent = program.agent(f"echo '{DONE}'")
    with Terminal(program, "run", *words, "--agent-command", agent, shell=f"stty tostop; {SHELL}") as terminal:
        assert end in terminal.await_words(f"code {code}")


@pytest.mark.slow
def test_neither_an_agent_nor_a_gate_has_the_terminal(program: Program) -> None:
    no_terminal = "! test -t 0 && ! sh -c ': < /dev/tty' 2> /dev/null"
    agent = program.agent(f"if {no_terminal}; then echo '{DONE}'; fi")
    with Terminal(program, "run", "-p", "x", "-m", "1", "--gate", no_terminal, "--agent-command", agent) as terminal:
        assert "done (proved): 1 gate green" in terminal.await_words("code ")


# --- two loops ---


@pytest.mark.slow
def test_a_loop_that_is_stopped_at_once_leaves_the_agents_and_daemons_of_another_alone(program: Program) -> None:
    one, other = ("run", "-p", "x", "--name", "one"), ("run", "-p", "x", "--name", "other")
    daemon = f"{ALONE} sh -c 'echo $$ > ../at-work; exec sleep 600' &"
    agent = program.agent(f"at_work; {daemon} await_go_on; echo '{DONE}'")
    running = program.start(*one, "--agent-command", agent)
    processes = program.await_agent(), program.await_agent()
    spared = program.start(*other, "--agent-command", agent)
    others = program.await_agent(), program.await_agent()
    running.signal(signal.SIGTERM)
    running.await_err(SHUTTING_DOWN)
    running.signal(signal.SIGTERM)
    assert running.end().code == 130
    assert not any(map(is_alive, processes))
    assert all(map(is_alive, others))
    program.go_on()
    assert spared.end().code == 0
    assert not any(map(is_alive, others))
