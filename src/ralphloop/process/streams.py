"""What becomes of the bytes that a process writes: first the raw log, then the reader."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from ralphloop.core.ports import Sign
from ralphloop.process.lines import LineSplitter

TAIL_BYTES = 4096
# The path may lie where an agent can write: a link is not followed, and a FIFO does not block.
_LOG_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class RawLog:
    """A file that takes every byte. What it cannot take (full disk, no directory) is counted; the run goes on."""

    def __init__(self, path: Path | None) -> None:
        self.lost_bytes = 0
        self._wanted = path is not None
        self._fd = None if path is None else _open_log(path)
        self._digest = hashlib.sha256()

    def write(self, chunk: bytes) -> None:
        """Append the chunk, as far as it goes."""
        if not self._wanted:
            return
        self._digest.update(chunk)
        rest = memoryview(chunk)
        while rest:
            try:
                rest = rest[_write(self._fd, rest) :]
            except OSError:
                self.lost_bytes += len(rest)
                return

    @property
    def digest(self) -> str | None:
        """The SHA-256 of what the process wrote, whatever becomes of the file afterwards; None where no log is kept."""
        return self._digest.hexdigest() if self._wanted else None

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class OutputStream:
    """Standard output: logged, then handed on line by line."""

    def __init__(self, log: RawLog, on_line: Callable[[bytes], Sign]) -> None:
        self.bytes = 0
        self._log = log
        self._on_line = on_line
        self._splitter = LineSplitter()
        self._sign = Sign.WORKING

    def take(self, chunk: bytes) -> Sign:
        """What its lines say of the run; WORKING also where the chunk completed no line."""
        self.bytes += len(chunk)
        self._log.write(chunk)
        return self._hand_on(self._splitter.feed(chunk))

    def close(self) -> None:
        """Hand on the last line, if it had no line end."""
        self._hand_on(self._splitter.close())

    @property
    def dropped_bytes(self) -> int:
        """Bytes that did not reach the reader or the log."""
        return self._splitter.dropped_bytes + self._log.lost_bytes

    def _hand_on(self, lines: list[bytes]) -> Sign:
        for line in lines:
            # What was over once is never again at work.
            self._sign = self._on_line(line) or min(self._sign, Sign.OVER)
        return self._sign if lines else Sign.WORKING


class ErrorStream:
    """Standard error: logged, and its end remembered."""

    def __init__(self, log: RawLog) -> None:
        self.bytes = 0
        self._log = log
        self._tail = b""

    def take(self, chunk: bytes) -> Sign:
        """Never says anything about a result."""
        self.bytes += len(chunk)
        self._log.write(chunk)
        self._tail = (self._tail + chunk)[-TAIL_BYTES:]
        return Sign.WORKING

    @property
    def dropped_bytes(self) -> int:
        """Bytes that did not reach the log."""
        return self._log.lost_bytes

    @property
    def tail(self) -> str:
        """The last words, readable whatever they hold."""
        return self._tail.decode(errors="replace")


def _open_log(path: Path) -> int | None:
    try:
        fd = os.open(path, _LOG_FLAGS, 0o600)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    return None


def _write(fd: int | None, data: memoryview) -> int:
    if fd is None:
        raise OSError("this log could not be opened")
    return os.write(fd, data)
