"""Ends what an earlier incarnation of a loop left behind: found by what it carries, known by identity, never by a bare pid.

A process belongs to a loop if its environment names a run of it, if it is the leader of a run, which was written down when it started, or in that
leader's session, or if it descends from one of these: so a child loop is found with all that it runs. The session counts only while its leader
lives: the number of a dead one may be a stranger's. What cleared its environment and lost its ancestors, when loop and guardian were killed at one
instant, escapes. On macOS `ps` hides the environment of protected programs, and shows it behind the arguments as one text; sessions and descent are
not looked at: the best that can be done there.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Collection
from contextlib import suppress

from ralphloop.core.identity import ProcessIdentity
from ralphloop.process.identity import identify, is_alive, read_stat, session_of
from ralphloop.process.kinship import descendants_of, group_is_empty
from ralphloop.process.patience import PATIENCE_S
from ralphloop.process.pidfd import signal_process
from ralphloop.process.sweep import GRACE_S, Swept, described

TAG = "RALPH_RUN_ID"
PAUSE_S = 0.02


def end_leftovers(tag: str, grace_s: float, leaders: Collection[ProcessIdentity] = ()) -> Swept:
    """End every process of this run, or of any run of this loop, but for this process and its ancestors."""
    if not tag:
        raise ValueError("an empty tag would match what is not ours")
    started = time.monotonic()
    seen: set[ProcessIdentity] = set()
    while found := _found(tag, leaders).union(filter(is_alive, seen)):  # who was known by an ancestor that has ended since, is known all the same
        waited_s = time.monotonic() - started
        if waited_s > grace_s + PATIENCE_S:
            return Swept(strays=len(seen - found), leaked=described(identity.pid for identity in found))
        for identity in found:
            if waited_s >= grace_s:
                signal_process(identity, signal.SIGKILL)
            elif identity not in seen:
                signal_process(identity, signal.SIGTERM)
                signal_process(identity, signal.SIGCONT)
        seen |= found
        time.sleep(PAUSE_S)  # they are not our children: nothing tells of their exit
    return Swept(strays=len(seen))


class TagBroom:
    """The sweep after a run where there are no subreapers: what carries the tag of the run is found, and nothing else."""

    def __init__(self, tag: str) -> None:
        self._tag = tag

    def reap(self, leader: int) -> None:
        """Orphans go to the first process of the system here."""

    def ask(self, leader: int) -> None:
        """They are asked when they are ended."""

    def is_empty(self, leader: int) -> bool:
        """As far as can be told at once: what has left the group is looked for when it is ended."""
        return group_is_empty(leader)

    def end(self) -> Swept:
        """End what carries the tag."""
        return end_leftovers(self._tag, GRACE_S)


def _found(tag: str, leaders: Collection[ProcessIdentity]) -> set[ProcessIdentity]:
    pids = _found_on_linux(tag, leaders) if sys.platform == "linux" else _tagged_on_macos(tag)
    return {identity for pid in pids if (identity := identify(pid))}


def _found_on_linux(tag: str, leaders: Collection[ProcessIdentity]) -> set[int]:
    pids = {int(name) for name in os.listdir("/proc") if name.isdecimal()}  # noqa: PTH208 - names, not paths
    kin = _lineage({pid: stat[0] for pid in pids if (stat := read_stat(pid))})
    sessions = {leader.pid for leader in leaders if is_alive(leader)}
    found = {pid for pid in pids - kin if _is_tagged(_environment(pid), tag) or session_of(pid) in sessions}
    return found.union(*(descendants_of(pid) for pid in found)) - kin


def _is_tagged(environment: list[bytes], tag: str) -> bool:
    run = f"{TAG}={tag}".encode()
    return any(variable == run or variable.startswith(run + b"/") for variable in environment)


def _environment(pid: int) -> list[bytes]:
    """The variables of a process of this user; nothing of anybody else's, also for root."""
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - one of thousands
        if os.fstat(file.fileno()).st_uid == os.geteuid():
            return file.read().split(b"\0")
    return []


def _tagged_on_macos(tag: str) -> set[int]:
    from ralphloop.process import macos  # noqa: PLC0415 - of no use elsewhere

    table = macos.commands()
    kin = _lineage({pid: parent for pid, (parent, _) in table.items()})
    return {pid for pid, (_, command) in table.items() if pid not in kin and _is_tagged([word.encode() for word in command.split()], tag)}


def _lineage(parents: dict[int, int]) -> set[int]:
    """The pids of this process and of its ancestors."""
    kin = {0}
    pid = os.getpid()
    while pid not in kin:
        kin.add(pid)
        pid = parents.get(pid, 0)
    return kin
