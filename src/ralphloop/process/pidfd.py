"""Linux descriptors for processes: one stays bound to its process, whatever becomes of the number."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

from ralphloop.core.identity import ProcessIdentity
from ralphloop.process.identity import identify


def open_pidfd(pid: int) -> int | None:
    """A descriptor that is readable once the process has exited; None where there is no such process or no such thing."""
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        with suppress(OSError):  # before Linux 5.3, forbidden in a container, no free descriptor, or the process is gone
            return os.pidfd_open(pid)
    return None


def signal_process(identity: ProcessIdentity, signum: signal.Signals) -> None:
    """Signal this very process, if it still lives: the descriptor comes first and the look second, so a reused pid is never hit."""
    fd = open_pidfd(identity.pid)
    try:
        if identify(identity.pid) == identity:
            with suppress(ProcessLookupError, PermissionError):
                _send(fd, identity.pid, signum)
    finally:
        if fd is not None:
            os.close(fd)


def _send(fd: int | None, pid: int, signum: signal.Signals) -> None:
    if sys.platform == "linux" and fd is not None:
        signal.pidfd_send_signal(fd, signum)
    else:
        os.kill(pid, signum)
