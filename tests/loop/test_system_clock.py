"""Waiting on a clock that people and time servers set."""

from __future__ import annotations

from ralphloop.loop.clock import SystemClock


class SetClock(SystemClock):
    """A clock of day that is set, beside a monotonic one that is not."""

    shift = 0.0

    def now(self) -> float:
        return super().now() + self.shift


def test_a_moment_that_has_come_is_not_waited_for() -> None:
    clock = SystemClock(nap=lambda seconds: (_ for _ in ()).throw(AssertionError(f"napped {seconds}")))
    assert clock.wait(clock.now() - 1, 5)


def test_a_wait_naps_for_a_second_at_most_so_that_requests_are_seen() -> None:
    naps: list[float] = []
    clock = SystemClock(nap=naps.append)
    assert not clock.wait(clock.now() + 3600, 3600)
    assert 0 < naps[0] <= 1


def test_a_clock_that_is_set_back_does_not_prolong_a_wait() -> None:
    clock = SetClock(nap=lambda _seconds: None)
    until = clock.now() + 0.2
    assert not clock.wait(until, 0.2)
    clock.shift = -7200.0
    while not clock.wait(until, 0.2):
        pass  # ends with the length of the wait, and not two hours later


def test_a_loop_that_is_resumed_under_a_clock_that_was_set_back_waits_no_longer_than_was_written_down() -> None:
    naps: list[float] = []
    clock = SetClock(nap=naps.append)
    until = clock.now() + 0.3
    clock.shift = -7200.0
    while not clock.wait(until, 0.3):
        pass
    assert max(naps) <= 0.3
