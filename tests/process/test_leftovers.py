from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest
from supervised import DAEMON, ENV, FOR_EVER, Exit, python, sh, supervise_lines, unsupervised

from ralphloop.core.identity import ProcessIdentity
from ralphloop.process.identity import identify, is_alive
from ralphloop.process.leftovers import end_leftovers
from ralphloop.process.pidfd import signal_process
from ralphloop.process.sweep import Swept


@pytest.fixture
def run_id() -> str:
    return str(uuid4())


def start_daemon(run_id: str, *how: str) -> int:
    done = subprocess.run([*python(DAEMON), *how], env=ENV | {"RALPH_RUN_ID": run_id}, stdout=subprocess.PIPE, check=True)
    return int(done.stdout)


def test_a_daemon_that_cut_every_tie_is_found_and_ended(run_id: str) -> None:
    exit_ = Exit(start_daemon(run_id))
    assert end_leftovers(run_id, grace_s=float(FOR_EVER)).strays == 1
    assert exit_.has_come()


def test_a_daemon_that_ignores_sigterm_is_killed_after_the_grace(run_id: str) -> None:
    exit_ = Exit(start_daemon(run_id, "stubborn"))
    assert end_leftovers(run_id, grace_s=0.1).strays == 1
    assert exit_.has_come()


def test_a_suspended_process_is_woken_to_end(run_id: str) -> None:
    with unsupervised(sh("kill -STOP $$"), ENV | {"RALPH_RUN_ID": run_id}):
        assert end_leftovers(run_id, grace_s=float(FOR_EVER)).strays == 1


def test_all_are_ended_and_counted(run_id: str) -> None:
    exits = [Exit(start_daemon(run_id)) for _ in range(3)]
    assert end_leftovers(run_id, grace_s=float(FOR_EVER)).strays == 3
    assert [exit_.has_come() for exit_ in exits] == [True] * 3


def test_other_runs_are_left_alone(run_id: str) -> None:
    others = [f"{run_id}2", run_id[:-1], "x" + run_id]
    daemons = {other: start_daemon(other) for other in others}
    assert end_leftovers(run_id, grace_s=0).strays == 0
    assert all(identify(pid) for pid in daemons.values())
    assert [end_leftovers(other, grace_s=0).strays for other in others] == [1, 1, 1]


def test_by_the_name_of_a_loop_every_run_of_it_is_ended(run_id: str) -> None:
    exits = [Exit(start_daemon(f"{run_id}/{run}")) for run in ("1/1", "2/3", "2/gates")]
    assert end_leftovers(run_id, grace_s=0).strays == 3
    assert [exit_.has_come() for exit_ in exits] == [True] * 3


def test_nothing_left_is_nothing_to_do(run_id: str) -> None:
    assert end_leftovers(run_id, grace_s=float(FOR_EVER)).strays == 0


def test_an_empty_tag_is_refused() -> None:
    with pytest.raises(ValueError, match="empty tag"):
        end_leftovers("", grace_s=0)


def test_neither_itself_nor_its_ancestors_are_ended(run_id: str) -> None:
    program = f"from ralphloop.process.leftovers import end_leftovers; print(end_leftovers('{run_id}', 0).strays)"
    report, lines = supervise_lines(
        sh(f'sleep {FOR_EVER} & "{sys.executable}" -c "{program}"; echo alive'),
        env=ENV | {"RALPH_RUN_ID": run_id},
    )
    assert (report.exit_code, lines) == (0, [b"1", b"alive"])


def test_what_a_run_leaves_behind_is_found_after_it(run_id: str) -> None:
    _, lines = supervise_lines(python(DAEMON), env=ENV | {"RALPH_RUN_ID": run_id})
    exit_ = Exit(int(lines[0]))
    assert end_leftovers(run_id, grace_s=float(FOR_EVER)).strays == 1
    assert exit_.has_come()


# --- by session, and by descent: processes that have cleared their environment ---

