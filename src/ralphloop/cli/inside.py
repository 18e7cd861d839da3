"""What an agent may not do: inside an attempt, whatever changes criteria, control or state is for people, and the attempt to is recorded.

Whether a command runs inside an attempt, or a gate, is told by its ancestors: a loop is the ancestor of whatever its agent started, since orphans come
back to it. An agent can clear its environment; it cannot choose its ancestors. The environment counts where orphans do not come back (macOS), and for
loops in somebody else's program, which may have other things to do than run its agent.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ralphloop.config.environment import RUN_ID, current, state_home
from ralphloop.core.model import FUNCTION
from ralphloop.errors import ConfigError
from ralphloop.files.places import ledger_path
from ralphloop.ledger.queries import LoopRow, Queries
from ralphloop.loop.finding import Enclosing
from ralphloop.process.kinship import ancestors


def for_people(command: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse the command inside an attempt, and have the loop record that it was asked for."""

    @wraps(command)
    def guarded(*arguments: Any, **options: Any) -> Any:
        around = enclosing_loop()
        if around is not None:
            _refuse(around, click.get_current_context().command_path)
        return command(*arguments, **options)

    return guarded


def enclosing_loop() -> Enclosing | None:
    """The running loop in one of whose attempts, or gates, this command runs."""
    environ = current()
    run_id = environ.get(RUN_ID, "")
    named = run_id.partition("/")[0]
    with Queries(ledger_path(Path(state_home(environ)))) as queries:
        running = [row for row in queries.loops() if row.outcome is None]
        above = ancestors() if running else []
        around = [row for ancestor in above for row in running if row.process == ancestor]
        row = next((row for row in around if row.id == named or not _is_in_a_program(row, queries)), None)
    if row is None and sys.platform != "linux":
        row = next((row for row in running if row.id == named), None)
    return None if row is None else Enclosing(loop_id=row.id, name=row.name, author=f"the agent of {run_id or row.name}")


def _is_in_a_program(row: LoopRow, queries: Queries) -> bool:
    """Whether the process of that loop is a program that uses Ralph as a library."""
    first = next(queries.entries_raw(row.id), None)
    agent = json.loads(first.json).get("spec", {}).get("agent", {}) if first is not None else {}
    return bool(agent.get("type") == FUNCTION)


def _refuse(around: Enclosing, what: str) -> None:
    from ralphloop.core.messages import REFUSED  # noqa: PLC0415 - heavy, and only on this path
    from ralphloop.ledger.inbox import Inbox  # noqa: PLC0415
    from ralphloop.ledger.store import Ledger  # noqa: PLC0415

    with Ledger(ledger_path(Path(state_home(current())))) as ledger:
        Inbox(ledger.database).put(around.loop_id, REFUSED, what, author=around.author, at=time.time())
    raise ConfigError(f"`{what}` is for people, and this is an attempt of loop {around.name}: nothing was done, and it is recorded")
