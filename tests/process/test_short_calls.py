from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from supervised import ENV, FOR_EVER, sh

from ralphloop.core.ports import CallReport, Runner
from ralphloop.process.signals import StopFlag
from ralphloop.process.supervise import Supervisor


@pytest.fixture
def stop() -> Iterator[StopFlag]:
    stop = StopFlag()
    yield stop
    stop.close()


@pytest.fixture
def runner(stop: StopFlag) -> Runner:
    return Supervisor(stop)


def test_a_call_returns_both_streams_and_the_exit_code(runner: Runner) -> None:
    report = runner.call(sh("cat; echo err >&2; exit 3"), cwd=Path("/"), env=ENV, timeout_s=60, stdin=b"in")
    assert report == CallReport(exit_code=3, stdout=b"in", stderr=b"err\n")


def test_large_input_and_output_do_not_block_each_other(runner: Runner) -> None:
    text = b"x" * 3_000_000
    assert runner.call(["cat"], cwd=Path("/"), env=ENV, timeout_s=60, stdin=text).stdout == text


def test_a_missing_tool_is_an_error_in_words(runner: Runner) -> None:
    report = runner.call(["no-such-git"], cwd=Path("/"), env=ENV, timeout_s=60)
    assert (report.exit_code, report.error) == (None, "cannot start `no-such-git`: there is no such program: install it, or give its full path")


def test_a_call_that_takes_too_long_is_ended_although_a_grandchild_holds_the_pipe(runner: Runner) -> None:
    report = runner.call(sh(f"echo begun; sleep {FOR_EVER} & exec sleep {FOR_EVER}"), cwd=Path("/"), env=ENV, timeout_s=0.3)
    assert (report.exit_code, report.error) == (None, "`/bin/sh` did not end within 0.3 s")


def test_a_grandchild_that_holds_the_pipe_does_not_delay_a_call(runner: Runner) -> None:
    report = runner.call(sh(f"sleep {FOR_EVER} & echo said"), cwd=Path("/"), env=ENV, timeout_s=float(FOR_EVER))
    assert report == CallReport(exit_code=0, stdout=b"said\n")


def test_a_call_ended_by_a_signal_never_looks_like_success(runner: Runner) -> None:
    report = runner.call(sh("kill -9 $$"), cwd=Path("/"), env=ENV, timeout_s=60)
    assert (report.exit_code, report.error) == (None, "`/bin/sh` was ended by signal 9")


def test_a_wish_to_stop_does_not_cut_a_call_short(runner: Runner, stop: StopFlag) -> None:
    stop.request("a person")
    stop.request("a person")
    assert runner.call(sh("sleep 0.1; echo whole"), cwd=Path("/"), env=ENV, timeout_s=60).stdout == b"whole\n"
