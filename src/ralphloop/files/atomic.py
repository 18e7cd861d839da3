"""Atomic replacement: a reader finds the old content or the new one, never a part, and a power cut does not lose what was said to be kept."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_at(directory: int, name: str, content: bytes, mode: int | None = None) -> None:
    """Put content in place of `name` in an open directory; without `mode` the file gets what the umask allows."""
    temporary = f".ralph-{os.urandom(8).hex()}.tmp"
    created = os.open(temporary, _CREATE, 0o666 if mode is None else 0o600, dir_fd=directory)
    try:
        with os.fdopen(created, "wb") as out:
            if mode is not None:
                os.fchmod(created, mode)
            out.write(content)
            out.flush()
            os.fsync(created)
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise
    sync_directory(directory)


def replace_file(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Put content in place of a file at a trusted path, as those of the state home are."""
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        replace_at(directory, path.name, content, mode)
    finally:
        os.close(directory)


def sync_directory(directory: Path | int) -> None:
    """Make a new name in a directory, by path or by descriptor, survive a power cut."""
    descriptor = directory if isinstance(directory, int) else os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # File systems of other systems (9p under WSL2, some FUSE mounts) cannot sync a directory; the file itself is safe.
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        if descriptor is not directory:
            os.close(descriptor)
