"""How a wish to stop reaches a running operation at once, from a signal or from elsewhere."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Self

_Handler = Callable[[int, FrameType | None], None] | signal.Handlers

GUARDIAN_DIED = "the death of its guardian process"
SHUTTING_DOWN = b"Received signal, shutting down...\n"
FIRST_FINISHES = b"What runs now may finish; once more ends it at once.\n"


class StopFlag:
    """How urgently somebody wants an end: 0 not at all, 1 after the current operation, 2 now.

    Its descriptors turn readable at each request, so that a poll loop sees one at once; the level stays when they are drained. `life_fd`: the
    end of a pipe whose other end the guardian holds; when that closes, nobody watches over the loop any more, and it must end now.
    """

    def __init__(self, life_fd: int | None = None) -> None:
        self._life_fd = life_fd
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

    def filenos(self) -> tuple[int, ...]:
        """The descriptors to poll."""
        return (self._read_fd,) if self._life_fd is None else (self._read_fd, self._life_fd)

    @property
    def wakeup_fd(self) -> int:
        """The descriptor that signals write to."""
        return self._write_fd

    def drain(self) -> None:
        """Make the descriptors unreadable until the next request. Look at `level` afterwards, not before."""
        with suppress(BlockingIOError):
            while os.read(self._read_fd, 4096):
                pass
        if self._life_fd is not None and select.select([self._life_fd], [], [], 0)[0]:
            os.close(self._life_fd)
            self._life_fd = None
            self._authors += [GUARDIAN_DIED] * 2

    def close(self) -> None:
        """Give the descriptors back."""
        for fd in (*self.filenos(), self._write_fd):
            os.close(fd)


class SignalHandlers:
    """Handlers that are in place until `uninstall`, or until the end of a `with` block."""

    def __init__(self, stop: StopFlag, *, patient: bool = True, unblock: bool = False) -> None:
        self._stop = stop
        self._patient = patient
        handlers: dict[signal.Signals, _Handler] = {
            signal.SIGINT: self._on_stop_signal,
            signal.SIGTERM: self._on_stop_signal,
            signal.SIGHUP: _survive,  # a handler and not "ignore", which the agents would inherit
            signal.SIGPIPE: signal.SIG_IGN,  # reset in each child by subprocess
        }
        self._before = {signum: signal.signal(signum, handler) for signum, handler in handlers.items()}
        # A signal between the last bytecode and the poll system call runs no Python handler: only this descriptor ends that poll.
        self._wakeup_before = signal.set_wakeup_fd(stop.wakeup_fd, warn_on_full_buffer=False)
        if unblock:
            signal.pthread_sigmask(signal.SIG_SETMASK, ())

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
        first = self._stop.level == 0
        self._stop.request(signal.Signals(signum).name)
        if signum == signal.SIGTERM and not self._patient:
            self._stop.request(signal.Signals(signum).name)
        if first:
            with suppress(OSError):  # nobody may be reading any more
                os.write(2, SHUTTING_DOWN + (FIRST_FINISHES if self._stop.level == 1 else b""))


def install(stop: StopFlag, *, patient: bool = True, unblock: bool = False) -> SignalHandlers:
    """SIGINT and SIGTERM ask `stop`; a hang-up or a closed terminal does not kill. Not `patient`: SIGTERM is urgent at once. Main thread only.

    `unblock`: let every signal through once there are handlers, also what the parent of this program had blocked: agents would inherit that.
    """
    return SignalHandlers(stop, patient=patient, unblock=unblock)


def _survive(_signum: int, _frame: FrameType | None) -> None:
    pass
