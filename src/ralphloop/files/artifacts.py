"""Artifacts in the state home: private, written once, and known by their digest. Not synced: they explain, they do not decide.

An agent runs as the same user and can reach them, so nothing here follows a link or waits for the other end of a FIFO.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PIECE_BYTES = 1024 * 1024


def write_artifact(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, in place of whatever lay there; its directory is there."""
    with suppress(FileNotFoundError):
        path.unlink()
    with os.fdopen(os.open(path, _CREATE, 0o600), "wb") as out:
        out.write(content)


def read_artifact(path: Path) -> bytes | None:
    """The content of a file; None where there is no regular file."""
    try:
        return b"".join(read_pieces(path, _PIECE_BYTES))
    except OSError:
        return None


def read_pieces(path: Path, piece_bytes: int) -> Iterator[bytes]:
    """The content of a regular file of any size in pieces; at least one, which may be empty."""
    with os.fdopen(os.open(path, _READ), "rb", buffering=0) as content:
        if not stat.S_ISREG(os.fstat(content.fileno()).st_mode):
            raise OSError(f"{path} is not a regular file")
        yield content.read(piece_bytes) or b""
        while piece := content.read(piece_bytes):
            yield piece
