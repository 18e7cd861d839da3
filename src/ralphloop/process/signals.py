"""How a wish to stop reaches a running operation at once, from a signal or from elsewhere."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Self

_Handler = Callable[[int, FrameType | None], None] | signal.Handlers

SHUTTING_DOWN = b"Received signal, shutting down...\n"


class StopFlag:
    """How urgently somebody wants an end: 0 not at all, 1 after the current operation, 2 now.

    Its descriptor turns readable at each request, so that a poll loop sees one at once; the level stays when the descriptor is drained.
    """

    def __init__(self) -> None:
        self._authors: list[str] = []  # appending is atomic: one handler may interrupt another
        self._read_fd, self._write_fd = os.pipe()
        os.set_blocking(self._read_fd, False)
        os.set_blocking(self._write_fd, False)

    @property
    def level(self) -> int:
        """0, 1 or 2."""
        return min(len(self._authors), 2)

    @property
    def author(self) -> str | None:
        """Who asked first."""
        return self._authors[0] if self._authors else None

    def request(self, author: str) -> None:
        """Ask for an end: the second request is the urgent one. Safe in a signal handler."""
        self._authors.append(author)
        with suppress(BlockingIOError):  # full: it is readable already
            os.write(self._write_fd, b"\0")

    def fileno(self) -> int:
        """The descriptor to poll."""
        return self._read_fd

    @property
    def wakeup_fd(self) -> int:
        """The descriptor that signals write to."""
        return self._write_fd

    def drain(self) -> None:
        """Make the descriptor unreadable until the next request. Look at `level` afterwards, not before."""
        with suppress(BlockingIOError):
            while os.read(self._read_fd, 4096):
                pass

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self._read_fd)
        os.close(self._write_fd)


class SignalHandlers:
    """Handlers that are in place until `uninstall`, or until the end of a `with` block."""

    def __init__(self, stop: StopFlag) -> None:
        self._stop = stop
        handlers: dict[signal.Signals, _Handler] = {
            signal.SIGINT: self._on_stop_signal,
            signal.SIGTERM: self._on_stop_signal,
            signal.SIGHUP: _survive,  # a handler and not "ignore", which the agents would inherit
            signal.SIGPIPE: signal.SIG_IGN,  # reset in each child by subprocess
        }
        self._before = {signum: signal.signal(signum, handler) for signum, handler in handlers.items()}
        # A signal between the last bytecode and the poll system call runs no Python handler: only this descriptor ends that poll.
        self._wakeup_before = signal.set_wakeup_fd(stop.wakeup_fd, warn_on_full_buffer=False)

    def uninstall(self) -> None:
        """Put back what was there before."""
        signal.set_wakeup_fd(self._wakeup_before)
        for signum, handler in self._before.items():
            signal.signal(signum, handler)
        self._before = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.uninstall()

    def _on_stop_signal(self, signum: int, _frame: FrameType | None) -> None:
        self._stop.request(signal.Signals(signum).name)
        if self._stop.level == 1:
            with suppress(OSError):  # nobody may be reading any more
                os.write(2, SHUTTING_DOWN)


def install(stop: StopFlag) -> SignalHandlers:
    """SIGINT and SIGTERM ask `stop`; a hang-up or a closed terminal does not kill. On the main thread only."""
    return SignalHandlers(stop)


def reset_sigchld() -> None:
    """Undo an inherited "ignore", under which every exit status reads 0. Call once when the program starts."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _survive(_signum: int, _frame: FrameType | None) -> None:
    pass
