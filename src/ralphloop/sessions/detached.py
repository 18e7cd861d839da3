"""A loop without a terminal: a session of its own, its words in a log, and a starter that leaves once the loop runs."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

END = b"\0"
MOST_DESCRIPTORS = 2**20  # the limit of the system may be none at all


class Announcer:
    """In the detached process: the way back to the starter, who waits to hear that the loop runs."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def announce(self, words: str, log: int) -> None:
        """From here on everything goes into the log; the starter prints the words, and leaves."""
        sys.stdout.flush()
        sys.stderr.flush()
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        os.close(null)
        os.close(log)
        with suppress(OSError):  # the starter may be gone; the loop runs all the same
            os.write(self._descriptor, words.encode() + END)
        os.close(self._descriptor)


def detach() -> Announcer | int:
    """Fork. In the new session: the announcer. In the starter, once the loop runs or has failed to start: the exit code."""
    sys.stdout.flush()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # under an inherited "ignore" no exit code can be had
    heard, told = os.pipe()
    detached = os.fork()
    if not detached:
        os.setsid()
        # Whatever the starter had open (a lock, somebody's pipe) is not ours to hold for days.
        os.closerange(3, told)
        os.closerange(told + 1, MOST_DESCRIPTORS)
        return Announcer(told)
    os.close(told)
    words = b""
    while not words.endswith(END) and (piece := os.read(heard, 4096)):  # the guardian keeps the other end: it does not close
        words += piece
    if words:
        with suppress(OSError):  # the loop runs, whether anybody reads that or not
            os.write(1, words.removesuffix(END))
        return 0
    code = os.waitstatus_to_exitcode(os.waitpid(detached, 0)[1])
    if code < 0 or code > 128:  # what is wrong with the work or the flags, the loop has told by itself
        sys.stderr.write("ralph: the loop was killed before it ran\n")
    return code if code >= 0 else 128 - code
