"""What a loop is called: as somebody said, or after its directory."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from ralphloop.core.model import OutcomeKind, WorkSpec
from ralphloop.errors import ConfigError
from ralphloop.files.children import is_signed
from ralphloop.ledger.queries import LoopRow, Queries
from ralphloop.loop.finding import is_running

LONGEST_NAME = 50
"""Characters of a loop's name: it becomes a part of the name of a directory."""


class Naming(NamedTuple):
    """A name, and what is to be said of it."""

    name: str
    note: str = ""


def name_of_place(work: WorkSpec, workspace: str) -> str:
    """A loop name made of the name of the task folder, or of the workspace."""
    return safe_name(workspace if work.task_dir is None else os.path.realpath(Path(workspace, work.task_dir)))


def safe_name(directory: str) -> str:
    """A loop name made of a directory's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", Path(directory).name)[:LONGEST_NAME].strip("-._") or "loop"


def check_name(name: str | None) -> None:
    """Raise ConfigError for a name that could not be typed again, or would be taken for an option or a path."""
    if name is not None and (
        not 0 < len(name) <= LONGEST_NAME or name.startswith("-") or not name.strip(".") or any(c in "/\\ *?[" or not c.isprintable() for c in name)
    ):
        raise ConfigError(f"--name {name!r} is no name for a loop: use up to {LONGEST_NAME} letters, digits, dots, dashes and underscores")


def given_name(name: str, workspace: str, queries: Queries) -> Naming:
    """The name that somebody gave; ConfigError where a loop elsewhere has it."""
    taken = next((row for row in _newest(queries) if row.name == name), None)
    if taken is not None and taken.workspace != workspace:
        raise ConfigError(f"the name {name} is taken by the loop in {taken.workspace}: choose another --name")
    return Naming(name)


def free_name(wished: str, taken: Mapping[str, str]) -> Naming:
    """That name, or the first one with a number that is free; `taken` says by the loop of which directory."""
    name, number = wished, 1
    while name in taken:
        number += 1
        name = f"{wished}-{number}"
    return Naming(name, f"The name {wished} is taken by the loop in {taken[wished]}; this one is called {name}." if name != wished else "")


def names_taken(workspace: str, queries: Queries, state_home: Path, *, child: bool) -> dict[str, str]:
    """The names of loops elsewhere. A child loop may share the directory with one that runs there, or that is a person's, but not the name."""
    newest = _newest(queries)
    taken = {row.name: row.workspace for row in newest if row.workspace != workspace}
    if child:
        taken |= {row.name: row.workspace for row in newest if is_running(row) or is_a_persons(row, state_home)}
    return taken


def is_a_persons(row: LoopRow, state_home: Path) -> bool:
    """Whether a person began this loop and may still want it: agents go on with what agents began, and as it was begun."""
    return bool(row.last_seq) and row.outcome != OutcomeKind.DONE and not is_signed(str(state_home), row.id)


def _newest(queries: Queries) -> Collection[LoopRow]:
    return {row.name: row for row in reversed(queries.loops())}.values()
