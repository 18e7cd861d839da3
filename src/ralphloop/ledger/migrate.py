"""A ledger file comes into being, and grows from version to version. Only writers do this.

A new file is made under another name and linked into place complete, so nobody ever opens half a ledger; of two starters one wins and the other
uses the winner's file (a link, unlike a rename, never replaces a file that is already in use).
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from ralphloop.files.atomic import sync_directory
from ralphloop.ledger.location import uri
from ralphloop.ledger.schema import MIGRATIONS, Migrations, refuse_newer, version_of


def create_if_missing(path: Path) -> None:
    """Put an empty ledger of the current version at the path unless a file is there."""
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = _private_file_beside(path, "new")
    try:
        with closing(sqlite3.connect(new, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection, new)
        _link_unless_there(new, path)
    finally:
        new.unlink(missing_ok=True)
    sync_directory(path.parent)


def migrate(connection: sqlite3.Connection, path: Path, migrations: Migrations = MIGRATIONS) -> None:
    """Bring the file to the current version in one transaction, after a backup of what is in it."""
    known = len(migrations)
    if version_of(connection) == known:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = version_of(connection)  # again: another starter may have been faster
        refuse_newer(path, version, known)
        if version < known:
            _back_up(path, version)
        for statements in migrations[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {known}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _back_up(path: Path, version: int) -> None:
    """Copy the file to `<name>.v<version>.bak`, complete or not at all; a file without tables needs no backup.

    Through a connection of its own: a backup from one that is inside a write transaction waits for the end of it for ever.
    """
    with closing(sqlite3.connect(uri(path, "ro"), uri=True, isolation_level=None)) as source:
        if source.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
            return
        copy = _private_file_beside(path, "bak")
        try:
            with closing(sqlite3.connect(copy, isolation_level=None)) as target:
                source.backup(target)
            copy.replace(path.with_name(f"{path.name}.v{version}.bak"))
        finally:
            copy.unlink(missing_ok=True)


def _private_file_beside(path: Path, suffix: str) -> Path:
    """An empty file of a fresh name that only this user may read: prompts and agents' words will stand in it."""
    fresh = path.with_name(f"{path.name}.{os.urandom(6).hex()}.{suffix}")
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return fresh


def _link_unless_there(new: Path, path: Path) -> None:
    try:
        os.link(new, path)
    except FileExistsError:
        return
