"""Who descends from whom, as the system sees it now. Imports little: guardians are meant to be small."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from ralphloop.core.identity import ProcessIdentity
from ralphloop.process.identity import identify, read_stat


def children_of(pid: int) -> list[int]:
    """The children of a process, dead ones that nobody has reaped among them; macOS: none are seen."""
    if sys.platform != "linux":
        return []
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names, not paths
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:  # noqa: PTH123 - pathlib is heavy
                found += [int(child) for child in file.read().split()]
    except OSError:
        return _children_by_search(pid)
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
    if not os.path.exists(f"/proc/{pid}") or os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children"):  # noqa: PTH110 - pathlib is heavy
        return []  # it is gone
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208 - names, not paths
        with suppress(OSError, IndexError, ValueError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
            if int(file.read().rpartition(b")")[2].split()[1]) == pid:
                found.append(int(name))
    return found
