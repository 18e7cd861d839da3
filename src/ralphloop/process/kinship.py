"""Who descends from whom, as the system sees it now. Imports little: guardians are meant to be small."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NamedTuple

from ralphloop.core.identity import ProcessIdentity
from ralphloop.process.identity import group_of, identify, read_stat

_OWN_LIST = "/proc/thread-self/children"


def children_of(pid: int) -> list[int]:
    """The children of a process, dead ones that nobody has reaped among them; macOS: none are seen."""
    if sys.platform != "linux":
        return []
    if not os.path.exists(_OWN_LIST):  # noqa: PTH110 - pathlib is heavy
        return _children_by_search(pid)
    found = []
    with suppress(OSError):  # the process is gone
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names, not paths
            with suppress(OSError), open(f"/proc/{pid}/task/{task}/children", "rb") as file:  # noqa: PTH123 - as above; this thread of it is gone
                found += [int(child) for child in file.read().split()]
    return found


def descendants_of(pid: int, spared: frozenset[int] = frozenset()) -> set[int]:
    """Everything below a process, but for the spared and what is below them."""
    found: set[int] = set()
    pending = [pid]
    while pending:
        below = set(children_of(pending.pop())) - spared - found
        found |= below
        pending += below
    return found


def is_below(pid: int, ancestor: int) -> bool:
    """Whether a process descends from that one."""
    seen = {0}
    while pid not in seen:
        seen.add(pid)
        pid = _parent_of(pid)
        if pid == ancestor:
            return True
    return False


def group_is_empty(leader: int) -> bool:
    """Whether nobody is alive in the group of a leader that has exited and is not reaped."""
    if sys.platform != "linux":
        try:
            os.killpg(leader, 0)
        except (ProcessLookupError, PermissionError):  # macOS answers EPERM for a group that consists of a dead leader alone
            return True
        return False
    return not members_of(leader)


class Member(NamedTuple):
    """A process of a group, and the program that it runs: that may change."""

    identity: ProcessIdentity
    command: bytes


def members_of(group: int) -> set[Member]:
    """The living processes of a group; macOS: none are seen."""
    if sys.platform != "linux":
        return set()
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())  # noqa: PTH208 - names, not paths
    return {Member(identity, _command(pid)) for pid in pids if group_of(pid) == group and (identity := identify(pid))}


def _command(pid: int) -> bytes:
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - pathlib is heavy
        return file.read()
    return b""


def ancestors() -> list[ProcessIdentity]:
    """The processes that this one descends from, the nearest first."""
    found: list[ProcessIdentity] = []
    pid = os.getppid()
    while pid > 0 and (identity := identify(pid)) is not None and identity not in found:
        found.append(identity)
        pid = _parent_of(pid)
    return found


def _parent_of(pid: int) -> int:
    if sys.platform != "linux":
        from ralphloop.process import macos  # noqa: PLC0415 - of no use elsewhere

        return macos.parent(pid)
    stat = read_stat(pid)
    return 0 if stat is None else stat[0]


def _children_by_search(pid: int) -> list[int]:
    """For a kernel without lists of children: every process says who its parent is."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208 - names, not paths
        with suppress(OSError, IndexError, ValueError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
            if int(file.read().rpartition(b")")[2].split()[1]) == pid:
                found.append(int(name))
    return found
