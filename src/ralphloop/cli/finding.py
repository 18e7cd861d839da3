"""How a command that looks at one loop finds it and reads its stream."""

from __future__ import annotations

from pathlib import Path

from ralphloop.config.environment import current, state_home
from ralphloop.core.messages import Entry
from ralphloop.files.places import attempt_dir, ledger_path
from ralphloop.ledger.codec import decode
from ralphloop.ledger.queries import LoopRow, Queries


def home() -> Path:
    """The state home."""
    return Path(state_home(current()))


def read_entries(queries: Queries, row: LoopRow) -> list[Entry]:
    """The stream of a loop."""
    return [decode(raw.type, raw.v, raw.json) for raw in queries.entries_raw(row.id)]


def open_queries() -> Queries:
    """The ledger of this user, for reading."""
    return Queries(ledger_path(home()))


def artifacts(row: LoopRow, iteration: int, attempt: int) -> Path:
    """Where the artifacts of an attempt lie."""
    return attempt_dir(home(), row.id, iteration, attempt)
