"""Requests to wait, as they are posted on a task's bus (ports.WaitBoard).

A mark is the moment at which it was taken, and the end of the bus as it was then. Where the bus has been written anew meanwhile, or could not be read,
the end says nothing, and the moment decides: a request that has been heeded once must not be heeded again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path

from ralphloop.bus.board import PATIENCE_S, TASK_BUS, Bus
from ralphloop.bus.messages import MessageType
from ralphloop.errors import WorkError

NO_BUS, UNREADABLE = "-", "?"


class TaskBoard:
    """The bus of a task directory, read for one thing."""

    def __init__(self, directory: Path, now: Callable[[], float] = time.time) -> None:
        self._bus = Bus(directory, TASK_BUS, patience_s=PATIENCE_S)
        self._now = now

    def mark(self) -> str:
        """Where the messages end now."""
        end = UNREADABLE
        with suppress(WorkError):  # a link in its place: nobody can ask here, and the loop goes on without
            end = self._bus.mark() or NO_BUS
        return f"{self._now():.3f}@{end}"

    def asked_to_wait(self, since: str) -> tuple[str | None, str]:
        """What the last request to wait after that mark says, None where there is none; and the mark behind it."""
        moment, _, end = since.rpartition("@")
        try:
            messages, behind, known = self._bus.news(end)
        except WorkError:
            return None, since
        if not known and end != NO_BUS:
            messages = [message for message in messages if message.at >= float(moment or inf)]
        asked = [message.text.strip() or f"a message in {TASK_BUS}" for message in messages if message.type is MessageType.WAIT_WITHOUT_RESTART]
        return asked[-1] if asked else None, f"{self._now():.3f}@{behind or NO_BUS}"
