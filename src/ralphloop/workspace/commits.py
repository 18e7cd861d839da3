"""Commits of Ralph's own, made on a spare index.

What is staged in the real index belongs to the user and the agent. A commit is therefore prepared on a second index beside it, and the real one
follows when the commit is there: a crash at any instant leaves either nothing, or a commit that is known again by its trailer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ralphloop.core.ports import CallReport
from ralphloop.files.beneath import read_beneath, remove_beneath, stat_beneath, write_beneath
from ralphloop.files.places import BUSES
from ralphloop.workspace.repository import Repository

_SPARE = "ralph-index"
_INDEX_MAX_BYTES = 2**30
_TRAILER = re.compile(r"[A-Za-z0-9-]+: .+")


def commit_everything(repository: Repository, message: bytes, left_out: str) -> CallReport | None:
    """Commit every change of the working tree but `left_out` and message buses; None where there is nothing to commit, else how git fared."""
    with _spare_index(repository, fresh=False) as index:
        ours = (f":(top,exclude,literal){left_out}", *(f":(top,exclude,glob)**/{bus}" for bus in BUSES))
        added = repository.call("add", "--all", "--", ":(top)", *ours, index=index)
        if added.exit_code != 0:
            return added
        difference = repository.call("diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", index=index)
        if difference.exit_code == 0 and repository.resolve("MERGE_HEAD") is None:
            return None
        options = ("--quiet", "--no-verify", "--cleanup=whitespace", "--file=-")
        committed = repository.call(*repository.identity(), "commit", *options, stdin=message, index=index)
    if committed.exit_code == 0:
        follow(repository)
    return committed


def follow(repository: Repository) -> None:
    """Bring the real index to HEAD. Where another git holds it (a stale `index.lock`), that git's user is told by git itself."""
    repository.call("reset", "--quiet")


def commit_alone(repository: Repository, paths: Sequence[str], message: bytes) -> str | None:
    """Commit these paths as they are on disk, on top of HEAD; the new commit, or None where HEAD holds them so.

    Made from parts, since `git commit -- PATHS` refuses during a merge and knows nothing of files that the index does not hold.
    """
    head = repository.resolve("HEAD")
    if head is None or not paths:
        return None
    record = ("update-index", "--add", "--remove", "--replace", "--", *paths)
    with _spare_index(repository, fresh=True) as index:
        repository.ask(*record, index=index)
        tree = repository.ask("write-tree", index=index).decode().strip()
    commit = None
    if tree != repository.resolve("HEAD^{tree}"):
        identity = repository.identity()
        commit = repository.ask(*identity, "commit-tree", tree, "-p", head, stdin=message).decode().strip()
        repository.ask(*identity, "update-ref", "-m", "ralph: commit of its own", "HEAD", commit, head)
    repository.call(*record)  # also where nothing was to be committed: a crash may have come between
    return commit


def with_trailer(message: str, trailer: str) -> bytes:
    """The whole message: the trailer joins those that end it, else it is a paragraph of its own."""
    paragraphs = message.strip().split("\n\n")
    has_trailers = len(paragraphs) > 1 and all(map(_TRAILER.fullmatch, paragraphs[-1].splitlines()))
    gap = "\n" if has_trailers else "\n\n"
    return f"{message.strip()}{gap}{trailer}\n".encode(errors="replace")


def is_at_head(repository: Repository, message: bytes) -> bool:
    """Whether HEAD is the commit with this message: the same subject and the same trailer, which ends it."""
    report = repository.call("cat-file", "commit", "HEAD")
    _, _, found = report.stdout.partition(b"\n\n")
    there, wanted = found.strip().splitlines(), message.strip().splitlines()
    return report.exit_code == 0 and bool(there) and there[0].rstrip() == wanted[0].rstrip() and wanted[-1] in there[1:]


@contextmanager
def _spare_index(repository: Repository, *, fresh: bool) -> Iterator[Path]:
    """A second index: a copy of the real one, with what git knows of files there, or `fresh` from HEAD."""
    for leftover in (_SPARE, f"{_SPARE}.lock"):
        remove_beneath(repository.git_dir, leftover)
    spare = repository.git_dir / _SPARE
    if (fresh or not _copy_index(repository.git_dir, spare)) and repository.resolve("HEAD") is not None:
        repository.ask("read-tree", "HEAD", index=spare)
    try:
        yield spare
    finally:
        remove_beneath(repository.git_dir, _SPARE)


def _copy_index(git_dir: Path, spare: Path) -> bool:
    real = stat_beneath(git_dir, "index")
    content = read_beneath(git_dir, "index", _INDEX_MAX_BYTES)
    if real is None or content is None:
        return False
    write_beneath(git_dir, spare.name, content)
    # Git takes a file for unchanged only if it is older than the index; a younger copy would hide an edit of the same size and instant.
    os.utime(spare, ns=(real.st_atime_ns, real.st_mtime_ns), follow_symlinks=False)
    return True
