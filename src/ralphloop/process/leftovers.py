"""Ends what an earlier incarnation left behind: processes whose environment names the run.

On Linux every process of this user that did not clear its environment is found. On macOS `ps` hides the environment of protected programs, and shows
it behind the arguments as one text: the best that can be done there. What clears its environment is not found.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

from ralphloop.core.identity import ProcessIdentity
from ralphloop.process.child import PATIENCE_S
from ralphloop.process.identity import identify, read_stat
from ralphloop.process.pidfd import signal_process

TAG = "RALPH_RUN_ID"
PAUSE_S = 0.02


def end_leftovers(run_id: str, grace_s: float) -> int:
    """End every process tagged with this run, except this one and its ancestors; how many were ended."""
    if not run_id:
        raise ValueError("an empty run id would match what is not ours")
    started = time.monotonic()
    seen: set[ProcessIdentity] = set()
    while found := _tagged(run_id):
        waited_s = time.monotonic() - started
        if waited_s > grace_s + PATIENCE_S:
            break
        for identity in found:
            if waited_s >= grace_s:
                signal_process(identity, signal.SIGKILL)
            elif identity not in seen:
                signal_process(identity, signal.SIGTERM)
                signal_process(identity, signal.SIGCONT)
        seen |= found
        time.sleep(PAUSE_S)  # they are not our children: nothing tells of their exit
    return len(seen - found)


def _tagged(run_id: str) -> set[ProcessIdentity]:
    pids = _tagged_on_linux(run_id) if sys.platform == "linux" else _tagged_on_macos(run_id)
    return {identity for pid in pids if (identity := identify(pid))}


def _tagged_on_linux(run_id: str) -> set[int]:
    tag = f"{TAG}={run_id}".encode()
    pids = {int(name) for name in os.listdir("/proc") if name.isdecimal()}  # noqa: PTH208 - names, not paths
    kin = _lineage({pid: stat[0] for pid in pids if (stat := read_stat(pid))})
    return {pid for pid in pids - kin if tag in _environment(pid)}


def _environment(pid: int) -> list[bytes]:
    """The variables of a process of this user; nothing of anybody else's, also for root."""
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - one of thousands
        if os.fstat(file.fileno()).st_uid == os.geteuid():
            return file.read().split(b"\0")
    return []


def _tagged_on_macos(run_id: str) -> set[int]:
    from ralphloop.process import macos  # noqa: PLC0415 - of no use elsewhere

    table = macos.commands()
    kin = _lineage({pid: parent for pid, (parent, _) in table.items()})
    return {pid for pid, (_, command) in table.items() if pid not in kin and f"{TAG}={run_id}" in command.split()}


def _lineage(parents: dict[int, int]) -> set[int]:
    """The pids of this process and of its ancestors."""
    kin = {0}
    pid = os.getpid()
    while pid not in kin:
        kin.add(pid)
        pid = parents.get(pid, 0)
    return kin
