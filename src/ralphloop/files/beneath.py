"""Files below a root that an agent can write: no link is ever followed, nothing blocks, nothing is read without bound.

An agent can put a link, a FIFO, a device or a gigabyte wherever it can write. Ralph opens such paths one component at a time, each relative to
the directory already open and none through a link, so no swap of a component between look and use leads outside. The root itself is trusted.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from ralphloop.errors import WorkError
from ralphloop.files.atomic import replace_at

MAX_BYTES = 16 * 1024 * 1024

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EOPNOTSUPP}  # nothing, a file as parent, a link, a socket


def read_beneath(root: Path, rel: str, max_bytes: int = MAX_BYTES) -> bytes | None:
    """The content of a regular file, or None where there is no regular file; WorkError where it is too large or forbidden."""
    with _explained(root, rel, "read"):
        try:
            with _parent(root, rel) as (directory, name):
                opened = os.open(name, _READ, dir_fd=directory)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise
        try:
            there = os.fstat(opened)
            if not stat.S_ISREG(there.st_mode):
                return None
            if there.st_size > max_bytes:
                raise WorkError(f"{root / rel} is larger than {max_bytes} bytes, too large to be read: make it smaller or move it away")
            with os.fdopen(opened, "rb", closefd=False) as source:
                return source.read(there.st_size)
        finally:
            os.close(opened)


def stat_beneath(root: Path, rel: str) -> os.stat_result | None:
    """What stands at that path itself, a link included; None where nothing does."""
    with _explained(root, rel, "looked at"):
        try:
            with _parent(root, rel) as (directory, name):
                return _lstat(directory, name)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise


def list_beneath(root: Path, rel: str = ".") -> list[str] | None:
    """The sorted names in a directory, or None where there is no directory."""
    with _explained(root, rel, "listed"):
        try:
            with _directory(root, _parts(root, rel)) as directory:
                return sorted(os.listdir(directory))  # noqa: PTH208  a descriptor, not a path
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise


def write_beneath(root: Path, rel: str, content: bytes, mode: int | None = None) -> None:
    """Put content there atomically, with missing parents; an existing file keeps its mode, and anything else there is an error."""
    with _explained(root, rel, "written"), _parent(root, rel, create=True) as (directory, name):
        there = _lstat(directory, name)
        if there is not None:
            _require_regular(root, rel, there)
            if mode is None:
                mode = there.st_mode & 0o777 | stat.S_IRUSR  # a file that its owner cannot read would be written in vain
        replace_at(directory, name, content, mode)


def append_beneath(root: Path, rel: str, content: bytes) -> None:
    """Add content at the end of a regular file, which is created with missing parents where there is none."""
    with _explained(root, rel, "written"), os.fdopen(open_log_beneath(root, rel), "ab") as out:
        out.write(content)


def open_log_beneath(root: Path, rel: str) -> int:
    """A descriptor that appends to a regular file, which is created with missing parents where there is none."""
    with _explained(root, rel, "written"), _parent(root, rel, create=True) as (directory, name):
        opened = os.open(name, _APPEND, 0o666, dir_fd=directory)
        try:
            _require_regular(root, rel, os.fstat(opened))
        except WorkError:
            os.close(opened)
            raise
        return opened


def remove_beneath(root: Path, rel: str) -> None:
    """Take a file or a link away; nothing there is fine, a directory is an error."""
    if stat_beneath(root, rel) is None:
        return
    with _explained(root, rel, "removed"), _parent(root, rel) as (directory, name), suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)


def move_aside(root: Path, rel: str, suffix: str) -> str:
    """Rename whatever stands there to the first free `<name><suffix>-<k>` beside it; the answer is the new path."""
    with _explained(root, rel, "moved aside"), _parent(root, rel) as (directory, name):
        number = 1
        while _lstat(directory, f"{name}{suffix}-{number}") is not None:
            number += 1
        aside = f"{name}{suffix}-{number}"
        os.rename(name, aside, src_dir_fd=directory, dst_dir_fd=directory)
    return str(PurePosixPath(rel).with_name(aside))


def _parts(root: Path, rel: str) -> tuple[str, ...]:
    path = PurePosixPath(rel)
    if path.is_absolute() or ".." in path.parts or "\0" in rel:
        raise WorkError(f"{rel!r} does not lie below {root}: give a path relative to it, without '..'")
    return path.parts


@contextmanager
def _parent(root: Path, rel: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
    parts = _parts(root, rel)
    if not parts:
        raise WorkError(f"{rel!r} names {root} itself, not a file in it: give the path of a file")
    with _directory(root, parts[:-1], create=create) as directory:
        yield directory, parts[-1]


@contextmanager
def _directory(root: Path, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
    try:
        directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise WorkError(f"{root} cannot be opened as a directory: {error.strerror}") from error
    try:
        for part in parts:
            inner = _enter(directory, part, create=create)
            os.close(directory)
            directory = inner
        yield directory
    finally:
        os.close(directory)


def _enter(directory: int, part: str, *, create: bool) -> int:
    if create:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=directory)
    return os.open(part, _DIRECTORY, dir_fd=directory)


def _lstat(directory: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _require_regular(root: Path, rel: str, there: os.stat_result) -> None:
    if not stat.S_ISREG(there.st_mode):
        raise WorkError(f"{root / rel} is not a regular file (a link, a directory, …) and is not written through: move it away")


@contextmanager
def _explained(root: Path, rel: str, verb: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        hint = " (a link or a file stands in place of a directory, or a link in place of the file)" if error.errno in _ABSENT else ""
        raise WorkError(f"{root / rel} cannot be {verb}: {error.strerror}{hint}") from error
