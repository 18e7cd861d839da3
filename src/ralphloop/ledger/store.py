"""The streams of all loops: append, read, take over.

A stream has one writer. `loop.incarnation` names it and `loop.last_seq` says where it stands; every append moves `last_seq` on with one UPDATE that
matches only where both are as the writer remembers them. A process that was taken over matches nothing, and ends.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Self

from ralphloop import __version__
from ralphloop.core.identity import ProcessIdentity
from ralphloop.core.messages import Entry, RequestTaken
from ralphloop.core.model import LoopSpec
from ralphloop.core.rollup import Rollup
from ralphloop.errors import Fenced, LedgerError
from ralphloop.ledger import outbox
from ralphloop.ledger.binding import bindable
from ralphloop.ledger.codec import UnknownEntry, decode, encode
from ralphloop.ledger.database import Database

_PAGE = 256
_COLUMNS = tuple(field.name for field in fields(Rollup))
_values_of = attrgetter(*_COLUMNS)

_CREATE = """
INSERT OR IGNORE INTO loop (id, name, workspace, kind, task_file, max_iterations, created_at, updated_at, incarnation, boot_id, pid, started, program)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)"""
_TAKE_OVER = """
UPDATE loop SET incarnation = ?, boot_id = ?, pid = ?, started = ?, program = ?,
    status = 'running', outcome = NULL, outcome_reason = NULL, strength = NULL, exit_code = NULL
WHERE id = ? AND incarnation = ?"""
_ADVANCE = f"UPDATE loop SET last_seq = ?, {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE id = ? AND incarnation = ? AND last_seq = ?"  # noqa: S608 - our own names
_INSERT = "INSERT INTO entry (loop_id, seq, type, v, at, json) VALUES (?, ?, ?, ?, ?, ?)"
_READ = "SELECT seq, type, v, json FROM entry WHERE loop_id = ? AND seq > ? ORDER BY seq LIMIT ?"
_MARK_TAKEN = "UPDATE inbox SET taken_seq = ? WHERE id = ? AND loop_id = ?"


class Ledger:
    """The ledger, open for writing. It appends only to loops that it created or took over."""

    def __init__(self, path: Path) -> None:
        self.database = Database(path)
        self._incarnations: dict[str, int] = {}

    def create_loop(self, spec: LoopSpec, identity: ProcessIdentity, at: float, entries: Sequence[Entry] = ()) -> None:
        """Enter a new loop and its first entries, all or nothing, with this process as its writer."""
        work = spec.work
        values = (spec.loop_id, spec.name, spec.workspace, work.kind, work.task_file, spec.limits.iterations, at, at)
        process = (identity.boot_id, identity.pid, identity.started, __version__)
        with self.database.transaction() as connection:
            if connection.execute(_CREATE, bindable((*values, *process))).rowcount != 1:
                raise LedgerError(f"there is a loop {spec.loop_id} in the ledger {self.database.path} already: a new loop needs a fresh id")
            connection.executemany(_INSERT, [(spec.loop_id, seq, *_row(entry)) for seq, entry in enumerate(entries, 1)])
            connection.execute("UPDATE loop SET last_seq = ? WHERE id = ?", (len(entries), spec.loop_id))
        self._incarnations[spec.loop_id] = 1

    def take_over(self, loop_id: str, identity: ProcessIdentity, incarnation: int) -> None:
        """Become the writer as that incarnation, the next after the recorded one. Read the stream afterwards, not before."""
        values = (incarnation, identity.boot_id, identity.pid, identity.started, __version__, loop_id, incarnation - 1)
        with self.database.transaction() as connection:
            if connection.execute(_TAKE_OVER, values).rowcount != 1:
                raise self._refusal(connection, loop_id)
        self._incarnations[loop_id] = incarnation

    def append(  # noqa: PLR0913 - one transaction, and these are its parts
        self,
        loop_id: str,
        first_seq: int,
        entries: Sequence[Entry],
        rollup: Rollup,
        *,
        durable: bool,
        notices: Sequence[outbox.Notice] = (),
    ) -> None:
        """Write entries, roll-up columns, taken requests and notices together. Raises Fenced where the stream has another writer."""
        rows = [(loop_id, seq, *_row(entry)) for seq, entry in enumerate(entries, first_seq)]
        taken = [
            (seq, entry.request_id, loop_id)
            for seq, entry in enumerate(entries, first_seq)
            if isinstance(entry, RequestTaken) and entry.request_id is not None
        ]
        last_seq = first_seq + len(entries) - 1
        advance = bindable((last_seq, *_values_of(rollup), loop_id, self._incarnations.get(loop_id), first_seq - 1))
        with self.database.transaction(durable=durable) as connection:
            if connection.execute(_ADVANCE, advance).rowcount != 1:
                raise self._refusal(connection, loop_id)
            try:
                connection.executemany(_INSERT, rows)
            except sqlite3.IntegrityError as error:
                raise self._refusal(connection, loop_id) from error
            connection.executemany(_MARK_TAKEN, taken)
            outbox.put(connection, loop_id, notices)

    def read(self, loop_id: str) -> Iterator[Entry]:
        """The stream, in order. Raises UnknownEntry where a newer program wrote it."""
        since = 0
        while rows := self.database.rows(_READ, (loop_id, since, _PAGE)):
            for seq, name, version, text in rows:
                try:
                    yield decode(name, version, text)
                except UnknownEntry as error:
                    raise self._not_understood(loop_id, seq, error) from error
            since = rows[-1][0]

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _refusal(self, connection: sqlite3.Connection, loop_id: str) -> LedgerError:
        row = connection.execute("SELECT pid, incarnation FROM loop WHERE id = ?", (loop_id,)).fetchone()
        if row is None:
            return LedgerError(f"there is no loop {loop_id} in the ledger {self.database.path}: `ralph status` lists the loops")
        return Fenced(f"loop {loop_id} is being written by process {row[0]} (incarnation {row[1]}): this process must end without writing")

    def _not_understood(self, loop_id: str, seq: int, error: UnknownEntry) -> UnknownEntry:
        ((program,),) = self.database.rows("SELECT program FROM loop WHERE id = ?", (loop_id,))
        return UnknownEntry(
            f"entry {seq} of loop {loop_id} in {self.database.path}: {error}. The loop was last run by ralphloop {program}, this is "
            f"{__version__}: resume it with version {program} or newer; until then it can be shown, raw, but not resumed",
        )


def _row(entry: Entry) -> tuple[str, int, float, str]:
    name, version, text = encode(entry)
    return name, version, entry.at, text
