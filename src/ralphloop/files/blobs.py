"""Contents by digest: what a Snapshot names, kept so that it can be put back."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ralphloop.errors import RalphError
from ralphloop.files.atomic import replace_file

_SHA256 = re.compile(r"[0-9a-f]{64}")


class BlobStore:
    """A directory of contents, each named by its SHA-256."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._proven: set[str] = set()

    def put(self, content: bytes) -> str:
        """Keep the content durably; the answer is its SHA-256 in hex."""
        digest = hashlib.sha256(content).hexdigest()
        if digest in self._proven:
            return digest
        path = self._directory / digest
        try:
            # Compared, not only looked for: a damaged copy is healed by the first put of each process.
            if not path.is_file() or path.read_bytes() != content:
                self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                replace_file(path, content)
        except OSError as error:
            raise RalphError(f"{path} cannot be written: {error.strerror}; free space or check the permissions, then resume") from error
        self._proven.add(digest)
        return digest

    def get(self, digest: str) -> bytes:
        """The content of that digest, verified; RalphError where it is missing or damaged."""
        if not _SHA256.fullmatch(digest):
            raise RalphError(f"{digest!r} is not a SHA-256 digest: the ledger that names it is damaged")
        path = self._directory / digest
        try:
            content = path.read_bytes()
        except OSError as error:
            raise RalphError(f"the kept content {path} cannot be read: {error.strerror}; {_REMEDY}") from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise RalphError(f"the kept content {path} is damaged: its digest is another one; {_REMEDY}")
        return content


_REMEDY = "bring it back from a backup, or begin a new loop"
