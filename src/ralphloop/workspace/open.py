"""Opening the directory that a loop changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ralphloop.core.ports import Runner, Workspace
from ralphloop.files.beneath import stat_beneath, write_beneath
from ralphloop.workspace.git import GitWorkspace
from ralphloop.workspace.plain import PlainWorkspace
from ralphloop.workspace.repository import find_repository

_IGNORE = b"""\
# Ralph's own runtime files. Settings are not among them.
/.gitignore
/logs/
/guardrail_*.log
"""


def open_workspace(root: Path, runner: Runner, env: Mapping[str, str], outside: frozenset[str] = frozenset()) -> Workspace:
    """The workspace at `root`: under git where git says so, else plain; ConfigError where git refuses the repository.

    `outside`: the absolute paths of protected files that do not lie in it.
    """
    repository = find_repository(root, runner, env)
    return PlainWorkspace(root, outside) if repository is None else GitWorkspace(root, repository, outside)


def ensure_ignore(root: Path) -> None:
    """Have git ignore what Ralph writes into `.ralph/`; a `.gitignore` that stands there already is left alone."""
    if stat_beneath(root, ".ralph/.gitignore") is None:
        write_beneath(root, ".ralph/.gitignore", _IGNORE)
