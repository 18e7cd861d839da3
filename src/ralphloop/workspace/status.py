"""What `git status --porcelain=v2 --branch -z` says, parsed. Paths are bytes: a file name need not be text."""

from __future__ import annotations

from dataclasses import dataclass

ARGS = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames", "--no-ahead-behind", "--ignore-submodules=none")

_FIELDS_BEFORE_PATH = {b"1": 8, b"u": 10, b"?": 1}  # without renames (type 2), as asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One changed or untracked path: the record as git printed it (modes, index and HEAD objects) and the path in it."""

    record: bytes
    path: bytes

    @property
    def unmerged(self) -> bool:
        """Whether a merge left it in conflict."""
        return self.record.startswith(b"u")

    @property
    def nested(self) -> bool:
        """Whether it is another repository, of which git shows one record whatever happens in it."""
        submodule = self.record.startswith((b"1", b"u")) and self.record.split(b" ", 3)[2].startswith(b"S")
        return submodule or self.path.endswith(b"/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """HEAD, branch (None: detached) and changes."""

    head: str | None
    branch: str | None
    changes: tuple[Change, ...]


def parse_status(output: bytes) -> Status:
    """Read what git printed for ARGS."""
    headers: dict[bytes, bytes] = {}
    changes: list[Change] = []
    for record in output.split(b"\0"):
        kind = record[:1]
        if kind == b"#":
            _, name, value = record.split(b" ", 2)
            headers[name] = value
        elif kind in _FIELDS_BEFORE_PATH:
            changes.append(Change(record=record, path=record.split(b" ", _FIELDS_BEFORE_PATH[kind])[-1]))
    head, branch = headers[b"branch.oid"], headers[b"branch.head"]
    return Status(
        head=None if head == b"(initial)" else head.decode(),
        branch=None if branch == b"(detached)" else branch.decode(errors="backslashreplace"),
        changes=tuple(changes),
    )
