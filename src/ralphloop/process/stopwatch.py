"""The clocks of a run. Deadlines run on the monotonic clock, which stands still while the machine sleeps; the other one tells that it slept."""

from __future__ import annotations

import time
from typing import Protocol


class Stopwatch(Protocol):
    """Two clocks, in seconds from any moment on."""

    def monotonic(self) -> float:
        """Never set, and not running while the machine is suspended."""

    def boottime(self) -> float:
        """Running also then."""


class SystemStopwatch:
    """The clocks of this machine. Without a clock that runs through a suspend (macOS), the time of day stands in: who sets it restarts idle time."""

    def monotonic(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    def boottime(self) -> float:
        """Seconds that passed, sleep included."""
        return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.time()
