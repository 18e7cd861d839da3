"""What the outside is to be told: queued in the transaction of the entry it tells of, sent later, at least once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from ralphloop.ledger.binding import bindable
from ralphloop.ledger.database import Database

_PUT = "INSERT OR IGNORE INTO outbox (loop_id, seq, kind, json, at, next_at) VALUES (?, ?, ?, ?, ?, ?)"
_DUE = """
SELECT id, loop_id, seq, kind, json, at, attempts FROM outbox
WHERE sent_at IS NULL AND next_at <= ? ORDER BY next_at, id LIMIT ?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something to tell about one entry; a second notice of that kind about the same entry is not queued."""

    seq: int
    kind: str
    json: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A queued notice that is due, and how often sending it has failed."""

    id: int
    loop_id: str
    attempts: int
    notice: Notice


def put(connection: sqlite3.Connection, loop_id: str, notices: Sequence[Notice]) -> None:
    """Queue notices, due at once, inside the caller's transaction."""
    connection.executemany(_PUT, [bindable((loop_id, one.seq, one.kind, one.json, one.at, one.at)) for one in notices])


class Outbox:
    """The queue of one ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pending(self, now: float, limit: int = 100) -> list[Pending]:
        """What is due, the longest due first."""
        return [
            Pending(id=id_, loop_id=loop_id, attempts=attempts, notice=Notice(seq=seq, kind=kind, json=json, at=at))
            for id_, loop_id, seq, kind, json, at, attempts in self._database.rows(_DUE, (now, limit))
        ]

    def sent(self, id_: int, at: float) -> None:
        """It arrived, and is never due again."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE outbox SET sent_at = ?, attempts = attempts + 1 WHERE id = ?", (at, id_))

    def failed(self, id_: int, next_at: float) -> None:
        """It did not arrive, and is due again at that moment."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE outbox SET next_at = ?, attempts = attempts + 1 WHERE id = ?", (next_at, id_))
