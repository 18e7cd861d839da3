"""Putting a protected file back, whatever stands in its place. What is not a plain file is moved aside, never deleted."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath

from ralphloop.errors import WorkError
from ralphloop.files.beneath import move_aside, read_beneath, remove_beneath, stat_beneath, write_beneath

_SUFFIX = ".moved-by-ralph"


def restore_file(root: Path, path: str, content: bytes | None) -> None:
    """Make the path hold exactly that content as a regular file, or nothing (None)."""
    if content is None:
        _clear(root, path)
        return
    for parent in reversed(PurePosixPath(path).parents[:-1]):
        there = stat_beneath(root, str(parent))
        if there is not None and not stat.S_ISDIR(there.st_mode):
            move_aside(root, str(parent), _SUFFIX)
    there = stat_beneath(root, path)
    if there is not None and not stat.S_ISREG(there.st_mode):
        move_aside(root, path, _SUFFIX)
    if not _holds(root, path, content):
        write_beneath(root, path, content)


def _clear(root: Path, path: str) -> None:
    there = stat_beneath(root, path)
    if there is None:
        return
    if stat.S_ISREG(there.st_mode):
        remove_beneath(root, path)
    else:
        move_aside(root, path, _SUFFIX)


def _holds(root: Path, path: str, content: bytes) -> bool:
    try:
        return read_beneath(root, path, max_bytes=len(content)) == content
    except WorkError:
        return False  # larger, or not readable: it is not the content
