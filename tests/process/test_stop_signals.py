from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from supervised import FOR_EVER

from ralphloop.process.signals import StopFlag, install

MESSAGE = b"Received signal, shutting down...\n"
HOW_TO_INSIST = b"What runs now may finish; once more ends it at once.\n"

HOST = """
import sys
from supervised import sh, supervise
from ralphloop.process.signals import StopFlag, install

def on_line(line):
    print(line.decode(), flush=True)
    return False

stop = StopFlag()
with install(stop, patient="patient" in sys.argv):
    report = supervise(sh(sys.argv[1]), on_line=on_line, stop=stop, timeout_s=600, grace_s=600)
print(report.ended_by, report.exit_code, stop.level, stop.author)
"""


@contextmanager
def host(agent: str, manner: str = "patient") -> Iterator[subprocess.Popen[bytes]]:
    """A program with our handlers that supervises this agent; the agent has said `ready`."""
    argv = [sys.executable, "-c", HOST, agent, manner]
    with subprocess.Popen(argv, cwd=Path(__file__).parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert out(program).readline() == b"ready\n"
        yield program


def out(program: subprocess.Popen[bytes]) -> IO[bytes]:
    assert program.stdout is not None
    return program.stdout


def err(program: subprocess.Popen[bytes]) -> IO[bytes]:
    assert program.stderr is not None
    return program.stderr


@pytest.fixture
def waiting_agent(tmp_path: Path) -> str:
    """An agent that is ready, and ends when a line is written to `go`."""
    os.mkfifo(tmp_path / "go")
    return f"echo ready; read line < '{tmp_path}/go'; exit 5"


def test_the_first_signal_lets_the_run_finish_and_says_so_once(waiting_agent: str, tmp_path: Path) -> None:
    with host(waiting_agent) as program:
        program.send_signal(signal.SIGINT)
        assert err(program).readline() == MESSAGE
        (tmp_path / "go").write_text("go\n")
        assert out(program).read() == b"exit 5 1 SIGINT\n"
        assert err(program).read() == HOW_TO_INSIST


def test_the_second_signal_ends_the_run_by_the_ladder() -> None:
    with host(f"trap 'exit 7' TERM; echo ready; sleep {FOR_EVER} & wait") as program:
        program.send_signal(signal.SIGTERM)
        assert err(program).readline() == MESSAGE
        program.send_signal(signal.SIGINT)
        assert out(program).read() == b"stopped 7 2 SIGTERM\n"
        assert err(program).read() == HOW_TO_INSIST


def test_without_patience_sigterm_ends_the_run_at_once_and_no_second_one_is_asked_for() -> None:
    with host(f"trap 'exit 7' TERM; echo ready; sleep {FOR_EVER} & wait", "impatient") as program:
        program.send_signal(signal.SIGTERM)
        assert out(program).read() == b"stopped 7 2 SIGTERM\n"
        assert err(program).read() == MESSAGE


def test_a_signal_is_survived_when_nobody_reads_the_message(waiting_agent: str, tmp_path: Path) -> None:
    with host(waiting_agent) as program:
        err(program).close()
        program.send_signal(signal.SIGTERM)
        (tmp_path / "go").write_text("go\n")
        assert out(program).read() == b"exit 5 1 SIGTERM\n"


@pytest.mark.parametrize("signum", [signal.SIGHUP, signal.SIGPIPE])
def test_a_closed_terminal_does_not_kill(signum: signal.Signals, waiting_agent: str, tmp_path: Path) -> None:
    with host(waiting_agent) as program:
        program.send_signal(signum)
        (tmp_path / "go").write_text("go\n")
        assert out(program).read() == b"exit 5 0 None\n"


def test_agents_do_not_inherit_what_the_host_survives() -> None:
    with host("echo ready; kill -HUP $$; echo still here") as program:
        assert out(program).read() == b"exit None 0 None\n"


def test_the_handlers_from_before_are_put_back() -> None:
    signums = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)
    before = [signal.getsignal(signum) for signum in signums]
    stop = StopFlag()
    with install(stop):
        assert [signal.getsignal(signum) for signum in signums] != before
    assert [signal.getsignal(signum) for signum in signums] == before
    assert signal.set_wakeup_fd(-1) == -1
    stop.close()


def test_a_request_is_seen_by_a_poll_until_it_is_drained_and_its_level_stays() -> None:
    stop = StopFlag()
    poll = select.poll()
    poll.register(stop.filenos()[0], select.POLLIN)
    assert (stop.level, stop.author, poll.poll(0)) == (0, None, [])
    stop.request("ada")
    assert (stop.level, stop.author, len(poll.poll(0))) == (1, "ada", 1)
    stop.drain()
    assert (stop.level, poll.poll(0)) == (1, [])
    for _ in range(100_000):  # more than the pipe holds
        stop.request("bob")
    assert (stop.level, stop.author, len(poll.poll(0))) == (2, "ada", 1)
    stop.drain()
    assert poll.poll(0) == []
    stop.close()
