"""A message bus: one Markdown file that everybody who works on a task may write, and nobody overwrites."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ralphloop.bus.messages import Message, parse, render
from ralphloop.files.journal_file import JournalFile
from ralphloop.files.places import PROJECT_BUS, TASK_BUS

__all__ = ["MAX_BUS_BYTES", "PATIENCE_S", "PROJECT_BUS", "TASK_BUS", "Bus"]

PATIENCE_S = 1.0  # a loop does not stand still for one who sits on the lock
MAX_BUS_BYTES = 8 * 1024 * 1024


class News(NamedTuple):
    """Messages, the mark behind them, and whether the mark that was asked for is known here."""

    messages: list[Message]
    mark: str
    known: bool


class Bus:
    """The bus of that name in a directory; a full one goes on in a new file, and only the one before it is kept.

    `patience_s`: how long a post waits for somebody who holds the lock.
    """

    def __init__(self, directory: Path, name: str, *, max_bytes: int = MAX_BUS_BYTES, patience_s: float = 10.0) -> None:
        self._file = JournalFile(directory=directory, name=name, max_bytes=max_bytes, patience_s=patience_s)

    def post(self, message: Message) -> None:
        """Add a message, whole or not at all; WorkError where that cannot be."""
        self._file.append(render(message))

    def mark(self) -> str:
        """The end of the bus as it is now, for `since`; empty where there is no bus yet."""
        return self._file.end()

    def since(self, mark: str) -> tuple[list[Message], str]:
        """The messages after that mark, and the new mark; all of them where the mark is unknown. A line that still grows is left for later."""
        return self.news(mark)[:2]

    def news(self, mark: str) -> News:
        """The same, and whether the mark is known."""
        added = self._file.after(mark)
        return News([message for piece in added.pieces for message in parse(piece)], added.mark, added.known)

    def messages(self) -> list[Message]:
        """Every message there is now, with what stands in a last line that may still grow."""
        return [message for piece in self._file.everything() for message in parse(piece)]
