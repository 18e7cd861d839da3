from __future__ import annotations

import select
from pathlib import Path
from uuid import uuid4

import pytest
from supervised import ENV, FOR_EVER, Exit, python, result, sh, supervise, supervise_lines

from ralphloop.core.model import EndedBy
from ralphloop.process.leftovers import end_leftovers
from ralphloop.process.signals import StopFlag


def test_an_exit_code_is_reported_as_it_is() -> None:
    report = supervise(sh("exit 3"))
    assert (report.ended_by, report.exit_code, report.signal) == (EndedBy.EXIT, 3, None)


def test_a_death_by_signal_is_no_exit_code() -> None:
    report = supervise(sh("kill -9 $$"))
    assert (report.ended_by, report.exit_code, report.signal) == (EndedBy.EXIT, None, 9)


def test_a_chattering_agent_is_ended_by_the_total_time_out() -> None:
    report = supervise(sh("while :; do echo busy; done"), timeout_s=0.2)
    assert (report.ended_by, report.signal) == (EndedBy.TOTAL_TIMEOUT, 15)


def test_a_silent_agent_is_ended_by_the_idle_time_out() -> None:
    report = supervise(sh(f"echo begun; exec sleep {FOR_EVER}"), idle_timeout_s=0.2)
    assert (report.ended_by, report.signal) == (EndedBy.IDLE_TIMEOUT, 15)


def test_an_agent_that_closed_its_output_but_lives_is_idle() -> None:
    report = supervise(sh(f"exec >&- 2>&-; exec sleep {FOR_EVER}"), idle_timeout_s=0.2)
    assert report.ended_by is EndedBy.IDLE_TIMEOUT


@pytest.mark.slow
def test_a_byte_on_stderr_counts_as_a_sign_of_life() -> None:
    report = supervise(sh("for i in 1 2 3 4 5 6 7 8; do sleep 0.25; printf . >&2; done"), idle_timeout_s=1.5)
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 0)


def test_time_outs_of_zero_are_off() -> None:
    report = supervise(sh("echo result; sleep 0.1"), on_line=result, timeout_s=0, idle_timeout_s=0, after_result_s=0)
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 0)


def test_an_agent_that_hangs_after_its_result_is_ended() -> None:
    report = supervise(sh(f"echo result; exec sleep {FOR_EVER}"), on_line=result, after_result_s=0.1)
    assert (report.ended_by, report.signal) == (EndedBy.AFTER_RESULT, 15)


def test_the_time_after_the_result_does_not_run_before_it() -> None:
    report = supervise(sh("echo working; sleep 0.3; echo result"), on_line=result, after_result_s=0.1)
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 0)


@pytest.mark.slow
def test_every_further_line_restarts_the_time_after_the_result() -> None:
    report = supervise(sh("echo result; for i in 1 2 3 4 5 6 7 8; do sleep 0.25; echo more; done"), on_line=result, after_result_s=1.5)
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 0)


def test_bytes_that_make_no_line_do_not_restart_it() -> None:
    report = supervise(sh("echo result; while printf .; do sleep 0.01; done"), on_line=result, after_result_s=0.1, timeout_s=20)
    assert report.ended_by is EndedBy.AFTER_RESULT


def test_an_agent_that_ignores_sigterm_is_killed() -> None:
    report = supervise(sh(f"trap '' TERM; echo result; while :; do sleep {FOR_EVER}; done"), on_line=result, after_result_s=0.1, grace_s=0.1)
    assert (report.ended_by, report.exit_code, report.signal) == (EndedBy.AFTER_RESULT, None, 9)


def test_an_agent_that_obeys_sigterm_may_tidy_up_and_say_so() -> None:
    script = f"trap 'echo tidy; exit 7' TERM; echo result; sleep {FOR_EVER} & wait"
    lines: list[bytes] = []

    def on_line(line: bytes) -> bool:
        lines.append(line)
        return result(line)

    report = supervise(sh(script), on_line=on_line, after_result_s=0.1, grace_s=float(FOR_EVER))
    assert (report.ended_by, report.exit_code, lines) == (EndedBy.AFTER_RESULT, 7, [b"result", b"tidy"])


def test_a_suspended_agent_is_woken_to_end() -> None:
    script = "trap 'exit 7' TERM; echo result; kill -STOP $$; while :; do sleep 0.01; done"
    report = supervise(sh(script), on_line=result, after_result_s=0.2, grace_s=float(FOR_EVER))
    assert (report.ended_by, report.exit_code) == (EndedBy.AFTER_RESULT, 7)


