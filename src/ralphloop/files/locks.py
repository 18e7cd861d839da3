"""One process per loop: a lock that dies with its holder.

The lock is `flock`, so the kernel lets it go however the process ends; the content of the file only tells who holds it, and outlives whoever is
killed. The file is never deleted: two processes would otherwise each hold a lock, one of them on a file that has no name any more. The descriptor is not
inherited by programs that are started, but a forked copy of the process shares the lock until both have ended.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ralphloop.errors import RalphError


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who holds a lock: a process known for certain, and a nonce that tells two holdings by one process apart."""

    boot_id: str
    pid: int
    started: str
    nonce: str


class LoopLock:
    """The right to run one loop, held from `acquire` until `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: int | None = None

    def acquire(self, me: Holder) -> bool:
        """Take the lock at once and leave one's name in it, or say no; `holder` then tells who has it."""
        if self._held is not None:
            return True
        try:
            opened = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise RalphError(f"the lock file {self._path} cannot be opened: {error.strerror}") from error
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            content = json.dumps(asdict(me)).encode()
            os.pwrite(opened, content, 0)
            os.ftruncate(opened, len(content))
        except BlockingIOError:
            os.close(opened)
            return False
        except OSError as error:
            os.close(opened)
            raise RalphError(f"the lock file {self._path} cannot be used: {error.strerror}; is it on a local disk with free space?") from error
        self._held = opened
        return True

    def holder(self) -> Holder | None:
        """The last process that took the lock; None where none did, it has let go, or one is just writing its name."""
        try:
            return Holder(**json.loads(self._path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def release(self) -> None:
        """Let the lock go; harmless where it is not held."""
        if self._held is not None:
            with suppress(OSError):  # a name that stays does no harm: its process is going to end
                os.ftruncate(self._held, 0)
            os.close(self._held)
            self._held = None
