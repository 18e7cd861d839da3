"""The time of day, chance, and waiting that a request can cut short."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

LONGEST_NAP_S = 1.0


class SystemClock:
    """The clock of this machine. `nap` sleeps for at most so many seconds and returns at once when a signal comes."""

    def __init__(self, nap: Callable[[float], None]) -> None:
        self._nap = nap
        self._random = random.SystemRandom()
        self._asked: dict[float, float] = {}
        self._waiting: tuple[float, float] | None = None

    def now(self) -> float:
        """Seconds of the Unix clock."""
        return time.time()

    def dice(self) -> float:
        """A random number in [0, 1)."""
        return self._random.random()

    def has_come(self, until: float, longest_s: float) -> bool:
        """Whether so many seconds have passed on the monotonic clock since this moment was first asked for."""
        end = self._asked.setdefault(until, time.monotonic() + longest_s)
        return time.monotonic() >= end

    def wait(self, until: float, longest_s: float) -> bool:
        """One nap towards that moment, and whether it has come: the loop looks for requests between naps.

        A clock that is set back does not prolong a wait: it ends, at the latest, when its length has passed on the monotonic clock.
        """
        if self._waiting is None or self._waiting[0] != until:
            self._waiting = (until, time.monotonic() + min(max(until - self.now(), 0.0), longest_s))
        left = min(until - self.now(), self._waiting[1] - time.monotonic())
        if left > 0:
            self._nap(min(left, LONGEST_NAP_S))
        return self.now() >= until or time.monotonic() >= self._waiting[1]
