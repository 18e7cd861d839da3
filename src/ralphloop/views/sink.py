"""An output stream that may break or stall: whoever reads it may go away or stop reading, and the loop goes on.

The loop prints from within its poll loop: a write that blocked would stop the clock of every deadline. So a stream that takes nothing for a while
is left alone until it does, and what was not shown is said; the raw log has all of it.
"""

from __future__ import annotations

import os
import select
from typing import TextIO

PATIENCE_S = 2.0
PIECE_CHARS = 1024  # at most 4096 bytes: what a pipe takes at once when it says that it takes anything
SKIPPED = "\n… output skipped: nobody was reading\n"


class Sink:
    """Writes to a stream for as long as that works, and then silently not at all. Never raises."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._broken = False
        self._stalled = False

    def write(self, text: str) -> None:
        """Print the text now."""
        if self._broken:
            return
        try:
            self._write(self._encodable(text))
        except BlockingIOError:
            pass  # a terminal that another program made non-blocking, and that is full: it is slow, not gone
        except (OSError, ValueError):
            self._broken = True
            self._discard()

    def _write(self, text: str) -> None:
        """Piece by piece, as long as somebody takes them."""
        if self._stalled and self._takes():
            self._stalled = False
            text = f"{SKIPPED}{text}"
        for start in range(0, len(text), PIECE_CHARS):
            self._stalled = self._stalled or not self._takes()
            if self._stalled:
                return
            self._out.write(text[start : start + PIECE_CHARS])
            self._out.flush()

    def _takes(self) -> bool:
        """Whether the stream takes something, soon; what is no file always does."""
        try:
            number = self._out.fileno()
        except (OSError, ValueError):
            return True
        poll = select.poll()
        poll.register(number, select.POLLOUT)
        return bool(poll.poll(0 if self._stalled else PATIENCE_S * 1000))

    def _encodable(self, text: str) -> str:
        encoding = self._out.encoding or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            return text.encode(encoding, "replace").decode(encoding)
        return text

    def _discard(self) -> None:
        """Point the stream elsewhere: what lies in its buffer would else make Python's exit fail, with status 120."""
        try:
            number = self._out.fileno()
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, number)
            os.close(null)
        except (OSError, ValueError):
            pass
