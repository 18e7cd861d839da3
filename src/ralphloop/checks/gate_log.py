"""The log of one gate: written in the state home while the gate runs, then carried to `.ralph/`, where people and agents look for it.

An agent can put a link or a directory at either place in `.ralph/`, and a log can hold a gigabyte: so the supervisor writes to a private file, and
one pass over it digests it, keeps its beginning, and copies it beneath the workspace without following a link.
"""

from __future__ import annotations

import hashlib
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ralphloop.errors import WorkError
from ralphloop.files.artifacts import read_pieces
from ralphloop.files.beneath import append_beneath, move_aside, remove_beneath, stat_beneath

RUNTIME_DIRECTORY = ".ralph"
TRUNCATED = "... [truncated]"
CHUNK_BYTES = 1024 * 1024
LONGEST_CHAR_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutput:
    """What a gate wrote: its beginning, the digest of all of it, and where all of it can be read."""

    beginning: str
    digest: str | None
    log: str | None


def publish(private: Path, root: Path, name: str, truncate_chars: int) -> GateOutput:
    """Carry the log to `.ralph/<name>`; where that cannot be, it stays where it is, and `log` says so."""
    copy = _Copy(root, f"{RUNTIME_DIRECTORY}/{name}")
    digest, head = hashlib.sha256(), b""
    longest_head = LONGEST_CHAR_BYTES * (truncate_chars + 1)
    try:
        for chunk in read_pieces(private, CHUNK_BYTES):
            digest.update(chunk)
            head += chunk[: max(longest_head - len(head), 0)]
            copy.write(chunk)
    except OSError:  # the state home took no log: a full disk; the verdict stands on the exit status alone
        return GateOutput(beginning="", digest=None, log=None)
    if copy.complete:
        discard(private)
    return GateOutput(
        beginning=_truncated(head.decode("utf-8", "replace"), truncate_chars),
        digest=digest.hexdigest(),
        log=copy.path if copy.complete else str(private),
    )


def discard(private: Path) -> None:
    """Take a private log away."""
    with suppress(OSError):
        private.unlink(missing_ok=True)


class _Copy:
    """A file beneath the workspace that is written as far as it goes. It begins empty, whatever stood there."""

    def __init__(self, root: Path, path: str) -> None:
        self.path = path
        self.complete = True
        self._root = root
        self._begun = False

    def write(self, chunk: bytes) -> None:
        if not self.complete:
            return
        try:
            if not self._begun:
                self._begun = True
                self._make_room()
            append_beneath(self._root, self.path, chunk)
        except WorkError:
            self.complete = False

    def _make_room(self) -> None:
        there = stat_beneath(self._root, self.path)
        if there is not None and stat.S_ISDIR(there.st_mode):
            move_aside(self._root, self.path, ".moved-by-ralph")
        else:
            remove_beneath(self._root, self.path)


def _truncated(output: str, chars: int) -> str:
    return output if len(output) <= chars else output[:chars] + TRUNCATED
