"""What macOS tells about processes: by `ps`, `sysctl` and kqueue. Imported there alone."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from contextlib import closing, suppress

_TIMEOUT_S = 10


def boot_id() -> str:
    """A text that differs from boot to boot."""
    return _ask("/usr/sbin/sysctl", "-n", "kern.bootsessionuuid").strip()


def start_time(pid: int) -> str | None:
    """When the process started, to the second; None where there is none, or a zombie."""
    state, _, started = _ask("/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)).strip().partition(" ")
    return started.strip() if state and not state.startswith("Z") else None


def parent(pid: int) -> int:
    """The parent of a process; 0 where there is no such process."""
    said = _ask("/bin/ps", "-o", "ppid=", "-p", str(pid)).strip()
    return int(said) if said.isdecimal() else 0


def commands() -> dict[int, tuple[int, str]]:
    """Of every process that `ps` shows us: its parent, and its command line followed by its environment."""
    table = {}
    for row in _ask("/bin/ps", "-axEww", "-o", "pid=,ppid=,command=").splitlines():
        pid, parent, *command = row.split(None, 2)
        table[int(pid)] = (int(parent), " ".join(command))
    return table


def open_exit(pid: int) -> int | None:
    """A descriptor that is readable once this process, a child of ours, has exited; None where it has, or none can be had."""
    if sys.platform == "darwin":  # for the type checker: other systems have no kqueue
        with suppress(OSError), closing(select.kqueue()) as queue:
            exited = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            queue.control([exited], 0)
            return os.dup(queue.fileno())
    return None


def _ask(*argv: str) -> str:
    """The answer of a tool of the system, in the C locale: dates must not change with the user's language."""
    done = subprocess.run(argv, env={"LC_ALL": "C"}, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False)
    return done.stdout.decode(errors="replace")
