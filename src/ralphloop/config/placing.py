"""Where a path of the user's lies: in the workspace, or outside it."""

from __future__ import annotations

import os
from pathlib import Path


def beneath(workspace: Path, path: str) -> str | None:
    """The path relative to the workspace, or None where it is the workspace or lies outside; links among the directories count."""
    root, full = _real(workspace), _full(workspace, path)
    return str(full.relative_to(root)) if root in full.parents else None


def placed(workspace: Path, path: str) -> str:
    """The path relative to the workspace where it lies in it, else absolute."""
    return beneath(workspace, path) or str(_full(workspace, path))


def _full(workspace: Path, path: str) -> Path:
    # The last name is left as it is: whether a link may stand there is for those to say who open it.
    full = Path(os.path.normpath(_real(workspace) / path))
    return _real(full.parent) / full.name


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # Path.resolve raises RuntimeError on a loop of links
