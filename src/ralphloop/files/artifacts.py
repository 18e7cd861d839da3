"""Artifacts in the state home: private, written once, and known by their digest. Not synced: they explain, they do not decide."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def write_artifact(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read; its directory is there."""
    with os.fdopen(os.open(path, _CREATE, 0o600), "wb") as out:
        out.write(content)


def digest_of(path: Path) -> str | None:
    """The SHA-256 of a file of any size, in hex; None where there is no such file."""
    try:
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return None


def read_pieces(path: Path, piece_bytes: int) -> Iterator[bytes]:
    """The content of a file of any size in pieces; at least one, which may be empty."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb", buffering=0) as content:
        yield content.read(piece_bytes) or b""
        while piece := content.read(piece_bytes):
            yield piece
