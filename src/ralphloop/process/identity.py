"""Which process is meant: boot, pid and start time together, since a bare pid is given to somebody else later.

On the path of `ralph status`: nothing heavy is imported here.
"""

from __future__ import annotations

import os
import sys

from ralphloop.core.identity import ProcessIdentity
from ralphloop.errors import RalphError

LONGEST_NUMBER = 18
"""Digits of a number that a file may hold: who reads a longer one gets an error, and nothing has such a number."""


def identify(pid: int) -> ProcessIdentity | None:
    """The identity of a living process; None where there is none, or only a zombie."""
    if sys.platform != "linux":
        from ralphloop.process import macos  # noqa: PLC0415 - heavy, and of no use elsewhere

        started = macos.start_time(pid)
        return None if started is None else ProcessIdentity(boot_id=macos.boot_id(), pid=pid, started=started)
    stat = read_stat(pid)
    return None if stat is None else ProcessIdentity(boot_id=_boot_id(), pid=pid, started=stat[1])


def is_alive(identity: ProcessIdentity) -> bool:
    """Whether this very process lives; a zombie does not, nor does another process with its pid."""
    return identify(identity.pid) == identity


def written(identity: ProcessIdentity) -> bytes:
    """The identity as it is kept in a file."""
    return "\n".join(map(str, identity)).encode()


def read_back(content: bytes | None) -> ProcessIdentity | None:
    """The identity that a file holds; None where it holds none."""
    match (content or b"").decode(errors="replace").split("\n"):
        case [boot_id, pid, started] if pid.isdecimal() and len(pid) <= LONGEST_NUMBER:
            return ProcessIdentity(boot_id=boot_id, pid=int(pid), started=started)
        case _:
            return None


def own_identity() -> ProcessIdentity:
    """The identity of this process."""
    identity = identify(os.getpid())
    if identity is None:
        raise RalphError("this process cannot find itself in /proc (or by ps): mount /proc, Ralph tells processes apart by it")
    return identity


def read_stat(pid: int) -> tuple[int, str] | None:
    """Parent and start time (in ticks since boot) of a living process, as Linux has them."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib is heavy
            content = file.read()
    except OSError:
        return None
    # The name in parentheses may hold anything, also a parenthesis: the fields count from the last one.
    state, parent, *fields = content.rpartition(b")")[2].split()
    return None if state in {b"Z", b"X"} else (int(parent), fields[17].decode())


def session_of(pid: int) -> int:
    """The session of a process; 0 where there is no such process."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def group_of(pid: int) -> int:
    """The process group of a process; 0 where there is no such process."""
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def _boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id", "rb") as file:  # noqa: PTH123 - as above
        return file.read().strip().decode()
