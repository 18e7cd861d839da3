"""Who may work on what: one process for each loop, and one loop for each task file or folder."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ralphloop.core.model import LoopSpec
from ralphloop.errors import LoopBusy
from ralphloop.files.locks import Holder, LoopLock
from ralphloop.files.places import lock_path
from ralphloop.process.identity import own_identity


@contextmanager
def work_locked(state_home: Path, spec: LoopSpec) -> Iterator[None]:
    """The right to work on that task file or folder: two loops, whatever their names, would undo each other's work."""
    place = spec.work.task_file or spec.work.task_dir
    if place is None:
        yield
        return
    path = os.path.realpath(Path(spec.workspace, place))
    with locked(state_home, path, "\0task file") as holder:
        if holder is not None:
            raise LoopBusy(f"another loop is working on {path} ({holder}): see `ralph status`")
        yield


@contextmanager
def locked(state_home: Path, workspace: str, what: str) -> Iterator[str | None]:
    """Hold a lock, or say in words who does."""
    lock = LoopLock(lock_path(state_home, workspace, what))
    me = own_identity()
    if lock.acquire(Holder(boot_id=me.boot_id, pid=me.pid, started=me.started, nonce=secrets.token_hex(8))):
        try:
            yield None
        finally:
            lock.release()
    else:
        holder = lock.holder()
        yield f"process {holder.pid}" if holder else "another process"
