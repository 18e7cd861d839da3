"""Stamps: what tells that a file is not the one it was, without reading it."""

from __future__ import annotations

import os
from collections.abc import Iterator


def stamp(path: bytes) -> bytes:
    """Size, time of change, inode and mode of what stands at a path, a link itself included; or that nothing does."""
    try:
        there = os.lstat(path)
    except OSError:
        return b"nothing"
    return b"%d %d %d %o" % (there.st_size, there.st_mtime_ns, there.st_ino, there.st_mode)


def walk(top: bytes, left_out: bytes = b"") -> Iterator[bytes]:
    """A record of path and stamp for everything below a directory, in no order; `.git` anywhere and `left_out` at the top are not entered.

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
                if entry.name == b".git" or path == left_out:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                    yield path + b"/"
                else:
                    yield path + b"\0" + stamp(entry.path)
