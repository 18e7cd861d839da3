"""The tables of the ledger, as numbered migrations: the n-th takes a file from version n - 1 to n (PRAGMA user_version).

Loops live for days while the program is upgraded, so a process with older code may go on writing to a migrated file. A migration therefore only
adds: tables, columns with a default, indexes. One that was ever released is never edited.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from ralphloop import __version__
from ralphloop.errors import LedgerError

if TYPE_CHECKING:
    from pathlib import Path

Migrations = tuple[tuple[str, ...], ...]

# `loop.n` grows with every loop, so "newest" needs no clock. The row is written with every append; no index covers a column that changes then.
_LOOP = """
CREATE TABLE loop (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    task_file TEXT,
    created_at REAL NOT NULL,
    incarnation INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started TEXT NOT NULL,
    program TEXT NOT NULL,
    last_seq INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL DEFAULT 'running',
    iteration INTEGER NOT NULL DEFAULT 0,
    max_iterations INTEGER NOT NULL,
    remaining INTEGER,
    total INTEGER,
    task TEXT,
    step TEXT,
    calls INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0,
    estimated INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,
    outcome_reason TEXT,
    strength TEXT,
    exit_code INTEGER,
    updated_at REAL NOT NULL
)"""

_ENTRY = """
CREATE TABLE entry (
    loop_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    v INTEGER NOT NULL,
    at REAL NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (loop_id, seq)
) WITHOUT ROWID"""

_INBOX = """
CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    loop_id TEXT NOT NULL,
    incarnation INTEGER NOT NULL,
    author TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    at REAL NOT NULL,
    taken_seq INTEGER
)"""

_OUTBOX = """
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    loop_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    json TEXT NOT NULL,
    at REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at REAL NOT NULL,
    sent_at REAL,
    UNIQUE (loop_id, seq, kind)
)"""

MIGRATIONS: Migrations = (
    (
        _LOOP,
        "CREATE INDEX loop_by_name ON loop (name, workspace)",
        _ENTRY,
        _INBOX,
        "CREATE INDEX inbox_open ON inbox (loop_id, id) WHERE taken_seq IS NULL",
        _OUTBOX,
        "CREATE INDEX outbox_due ON outbox (next_at) WHERE sent_at IS NULL",
    ),
)
VERSION = len(MIGRATIONS)


def version_of(connection: sqlite3.Connection) -> int:
    """The schema version of an open file; 0 where nothing was ever created in it."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def refuse_newer(path: Path, version: int, known: int = VERSION) -> None:
    """Raise LedgerError for a file that a newer program has migrated."""
    if version > known:
        raise LedgerError(
            f"the ledger {path} has schema version {version}, and ralphloop {__version__} knows versions up to {known}: "
            "upgrade ralphloop to the version that wrote it; nothing in the file was changed",
        )
