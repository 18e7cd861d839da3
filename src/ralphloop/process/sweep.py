"""The sweep: after a run nothing of it is left, whatever it did to get away.

The loop is a subreaper, so a process that leaves its group, its session or its parent becomes, at the latest when its parent ends, a child of the loop.
The number of a child cannot be given to anybody else before we reap it; so children are killed by number, again and again, each round bringing up
what was below the last one, until the system says that there is no child left (ECHILD). What re-forks as fast as it can is killed with its group,
which no fork gets away from; if it changes groups as well, one of the rounds is quicker. Who is asked to end politely is known by identity, and is
let alone with all that is below it: how it ends its own, and what it starts in order to tidy up, is its business for as long as it has the time.

Child loops that an agent started are spared with all that is below them. Nothing here waits for "any child" on what a run owns: the dead are
looked at first, and reaped one by one, never the leader of a run.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import inf
from typing import NamedTuple

from ralphloop.core.identity import ProcessIdentity
from ralphloop.process.identity import group_of, identify, session_of
from ralphloop.process.kinship import children_of, descendants_of
from ralphloop.process.patience import PATIENCE_S
from ralphloop.process.pidfd import signal_process

GRACE_S = 0.25
PAUSE_S = 0.002
LOOKS = 3
NAMED = 5

Spared = Callable[[], Iterable[ProcessIdentity]]


class Swept(NamedTuple):
    """How many processes were left and ended, and in words those that could not be."""

    strays: int = 0
    leaked: str = ""


def nobody() -> Iterable[ProcessIdentity]:
    """Spare nobody."""
    return ()


def reap_strays(leader: int | None) -> bool:
    """Reap the dead that we adopted, but not the leader of a run; whether this process has any child, dead or alive."""
    try:
        while (dead := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None and dead.si_pid != leader:
            os.waitpid(dead.si_pid, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


class Sweep:
    """The end of everything that one run left. `leader` is the process whose exit status somebody still wants."""

    def __init__(self, spared: Spared = nobody, *, patience_s: float = PATIENCE_S) -> None:
        self._spared = spared
        self._patience_s = patience_s
        self._asked: set[ProcessIdentity] = set()
        self._since = inf
        self._most = 0

    def reap(self, leader: int) -> None:
        """Reap the dead among those that we adopted while the run lasts: an agent may daemonize thousands."""
        reap_strays(leader)

    def ask(self, leader: int | None = None) -> None:
        """Ask each child of this process to end, each only once; but for the leader's group, which is asked as a whole."""
        found = self._alive(leader)
        if not found:
            return
        self._since = min(self._since, time.monotonic())
        self._most = max(self._most, sum(identify(pid) is not None for pid in descendants_of(os.getpid(), self._kept()) - {leader}))
        for identity in found - self._asked:
            if leader is None or group_of(identity.pid) != leader:
                signal_process(identity, signal.SIGTERM)
                signal_process(identity, signal.SIGCONT)
        self._asked |= found

    def is_empty(self, leader: int) -> bool:
        """Whether nothing but the leader is left; what is spared does not count."""
        return not self._alive(leader)

    def _alive(self, leader: int | None) -> set[ProcessIdentity]:
        return {identity for pid in self._left(leader) if (identity := identify(pid))}

    def end(self, grace_s: float = GRACE_S) -> Swept:
        """Return when nothing is left, or when nothing more can be tried."""
        self._since = min(self._since, time.monotonic())
        looks, before = 0, None
        while reap_strays(None) and looks < LOOKS:
            left = self._left()
            # A list that is read while processes come and go may lack one; with spared children among them no ECHILD would tell.
            looks = looks + 1 if not left and self._kept() else 0
            waited_s = time.monotonic() - self._since
            if waited_s >= grace_s + self._patience_s:
                return Swept(strays=max(self._most - len(left), 0), leaked=described(left))
            if waited_s < grace_s:
                self.ask()
            else:
                self._kill(left)
            if left == before:
                time.sleep(PAUSE_S)  # some are not our children: nothing tells of their exit
            before = left
        return Swept(strays=self._most)

    def _kill(self, left: list[int]) -> None:
        """The youngest first: the others may be dead already. By groups, but where the session is our own or that of somebody spared."""
        shared = {0, *(session_of(pid) for pid in (os.getpid(), *self._kept()))}  # 0: led by somebody outside of this PID namespace
        killed = {0}
        self._most = max(self._most, bool(left))  # what re-forks fast enough was never seen alive
        for pid in reversed(left):
            group = group_of(pid)
            if session_of(pid) in shared:
                _send(os.kill, pid)
            elif group not in killed:
                killed.add(group)
                _send(os.killpg, group)

    def _left(self, leader: int | None = None) -> list[int]:
        """Our children, but for the leader and the spared: the oldest first."""
        others = [pid for pid in children_of(os.getpid()) if pid != leader]
        kept = self._kept() if others else frozenset()
        return [pid for pid in others if pid not in kept]

    def _kept(self) -> frozenset[int]:
        return frozenset(identity.pid for identity in self._spared())


def _send(kill: Callable[[int, int], None], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        kill(number, signal.SIGKILL)


def described(pids: Iterable[int]) -> str:
    """These processes by number and name, as many as fit into a sentence."""
    left = list(pids)
    names = [f"process {pid} ({_name(pid)})" for pid in sorted(left, key=lambda pid: identify(pid) is None)[:NAMED]]
    return ", ".join(names) + (f" and {len(left) - NAMED} more" if len(left) > NAMED else "")


def _name(pid: int) -> str:
    with suppress(OSError), open(f"/proc/{pid}/comm", "rb") as file:  # noqa: PTH123 - one line
        return file.read().strip().decode(errors="replace")
    return "?"
