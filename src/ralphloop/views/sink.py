"""An output stream that may break: whoever reads it may go away, and the loop goes on."""

from __future__ import annotations

import os
from typing import TextIO


class Sink:
    """Writes to a stream for as long as that works, and then silently not at all. Never raises."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._broken = False

    def write(self, text: str) -> None:
        """Print the text now."""
        if self._broken:
            return
        try:
            self._out.write(self._encodable(text))
            self._out.flush()
        except BlockingIOError:
            pass  # a terminal that another program made non-blocking, and that is full: it is slow, not gone
        except (OSError, ValueError):
            self._broken = True
            self._discard()

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
