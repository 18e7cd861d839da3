"""Stamps: what tells that a file is not the one it was, without reading it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ralphloop.files.places import BUSES

_BUSES = frozenset(map(os.fsencode, BUSES))


def stamp(path: bytes) -> bytes:
    """Size, time of change, inode and mode of what stands at a path, a link itself included; or that nothing does."""
    try:
        there = os.lstat(path)
    except OSError:
        return b"nothing"
    return b"%d %d %d %o" % (there.st_size, there.st_mtime_ns, there.st_ino, there.st_mode)


def is_bus(path: bytes) -> bool:
    """Whether a path is a message bus: what is said there, by whomever, is no work."""
    return path.rpartition(b"/")[2] in _BUSES


def walk(top: bytes, left_out: bytes = b"") -> Iterator[bytes]:
    """A record of path and stamp for everything below a directory, in no order, but for `.git` and message buses anywhere, and `left_out` at the top.

    Of a directory only its presence counts: its own times change with every temporary file in it.
    """
    pending = [b""]
    while pending:
        directory = pending.pop()
        try:
            entries = os.scandir(os.path.join(top, directory))  # noqa: PTH118  bytes: a file name need not be text
        except OSError:
            yield directory + b"/\0cannot be listed"
            continue
        with entries:
            for entry in entries:
                path = directory + b"/" + entry.name if directory else entry.name
                if entry.name == b".git" or path == left_out or is_bus(path):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                    yield path + b"/"
                else:
                    yield path + b"\0" + stamp(entry.path)
