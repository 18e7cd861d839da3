"""What an agent may not do: inside an attempt, whatever changes criteria, control or state is for people, and the attempt to is recorded.

Whether a command runs inside an attempt is told by its ancestors: a loop is the ancestor of whatever its agent started, since orphans come back to
it. An agent can clear its environment; it cannot choose its ancestors. Where orphans do not come back (macOS), the environment counts as well.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ralphloop.config.environment import RUN_ID, current, outer_loop, state_home
from ralphloop.errors import ConfigError
from ralphloop.files.places import ledger_path
from ralphloop.ledger.queries import LoopRow, Queries
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


def enclosing_loop() -> LoopRow | None:
    """The running loop in one of whose attempts this command runs."""
    environ = current()
    with Queries(ledger_path(Path(state_home(environ)))) as queries:
        running = {row.process: row for row in queries.loops() if row.outcome is None}
    if not running:
        return None
    around = next((running[ancestor] for ancestor in ancestors() if ancestor in running), None)
    if around is None and sys.platform != "linux":
        around = next((row for row in running.values() if row.id == outer_loop(environ)), None)
    return around


def _refuse(around: LoopRow, what: str) -> None:
    from ralphloop.core.messages import REFUSED  # noqa: PLC0415 - heavy, and only on this path
    from ralphloop.ledger.inbox import Inbox  # noqa: PLC0415
    from ralphloop.ledger.store import Ledger  # noqa: PLC0415

    environ = current()
    with Ledger(ledger_path(Path(state_home(environ)))) as ledger:
        author = f"the agent of {environ.get(RUN_ID, around.name)}"
        Inbox(ledger.database).put(around.id, REFUSED, what, author=author, at=time.time())
    raise ConfigError(f"`{what}` is for people, and this is an attempt of loop {around.name}: nothing was done, and it is recorded")
