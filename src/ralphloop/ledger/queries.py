"""The read side, for views: light to import and independent of how long the streams are.

Nothing here may load json, dataclasses, pathlib or more of core than who a process is, and nothing may aggregate over `entry`: `ralph status` answers from the roll-up columns.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ralphloop.core.identity import ProcessIdentity
from ralphloop.ledger.binding import bindable
from ralphloop.ledger.faults import explained
from ralphloop.ledger.location import uri
from ralphloop.ledger.schema import refuse_newer, version_of

if TYPE_CHECKING:
    from pathlib import Path

_PAGE = 256
_STRETCH = 4096
_BUSY_TIMEOUT_S = 5.0


class LoopRow(NamedTuple):
    """One loop as `status` shows it. Whether its process still lives is for the reader to find out."""

    id: str
    name: str
    workspace: str
    kind: str
    task_file: str | None
    created_at: float
    incarnation: int
    boot_id: str
    pid: int
    started: str
    program: str
    last_seq: int
    status: str
    iteration: int
    max_iterations: int
    remaining: int | None
    total: int | None
    task: str | None
    step: str | None
    calls: int
    cost_usd: float
    estimated: int
    input_tokens: int
    output_tokens: int
    outcome: str | None
    outcome_reason: str | None
    strength: str | None
    exit_code: int | None
    updated_at: float

    @property
    def process(self) -> ProcessIdentity:
        """The process that wrote this loop last."""
        return ProcessIdentity(boot_id=self.boot_id, pid=self.pid, started=self.started)


class RawEntry(NamedTuple):
    """One entry as it lies in the file, whether this program understands it or not."""

    seq: int
    type: str
    v: int
    at: float
    json: str


_LOOPS = f"SELECT {', '.join(LoopRow._fields)} FROM loop"  # noqa: S608 - our own names
_ALL = f"{_LOOPS} ORDER BY n DESC"
_BY_ID = f"{_LOOPS} WHERE id = ?"
_BY_NAME = f"{_LOOPS} WHERE name = ? ORDER BY n DESC LIMIT 1"
_BY_IDENTITY = f"{_LOOPS} WHERE name = ? AND workspace = ? ORDER BY n DESC LIMIT 1"
_ENTRIES = f"SELECT {', '.join(RawEntry._fields)} FROM entry WHERE loop_id = ? AND seq > ? ORDER BY seq LIMIT ?"  # noqa: S608 - our own names
_SOME_ENTRIES = (
    f"SELECT {', '.join(RawEntry._fields)} FROM entry WHERE loop_id = ? AND seq > ? AND seq <= ? AND type NOT IN ({{}}) ORDER BY seq LIMIT ?"  # noqa: S608 - our own names
)


class Queries:
    """A ledger, open for reading only. No file yet means no loops yet; it may appear later."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def loops(self) -> list[LoopRow]:
        """Every loop, newest first."""
        return [LoopRow._make(row) for row in self._rows(_ALL)]

    def find(self, name: str, workspace: str | None = None) -> LoopRow | None:
        """The newest loop of that name, anywhere or in one workspace."""
        return self._newest(_BY_NAME, name) if workspace is None else self.latest(workspace, name)

    def latest(self, workspace: str, name: str) -> LoopRow | None:
        """The newest loop of that identity."""
        return self._newest(_BY_IDENTITY, name, workspace)

    def by_id(self, loop_id: str) -> LoopRow | None:
        """The loop of that id."""
        return self._newest(_BY_ID, loop_id)

    def entries_raw(self, loop_id: str, since_seq: int = 0) -> Iterator[RawEntry]:
        """The stream after that entry, read page by page so that no writer is ever held up."""
        seq = since_seq
        while rows := self._rows(_ENTRIES, loop_id, seq, _PAGE):
            for row in rows:
                yield RawEntry._make(row)
            seq = rows[-1][0]

    def entries_without(self, row: LoopRow, types: Collection[str]) -> Iterator[RawEntry]:
        """The stream as far as that row knows it, without the entries of these types; a page passes over a bounded number of those."""
        sql, seq = _SOME_ENTRIES.format(", ".join("?" * len(types))), 0
        while seq < row.last_seq:
            end = min(seq + _STRETCH, row.last_seq)
            rows = self._rows(sql, row.id, seq, end, *types, _PAGE)
            for entry in rows:
                yield RawEntry._make(entry)
            seq = rows[-1][0] if len(rows) == _PAGE else end

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _newest(self, sql: str, *values: object) -> LoopRow | None:
        rows = self._rows(sql, *values)
        return LoopRow._make(rows[0]) if rows else None

    def _rows(self, sql: str, *values: object) -> list[Any]:
        with explained(self._path):
            if self._connection is None:
                self._connection = _open(self._path)
            return [] if self._connection is None else self._connection.execute(sql, bindable(values)).fetchall()


def _open(path: Path) -> sqlite3.Connection | None:
    """A connection that cannot write; None where there is no ledger, or nothing was ever created in it."""
    if not path.exists():
        return None
    connection = sqlite3.connect(uri(path, "ro"), uri=True, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
    try:
        version = version_of(connection)
        refuse_newer(path, version)
    except BaseException:
        connection.close()
        raise
    if version == 0:
        connection.close()
        return None
    return connection