# The leader of a session, and a process in it without a name; or an orphan, one that ignores SIGTERM, or one apart. Their pids are printed.
SESSION = f"""
import os, signal, subprocess, sys, time
os.setsid()
ready, tell = os.pipe()
if not os.fork():
    if "orphan" in sys.argv and os.fork(): os._exit(0)
    if "stubborn" in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "apart" in sys.argv: os.setsid()
    os.write(tell, b"%8d" % os.getpid())
    os.execve("/bin/sleep", ["sleep", "{FOR_EVER}"], {{}})
nameless = int(os.read(ready, 8))
if "orphan" in sys.argv: os.wait()
print(os.getpid(), nameless, flush=True)
if "gone" in sys.argv: sys.exit(sys.stdin.read())
time.sleep({FOR_EVER})
"""


class Session(NamedTuple):
    """A session like that of an agent, of which there was a note when it started."""

    leader: ProcessIdentity
    nameless: ProcessIdentity


@contextmanager
def session(*how: str) -> Iterator[Session]:
    with subprocess.Popen([*python(SESSION), *how], env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        leader, nameless = map(identify, map(int, process.stdout.readline().split()))
        assert leader is not None
        assert nameless is not None
        if "gone" in how:
            process.stdin.close()
            process.wait()
        try:
            yield Session(leader, nameless)
        finally:
            for identity in (leader, nameless):
                signal_process(identity, signal.SIGKILL)


@pytest.mark.parametrize("how", ["orphan", "apart"], ids=["an orphan in its session", "a child in another session"])
@pytest.mark.parametrize("stubborn", ["", "stubborn"], ids=["obedient", "ignoring SIGTERM"])
def test_what_the_leader_of_a_run_has_started_is_ended_with_it_although_it_has_no_name(run_id: str, how: str, stubborn: str) -> None:
    with session(how, stubborn) as of_the_run:
        assert end_leftovers(run_id, grace_s=0.1, leaders=[of_the_run.leader]) == Swept(strays=2)
        assert not is_alive(of_the_run.leader)
        assert not is_alive(of_the_run.nameless)


@pytest.mark.parametrize("sooner", [-1, 1], ids=["it was started later", "it was started sooner"])
def test_a_session_of_the_same_number_is_left_alone(run_id: str, sooner: int) -> None:
    """The leader that was written down is long gone, and its number was given to the leader of another session."""
    with session() as another:
        written = another.leader._replace(started=str(int(another.leader.started) + sooner))
        assert end_leftovers(run_id, grace_s=0, leaders=[written]) == Swept()
        assert is_alive(another.leader)
        assert is_alive(another.nameless)


@pytest.mark.parametrize("how", [(), ("gone",)], ids=["its leader lives", "its leader is gone"])
def test_a_session_of_the_boot_before_is_left_alone(run_id: str, how: tuple[str, ...]) -> None:
    with session(*how) as another:
        assert end_leftovers(run_id, grace_s=0, leaders=[another.leader._replace(boot_id="the boot before")]) == Swept()
        assert is_alive(another.nameless)


if os.geteuid() == 0:  # nobody else can look into other people's processes

    def test_what_another_user_runs_is_left_alone_whatever_its_environment_says(run_id: str) -> None:
        command = ["setpriv", "--reuid=65534", "--clear-groups", "sleep", FOR_EVER]
        with unsupervised(command, {"PATH": os.environ["PATH"], "RALPH_RUN_ID": run_id}) as theirs:
            while (Path(f"/proc/{theirs.pid}").stat().st_uid, Path(f"/proc/{theirs.pid}/comm").read_text()) != (65534, "sleep\n"):
                os.sched_yield()
            assert end_leftovers(run_id, grace_s=0.0).strays == 0
            assert theirs.poll() is None


def test_a_signal_for_an_earlier_process_of_that_number_is_not_sent() -> None:
    with unsupervised(["sleep", FOR_EVER], ENV) as process:
        identity = identify(process.pid)
        assert identity is not None
        signal_process(identity._replace(started=str(int(identity.started) - 1)), signal.SIGKILL)
        signal_process(identity._replace(boot_id="the boot before"), signal.SIGKILL)
        signal_process(identity, signal.SIGTERM)
        assert process.wait() == -signal.SIGTERM
