"""Whose time is counted: deadlines on clocks that are put forward, with real processes."""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from supervised import ENV, FOR_EVER, sh

from ralphloop.core.model import EndedBy, RunReport
from ralphloop.core.ports import Launch, Sign
from ralphloop.process.signals import StopFlag
from ralphloop.process.stopwatch import SystemStopwatch
from ralphloop.process.supervise import Supervisor

HOUR_S = 3600.0


class Clock(SystemStopwatch):
    """The clocks of this machine, put forward: by time that passes, by sleep, and by time in which this process is stopped."""

    def __init__(self, step_s: float = 0.0) -> None:
        self._step_s = step_s
        self._passed_s = self._slept_s = self._stop_s = 0.0
        self._looks = 0

    def pass_(self, seconds: float) -> None:
        """Time in which everything runs."""
        self._passed_s += seconds

    def sleep(self, seconds: float) -> None:
        """The machine is suspended."""
        self._slept_s += seconds

    def stop(self, seconds: float) -> None:
        """This process is stopped while it waits the next time: it looks at the clock before it waits, and then again."""
        self._stop_s, self._looks = seconds, 2

    def monotonic(self) -> float:
        self._looks -= 1
        self._passed_s += self._step_s + (self._stop_s if self._looks == 0 else 0.0)
        return super().monotonic() + self._passed_s

    def boottime(self) -> float:
        return super().boottime() + self._passed_s + self._slept_s


Step = Callable[[], object]


def supervise(script: str, clock: Clock, on_line: Callable[[bytes], Sign], steps: Iterable[Step] = (), **launch: Any) -> RunReport:
    """Run this script; once time has passed, the steps are taken, one in each turn of the loop."""
    stop, left = StopFlag(), iter(steps)

    def beat() -> None:
        if (step := next(left, None)) is not None:
            step()
            os.write(stop.wakeup_fd, b"\0")

    launched = Launch(argv=sh(script), cwd=launch.pop("cwd", Path("/")), env=ENV, grace_s=float(FOR_EVER) * 1000, **launch)
    try:
        return Supervisor(stop, beat=beat, clock=clock).supervise(launched, on_line)
    finally:
        stop.close()


def signs(line: bytes) -> Sign:
    return {b"over": Sign.OVER, b"background": Sign.BACKGROUND, b"astray": Sign.ASTRAY}.get(line, Sign.WORKING)


# --- after the result ---

TICKING = "while :; do echo . >&2; sleep 0.01; done"


def seconds_until_it_is_ended(words: str, then: str = TICKING) -> float:
    """For how long, on its own fast clock, an agent goes on after its first words. On stderr it says something all the time."""
    clock = Clock(step_s=2.0)
    said: list[float] = []

    def on_line(line: bytes) -> Sign:
        said.append(clock.monotonic())
        return signs(line)

    report = supervise(f"trap 'echo ended; exit' TERM; {words}; {then}", clock, on_line, after_result_s=10.0)
    assert report.ended_by is EndedBy.AFTER_RESULT
    return said[-1] - said[0]


def test_background_work_may_go_on_in_silence_for_five_minutes() -> None:
    assert 300 <= seconds_until_it_is_ended("echo background") <= 400


def test_background_work_that_is_over_leaves_the_usual_time() -> None:
    assert 10 <= seconds_until_it_is_ended("echo background; echo over") <= 110


def test_what_was_over_once_is_never_again_at_work() -> None:
    assert 10 <= seconds_until_it_is_ended("echo over; echo working") <= 110


def test_an_agent_that_talks_for_ever_after_its_result_is_ended_after_five_minutes() -> None:
    assert 300 <= seconds_until_it_is_ended("echo over", "while :; do echo over; sleep 0.01; done") <= 400


def test_an_agent_that_will_never_come_to_a_result_is_ended_at_once_whatever_it_still_says() -> None:
    assert seconds_until_it_is_ended("echo working; echo astray", "while :; do echo astray; sleep 0.01; done") <= 100


# --- time that is nobody's ---


def pass_(seconds: float) -> Callable[[Clock], None]:
    return lambda clock: clock.pass_(seconds)


def sleep(clock: Clock) -> None:
    clock.sleep(HOUR_S)
    clock.pass_(1.0)


def stop(clock: Clock) -> None:
    clock.stop(HOUR_S)
    clock.pass_(1.0)


def run_through(tmp_path: Path, *times: Callable[[Clock], None], words: str = "echo ready", **limits: float) -> RunReport:
    """A silent agent that lives through these times, and then ends if it still can."""
    clock = Clock()
    os.mkfifo(tmp_path / "go")
    go = os.open(tmp_path / "go", os.O_RDWR)

    def on_line(line: bytes) -> Sign:
        clock.pass_(1.0)
        return signs(line)

    steps: list[Step] = [functools.partial(time, clock) for time in times]
    steps.append(lambda: os.write(go, b"go\n"))
    try:
        return supervise(f"{words}; read line < go", clock, on_line, steps, cwd=tmp_path, **limits)
    finally:
        os.close(go)


def test_an_agent_is_not_idle_while_the_reader_is_busy(tmp_path: Path) -> None:
    """The pipe is full, and what it has to say must wait."""
    clock = Clock()

    def on_line(_line: bytes) -> Sign:
        clock.pass_(15.0)
        return Sign.WORKING

    report = supervise("echo one; sleep 0.2; echo two", clock, on_line, cwd=tmp_path, idle_timeout_s=10.0)
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 0)


QUARTER, HALF = pass_(15.0), pass_(30.0)


@pytest.mark.parametrize("nobodys", [sleep, stop])
def test_idle_time_begins_anew_after_time_that_is_nobodys(tmp_path: Path, nobodys: Callable[[Clock], None]) -> None:
    report = run_through(tmp_path, QUARTER, nobodys, QUARTER, idle_timeout_s=20.0)
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 0)
    assert report.suspended_s == pytest.approx(HOUR_S, abs=20)
    assert 30 <= report.duration_s < 60


@pytest.mark.parametrize("nobodys", [sleep, stop])
@pytest.mark.parametrize("limit", ["timeout_s", "after_result_s"])
def test_time_that_is_nobodys_is_not_counted(tmp_path: Path, nobodys: Callable[[Clock], None], limit: str) -> None:
    report = run_through(tmp_path, QUARTER, nobodys, QUARTER, words="echo over", **{"after_result_s": 0.0, limit: 40.0})
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 0)


@pytest.mark.parametrize("nobodys", [sleep, stop])
@pytest.mark.parametrize("limit", ["timeout_s", "after_result_s"])
def test_what_passed_before_and_after_it_is_counted_together(tmp_path: Path, nobodys: Callable[[Clock], None], limit: str) -> None:
    report = run_through(tmp_path, QUARTER, nobodys, HALF, words="echo over", **{"after_result_s": 0.0, limit: 40.0})
    assert report.ended_by is {"timeout_s": EndedBy.TOTAL_TIMEOUT, "after_result_s": EndedBy.AFTER_RESULT}[limit]


def test_a_clock_of_day_that_is_set_back_or_forward_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    days = itertools.cycle([0.0, 4e9, 1e9])
    monkeypatch.setattr(time, "time", lambda: next(days))
    report = supervise(f"echo begun; exec sleep {FOR_EVER}", Clock(), signs, idle_timeout_s=0.2)
    assert (report.ended_by, report.suspended_s) == (EndedBy.IDLE_TIMEOUT, 0)
