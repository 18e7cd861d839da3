"""Requests to wait, as they are posted on a task's bus (ports.WaitBoard)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ralphloop.bus.board import PATIENCE_S, TASK_BUS, Bus
from ralphloop.bus.messages import MessageType
from ralphloop.errors import WorkError


class TaskBoard:
    """The bus of a task directory, read for one thing."""

    def __init__(self, directory: Path) -> None:
        self._bus = Bus(directory, TASK_BUS, patience_s=PATIENCE_S)

    def mark(self) -> str:
        """Where the messages end now; empty where there is no bus, or none that can be read."""
        with suppress(WorkError):  # a link in its place: nobody can ask here, and the loop goes on without
            return self._bus.mark()
        return ""

    def asked_to_wait(self, since: str) -> tuple[str | None, str]:
        """What the last request to wait after that mark says, None where there is none; and the mark behind it."""
        try:
            messages, mark = self._bus.since(since)
        except WorkError:
            return None, since
        asked = [message.text.strip() or f"a message in {TASK_BUS}" for message in messages if message.type is MessageType.WAIT_WITHOUT_RESTART]
        return asked[-1] if asked else None, mark