@pytest.mark.parametrize("how", ["", "trap '' TERM;"], ids=["obedient", "ignoring SIGTERM"])
def test_a_grandchild_that_holds_the_output_delays_nothing_and_is_ended(how: str) -> None:
    exits: list[Exit] = []

    def on_line(line: bytes) -> bool:
        exits.append(Exit(int(line)))
        return False

    report = supervise(sh(f"{how} sleep {FOR_EVER} & echo $!"), on_line=on_line)
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 0)
    assert [exit_.has_come() for exit_ in exits] == [True]


def test_a_grandchild_may_tidy_up_and_say_so() -> None:
    report, lines = supervise_lines(python(TIDY_GRANDCHILD))
    assert (report.exit_code, lines) == (0, [b"tidy"])


TIDY_GRANDCHILD = f"""
import os, signal, time
ready, tell = os.pipe()
if os.fork():
    os.read(ready, 1)
    os._exit(0)
def tidy(*_):
    os.write(1, b"tidy")
    os._exit(0)
signal.signal(signal.SIGTERM, tidy)
os.write(tell, b".")
time.sleep({FOR_EVER})
"""

# The parent goes once its child leads a session of its own, out of the reach of a signal to the group.
ESCAPE = """
import os, time
ready, tell = os.pipe()
if os.fork():
    os.read(ready, 1)
    os._exit(4)
os.setsid()
os.write(tell, b".")
"""


def test_a_grandchild_in_a_session_of_its_own_delays_nothing_either() -> None:
    env = ENV | {"RALPH_RUN_ID": str(uuid4())}
    report = supervise(python(ESCAPE + f"time.sleep({FOR_EVER})"), env=env)
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 4)
    assert end_leftovers(env["RALPH_RUN_ID"], grace_s=0).strays == 1


def test_a_grandchild_that_floods_the_output_delays_nothing_either() -> None:
    report = supervise(python(ESCAPE + "while True: os.write(1, b'y\\n' * 30_000)"))  # it ends by itself when nobody reads any more
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 4)


def test_what_was_written_before_the_exit_is_read_although_the_pipe_is_held() -> None:
    script = f"import os, subprocess\nsubprocess.Popen(['sleep', '{FOR_EVER}'])\nos.write(1, b'x' * 60_000 + b'\\nlast')\nos._exit(0)"
    report, lines = supervise_lines(python(script))
    assert ([len(line) for line in lines], report.exit_code) == ([60_000, 4], 0)


def test_a_reader_that_fails_leaves_no_process_behind() -> None:
    exits: list[Exit] = []

    def on_line(line: bytes) -> bool:
        exits.append(Exit(int(line)))
        raise RuntimeError("a bug in a parser")

    with pytest.raises(RuntimeError, match="a bug in a parser"):
        supervise(sh(f"trap '' TERM; echo $$; exec sleep {FOR_EVER}"), on_line=on_line)
    assert exits[0].has_come()


def test_a_first_wish_to_stop_lets_the_run_end_by_itself() -> None:
    stop = StopFlag()

    def on_line(_: bytes) -> bool:
        stop.request("a person")
        return False

    report = supervise(sh("echo begun; sleep 0.1; exit 5"), on_line=on_line, stop=stop)
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 5)
    assert not select.select(stop.filenos(), [], [], 0)[0]  # a poll loop that never drained it has been spinning
    stop.close()


def test_a_second_wish_to_stop_ends_the_run_by_the_ladder() -> None:
    stop = StopFlag()

    def on_line(_: bytes) -> bool:
        stop.request("a person")
        stop.request("a person")
        return False

    report = supervise(sh(f"trap '' TERM; echo begun; while :; do sleep {FOR_EVER}; done"), on_line=on_line, stop=stop, grace_s=0.1)
    assert (report.ended_by, report.signal) == (EndedBy.STOPPED, 9)
    stop.close()


def test_nothing_is_started_after_the_second_wish_to_stop(tmp_path: Path) -> None:
    stop = StopFlag()
    stop.request("a person")
    stop.request("a person")
    report = supervise(sh("touch started"), cwd=tmp_path, stop=stop)
    assert (report.ended_by, report.exit_code, report.signal, list(tmp_path.iterdir())) == (EndedBy.STOPPED, None, None, [])
    stop.close()
