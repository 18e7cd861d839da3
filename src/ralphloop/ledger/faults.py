"""SQLite's errors, told so that a person can act: what is wrong, with which file, and what to do."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ralphloop.errors import LedgerError

if TYPE_CHECKING:
    from pathlib import Path

_FULL = "the disk is full: free some space, then resume the loop; everything written before is kept"
_DAMAGED = (
    "the file is damaged or is not a ledger: move it and its -wal and -shm files aside, "
    "then put a backup (ledger.db.v*.bak) in its place or begin with an empty ledger"
)
_DENIED = "this user must be able to read and write the file and its directory: change their permissions, or choose another state home"
_BUSY = "another process held it too long: look for a stopped or hanging process that uses it, then try again"
_FAILING = "the disk failed to read or write (or is full): check the disk and its free space, then resume the loop"

_REMEDIES = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: _FAILING,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_ERROR: _DAMAGED,
    sqlite3.SQLITE_READONLY: _DENIED,
    sqlite3.SQLITE_CANTOPEN: _DENIED,
    sqlite3.SQLITE_PERM: _DENIED,
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
}
_OS_REMEDIES = {errno.ENOSPC: _FULL, errno.EDQUOT: _FULL, errno.EIO: _FAILING}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn whatever is wrong with the file into a LedgerError; our own bugs pass through."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.IntegrityError):
        raise
    except sqlite3.Error as error:
        # The low byte is the primary code. Text that is not UTF-8 has no code at all: that is damage.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        raise LedgerError(f"the ledger {path} cannot be used ({error}): {_REMEDIES.get(code, _FAILING)}") from error
    except OSError as error:
        remedy = _OS_REMEDIES.get(error.errno or 0, _DENIED)
        raise LedgerError(f"the ledger {path} cannot be used ({os.strerror(error.errno or 0)}): {remedy}") from error
