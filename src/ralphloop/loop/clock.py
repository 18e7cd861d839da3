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

    def now(self) -> float:
        """Seconds of the Unix clock."""
        return time.time()

    def dice(self) -> float:
        """A random number in [0, 1)."""
        return self._random.random()

    def wait(self, until: float) -> None:
        """One nap towards that moment: the loop looks for requests between naps, and a clock that is set does no harm."""
        left = until - self.now()
        if left > 0:
            self._nap(min(left, LONGEST_NAP_S))
