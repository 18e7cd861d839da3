"""The end of child loops: each is asked as a person would ask it, and ends what it runs by itself."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable

from ralphloop.core.identity import ProcessIdentity
from ralphloop.process.pidfd import signal_process

PAUSE_S = 0.02
GRACE_S = 15.0  # a child loop ends its agent by the ladder first, and its own child loops after that

# Two signals, for a loop in the foreground would finish its operation after the first; and different ones, of which none is lost in the other.
URGENT = (signal.SIGTERM, signal.SIGINT)


def ask_to_end(alive: Callable[[], Iterable[ProcessIdentity]]) -> int:
    """Have these guardians end their loops, and wait for them, though not for ever; how many there were."""
    asked: set[ProcessIdentity] = set()
    until = time.monotonic() + GRACE_S
    while (left := set(alive())) and time.monotonic() < until:
        for guardian in left - asked:
            for signum in URGENT:
                signal_process(guardian, signum)
        asked |= left
        time.sleep(PAUSE_S)  # most of them are not our children: nothing tells of their exit
    return len(asked)
