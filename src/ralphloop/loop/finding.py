"""Which loop a name means, and whether it runs. Light to import: people who stop a loop or tell it something do not wait for its rooms."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ralphloop.core.model import OutcomeKind
from ralphloop.errors import ConfigError
from ralphloop.files.locks import Holder, LoopLock
from ralphloop.files.places import lock_path
from ralphloop.ledger.queries import LoopRow, Queries
from ralphloop.process.identity import is_alive


class Enclosing(NamedTuple):
    """The loop in one of whose attempts, or gates, a command runs, and who asks."""

    loop_id: str
    name: str
    author: str


def find_loop(queries: Queries, name: str) -> LoopRow:
    """The newest loop of that name; ConfigError with the nearest name where there is none."""
    row = queries.find(name)
    if row is None or not row.last_seq:
        raise ConfigError(unknown_name(name, [row.name for row in queries.loops()]))
    return row


def unknown_name(name: str, names: list[str]) -> str:
    """What is said about a loop that does not exist."""
    import difflib  # noqa: PLC0415 - only on this path

    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else "`ralph status` lists the loops"
    return f"there is no loop called {name}: {hint}"


def is_running(row: LoopRow) -> bool:
    """Whether the loop has no outcome, and its process lives."""
    return row.outcome is None and is_alive(row.process)


def holder_of(row: LoopRow, state_home: Path) -> Holder | None:
    """Who has hold of that loop: the process that wrote it last, if it lives and has not let go yet. Child loops end before it does."""
    holder = LoopLock(lock_path(state_home, row.workspace, row.name)).holder()
    return holder if holder is not None and (holder.boot_id, holder.pid, holder.started) == row.process and is_alive(row.process) else None


def may_go_on(row: LoopRow) -> bool:
    """Whether `run` would go on with this loop: it has no outcome, or one that waits for a person."""
    return row.outcome in {None, OutcomeKind.INTERRUPTED, OutcomeKind.WAITING}
