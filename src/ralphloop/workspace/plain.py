"""A workspace that is a plain directory: no history, so nothing to commit and nothing to move."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from ralphloop.core.model import Result, Tree, Verdict
from ralphloop.workspace.restoring import Places, is_executable, read_file, restore_file
from ralphloop.workspace.stamps import walk

MAX_ENTRIES = 20_000


class PlainWorkspace:
    """The directory being changed, looked at by a bounded walk."""

    def __init__(self, root: Path, outside: frozenset[str] = frozenset()) -> None:
        self._root = root
        self._places = Places(root=root, outside=outside)

    def look(self) -> Tree:
        """A fingerprint of the directory; one that equals no other where there is more in it than is looked at."""
        records = list(islice(walk(os.fsencode(self._root), left_out=b".ralph"), MAX_ENTRIES + 1))
        digest = hashlib.sha256(b"\0\0".join(sorted(records)))
        if len(records) > MAX_ENTRIES:
            # What was not looked at may have changed. "Unchanged" would be a guess, and a guess would end a loop that makes progress.
            digest.update(os.urandom(16))
        return Tree(fingerprint=digest.hexdigest())

    def read(self, path: str) -> bytes | None:
        """The content of a regular file, or None where there is none; never through a link."""
        return read_file(self._places, path)

    def is_executable(self, path: str) -> bool:
        """Whether there is a regular file that its owner may run."""
        return is_executable(self._places, path)

    def restore(self, path: str, content: bytes | None, *, executable: bool = False) -> None:
        """Put content back (None: take the file away), whatever stands in its place now."""
        restore_file(self._places, path, content, executable=executable)

    def read_at(self, revision: str, path: str) -> bytes | None:  # noqa: ARG002
        """None: there are no commits."""
        return None

    def commit_paths(self, paths: Sequence[str], message: str, trailer: str) -> str | None:  # noqa: ARG002
        """None: there is nothing to commit to."""
        return None

    def describe_moves(self, before: Tree, after: Tree) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing: there is no history to move in."""
        return ()

    def commit(self, message: str, trailer: str, fingerprint: str) -> tuple[Verdict, str | None]:  # noqa: ARG002
        """A failed verdict."""
        return self._refused("commit"), None

    def push(self) -> Verdict:
        """A failed verdict."""
        return self._refused("push")

    def merge(self, branch: str) -> tuple[Verdict, str | None]:
        """A failed verdict."""
        return self._refused(f"merge {branch}"), None

    def _refused(self, name: str) -> Verdict:
        reason = f"{self._root} is not a git repository, or git is not installed: run `git init` there, or take `{name.split(maxsplit=1)[0]}` out of scm.tasks"
        return Verdict(name=name, result=Result.FAILED, reason=reason)
