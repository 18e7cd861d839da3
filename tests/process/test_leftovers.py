from __future__ import annotations

import subprocess
import sys
from uuid import uuid4

import pytest
from supervised import ENV, FOR_EVER, Exit, python, sh, supervise_lines

from ralphloop.process.identity import identify
from ralphloop.process.leftovers import end_leftovers

# Two forks and a session of its own: no parent, no group, no pipe tells of it. It prints its pid, and its parent goes, once it is all set up.
DAEMON = f"""
import os, signal, sys, time
ready, tell = os.pipe()
if os.fork():
    os.close(tell)
    os.read(ready, 1)
    os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
if "stubborn" in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(1, b"%d\\n" % os.getpid())
for fd in 1, 2, tell: os.close(fd)
time.sleep({FOR_EVER})
"""


@pytest.fixture
def run_id() -> str:
    return str(uuid4())


def start_daemon(run_id: str, *how: str) -> int:
    done = subprocess.run([*python(DAEMON), *how], env=ENV | {"RALPH_RUN_ID": run_id}, stdout=subprocess.PIPE, check=True)
    return int(done.stdout)


def test_a_daemon_that_cut_every_tie_is_found_and_ended(run_id: str) -> None:
    exit_ = Exit(start_daemon(run_id))
    assert end_leftovers(run_id, grace_s=float(FOR_EVER)) == 1
    assert exit_.has_come()


def test_a_daemon_that_ignores_sigterm_is_killed_after_the_grace(run_id: str) -> None:
    exit_ = Exit(start_daemon(run_id, "stubborn"))
    assert end_leftovers(run_id, grace_s=0.1) == 1
    assert exit_.has_come()


def test_a_suspended_process_is_woken_to_end(run_id: str) -> None:
    with subprocess.Popen(sh("kill -STOP $$"), env=ENV | {"RALPH_RUN_ID": run_id}):
        assert end_leftovers(run_id, grace_s=float(FOR_EVER)) == 1


def test_all_are_ended_and_counted(run_id: str) -> None:
    exits = [Exit(start_daemon(run_id)) for _ in range(3)]
    assert end_leftovers(run_id, grace_s=float(FOR_EVER)) == 3
    assert [exit_.has_come() for exit_ in exits] == [True] * 3


def test_other_runs_are_left_alone(run_id: str) -> None:
    others = [f"{run_id}2", run_id[:-1], "x" + run_id]
    daemons = {other: start_daemon(other) for other in others}
    assert end_leftovers(run_id, grace_s=0) == 0
    assert all(identify(pid) for pid in daemons.values())
    assert [end_leftovers(other, grace_s=0) for other in others] == [1, 1, 1]


def test_nothing_left_is_nothing_to_do(run_id: str) -> None:
    assert end_leftovers(run_id, grace_s=float(FOR_EVER)) == 0


def test_an_empty_run_id_is_refused() -> None:
    with pytest.raises(ValueError, match="empty run id"):
        end_leftovers("", grace_s=0)


def test_neither_itself_nor_its_ancestors_are_ended(run_id: str) -> None:
    program = f"from ralphloop.process.leftovers import end_leftovers; print(end_leftovers('{run_id}', 0))"
    report, lines = supervise_lines(
        sh(f'sleep {FOR_EVER} & "{sys.executable}" -c "{program}"; echo alive'),
        env=ENV | {"RALPH_RUN_ID": run_id},
    )
    assert (report.exit_code, lines) == (0, [b"1", b"alive"])


def test_what_a_run_leaves_behind_is_found_after_it(run_id: str) -> None:
    _, lines = supervise_lines(python(DAEMON), env=ENV | {"RALPH_RUN_ID": run_id})
    exit_ = Exit(int(lines[0]))
    assert end_leftovers(run_id, grace_s=float(FOR_EVER)) == 1
    assert exit_.has_come()
