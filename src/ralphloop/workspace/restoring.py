"""Protected files: reading them, and putting them back, whatever stands in their place. What is not a plain file is moved aside, never deleted.

A path is relative to the workspace. A file elsewhere (the task of folder work) is among the `Places` by its absolute path; its directory is trusted.
"""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ralphloop.errors import WorkError
from ralphloop.files.beneath import move_aside, read_beneath, remove_beneath, stat_beneath, write_beneath

_SUFFIX = ".moved-by-ralph"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where protected files may lie: in the workspace, and at these paths outside."""

    root: Path
    outside: frozenset[str] = frozenset()

    def of(self, path: str) -> tuple[Path, str]:
        """The trusted directory, and the way from there; a way that leads out of it is refused by whoever opens it."""
        given = Path(path)
        return (given.parent, given.name) if path in self.outside else (self.root, path)


def read_file(places: Places, path: str) -> bytes | None:
    """The content of a regular file, or None where there is none; never through a link."""
    return read_beneath(*places.of(path))


def is_executable(places: Places, path: str) -> bool:
    """Whether there is a regular file that its owner may run."""
    there = stat_beneath(*places.of(path))
    return there is not None and stat.S_ISREG(there.st_mode) and bool(there.st_mode & stat.S_IXUSR)


def restore_file(places: Places, path: str, content: bytes | None, *, executable: bool) -> None:
    """Make the path hold exactly that content as a regular file, to be run or not, or nothing (None)."""
    root, path = places.of(path)
    if root != places.root:
        with suppress(OSError):  # whoever opens it says what is wrong
            root.mkdir(parents=True, exist_ok=True)
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
    if not _holds(root, path, content) or is_executable(Places(root=root), path) is not executable:
        write_beneath(root, path, content, _mode(root, path, executable=executable))


def _mode(root: Path, path: str, *, executable: bool) -> int | None:
    """The mode that is there, with the right to run it put right; None, for what is customary, where nothing is there or needed."""
    there = stat_beneath(root, path)
    if there is None:
        return 0o755 if executable else None
    mode = stat.S_IMODE(there.st_mode) | stat.S_IRUSR | stat.S_IWUSR
    return mode | 0o111 if executable else mode & ~0o111


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
