"""What people ask of a running loop: rows that any process puts in and the loop takes out.

A row counts as taken from the transaction that appends its RequestTaken entry: a crash before that leaves it to be taken again.
"""

from __future__ import annotations

import sqlite3

from ralphloop.core.messages import RequestSeen
from ralphloop.errors import LedgerError
from ralphloop.ledger.binding import bindable
from ralphloop.ledger.database import Database

_PUT = """
INSERT INTO inbox (loop_id, incarnation, author, kind, text, at)
SELECT id, incarnation, ?, ?, ?, ? FROM loop WHERE id = ?"""

# A `stop` was meant for the incarnation that its author saw; a `tell` is for the work, whoever does it.
_OPEN = """
SELECT id, at, kind, author, text FROM inbox
WHERE loop_id = ? AND id > ? AND taken_seq IS NULL AND (incarnation >= ? OR kind <> 'stop')
ORDER BY id"""


_STOPS = """
SELECT author, text FROM inbox
WHERE loop_id = ? AND taken_seq IS NULL AND incarnation >= ? AND kind = 'stop'
ORDER BY id"""


class Inbox:
    """Requests to the loops of one ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._handed_out: dict[str, int] = {}

    def put(self, loop_id: str, kind: str, text: str, *, author: str, at: float) -> int:
        """Leave a request for the loop's present incarnation; the answer is its id."""
        with self._database.transaction() as connection:
            cursor = connection.execute(_PUT, bindable((author, kind, text, at, loop_id)))
            if cursor.rowcount != 1:
                raise LedgerError(f"there is no loop {loop_id} in the ledger {self._database.path}: `ralph status` lists the loops")
            return int(cursor.lastrowid or 0)

    def take(self, loop_id: str, incarnation: int) -> list[RequestSeen]:
        """Every open request that was not handed out before, oldest first. Cheap enough to ask before each step."""
        rows = self._database.rows(_OPEN, (loop_id, self._handed_out.get(loop_id, 0), incarnation))
        if rows:
            self._handed_out[loop_id] = rows[-1][0]
        return [RequestSeen(request_id=id_, at=at, kind=kind, author=author, text=text) for id_, at, kind, author, text in rows]

    def stops(self, loop_id: str, incarnation: int) -> list[tuple[str, str]]:
        """Who asks this loop to stop, and with what words, looked at in the middle of an operation: the requests stay, to be taken after it."""
        try:
            return self._database.rows(_STOPS, (loop_id, incarnation))
        except sqlite3.ProgrammingError:  # the ledger is closed: the loop is over
            return []
