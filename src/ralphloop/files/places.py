"""Where everything lies in the state home."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ralphloop.errors import ConfigError

TASK_BUS, PROJECT_BUS = "TASK-MESSAGE-BUS.md", "PROJECT-MESSAGE-BUS.md"
"""The bus of one task, in its directory; and the one that tasks share, in the directory above them."""
BUSES = (TASK_BUS, PROJECT_BUS, "TASK-MESSAGE-BUS.1.md", "PROJECT-MESSAGE-BUS.1.md")
"""Both, and what a full one is renamed to."""


def loop_dir(state_home: Path, loop_id: str) -> Path:
    """The directory of one loop's artifacts."""
    return state_home / "loops" / loop_id


def attempt_dir(state_home: Path, loop_id: str, iteration: int, attempt: int) -> Path:
    """The directory of one attempt's artifacts."""
    return loop_dir(state_home, loop_id) / str(iteration) / str(attempt)


def blobs_dir(state_home: Path) -> Path:
    """The directory of contents by digest."""
    return state_home / "blobs"


def ledger_path(state_home: Path) -> Path:
    """The ledger of every loop of this user."""
    return state_home / "ledger.db"


def lock_path(state_home: Path, workspace: str, name: str) -> Path:
    """The lock of a loop, by what makes it the same loop: two starters do not know each other's loop id."""
    identity = hashlib.sha256(os.fsencode(f"{workspace}\0{name}")).hexdigest()
    return state_home / "locks" / f"{identity[:32]}.lock"


def make_private(directory: Path) -> None:
    """Make a directory, with its parents, that only its owner can enter; one that is there stays as it is."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"the directory {directory} cannot be made: {error.strerror}; {_REMEDY}") from error


def prepare_state_home(path: Path) -> None:
    """Make the state home ready for writing; ConfigError where that cannot be."""
    for directory in (path, path / "loops", path / "blobs", path / "locks"):
        make_private(directory)
        if not os.access(directory, os.W_OK | os.X_OK):
            raise ConfigError(f"the directory {directory} cannot be written; {_REMEDY}")


_REMEDY = "put that right, or set RALPH_STATE_HOME to a directory that can be written"
