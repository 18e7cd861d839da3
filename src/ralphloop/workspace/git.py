"""A workspace under git."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ralphloop.core.model import Result, Tree, Verdict
from ralphloop.core.ports import CallReport
from ralphloop.errors import WorkError
from ralphloop.files.beneath import MAX_BYTES
from ralphloop.workspace import commits
from ralphloop.workspace.repository import NETWORK_S, Repository, in_words
from ralphloop.workspace.restoring import Places, is_executable, read_file, restore_file
from ralphloop.workspace.stamps import is_bus, stamp, walk
from ralphloop.workspace.status import ARGS, Change, Status, parse_status


class GitWorkspace:
    """The directory being changed, and the repository around it: what is seen and committed is the whole working tree, but `.ralph`."""

    def __init__(self, root: Path, repository: Repository, outside: frozenset[str] = frozenset()) -> None:
        self._places = Places(root=root, outside=outside)
        self._repository = repository
        self._prefix = Path(os.path.relpath(os.path.realpath(root), repository.top))
        self._ours = self._in_repository(".ralph")

    def look(self) -> Tree:
        """Fingerprint, HEAD and branch as they are now; WorkError where git cannot tell."""
        return self._tree(self._status())

    def read(self, path: str) -> bytes | None:
        """The content of a regular file, or None where there is none; never through a link."""
        return read_file(self._places, path)

    def is_executable(self, path: str) -> bool:
        """Whether there is a regular file that its owner may run."""
        return is_executable(self._places, path)

    def restore(self, path: str, content: bytes | None, *, executable: bool = False) -> None:
        """Put content back (None: take the file away), whatever stands in its place now."""
        restore_file(self._places, path, content, executable=executable)

    def read_at(self, revision: str, path: str) -> bytes | None:
        """The content that a commit gives a regular file on disk; None where it has none, or one too large to be read."""
        name = self._in_repository(path)
        report = self._repository.call("ls-tree", "-z", "--long", "--full-tree", revision, "--", name)
        entry = report.stdout.partition(b"\t")[0].split()  # mode, type, object, size
        if not entry or not entry[0].startswith(b"100") or int(entry[3]) > MAX_BYTES:
            return None
        return self._repository.ask("cat-file", "--filters", f"{revision}:{name}")

    def commit_paths(self, paths: Sequence[str], message: str, trailer: str) -> str | None:
        """Commit those paths alone as they are on disk; the new commit, or None where HEAD holds them so."""
        return commits.commit_alone(self._repository, [self._in_repository(path) for path in paths], commits.with_trailer(message, trailer))

    def describe_moves(self, before: Tree, after: Tree) -> tuple[str, ...]:
        """In words: a switched branch, or history that is gone from under it; nothing where HEAD only moved forward."""
        if before.branch != after.branch:
            return (f"the branch was switched from {_branch(before)} to {_branch(after)}",)
        if before.head is None or before.head == after.head or self._leads_to(before.head, after.head):
            return ()
        return (f"history was reset or rewritten on {_branch(after)}: commit {before.head[:12]} is no longer part of it",)

    def commit(self, message: str, trailer: str, fingerprint: str) -> tuple[Verdict, str | None]:
        """Commit all changes if the tree is still the one with that fingerprint; found by its trailer if made before a crash."""
        try:
            return self._commit(commits.with_trailer(message, trailer), fingerprint)
        except WorkError as error:
            return Verdict(name="commit", result=Result.ERRORED, reason=str(error)), None

    def push(self) -> Verdict:
        """Push the current branch, to a branch of its own name where it has no upstream yet; never by force."""
        branch = self._status().branch
        if branch is None:
            return Verdict(name="push", result=Result.FAILED, reason="HEAD is detached: there is no branch to push")
        remote = self._configured(f"branch.{branch}.remote") or "origin"
        upstream = self._configured(f"branch.{branch}.merge") or f"refs/heads/{branch}"
        # The refspec is named, so that a forced one (or a mirror) in a configuration that the agent can write is not what is pushed.
        report = self._repository.call("push", "--set-upstream", "--", remote, f"HEAD:{upstream}", timeout_s=NETWORK_S)
        return _verdict("push", report, "pushed")

    def _configured(self, key: str) -> str:
        return self._repository.call("config", "--get", key).stdout.decode(errors="surrogateescape").strip()

    def merge(self, branch: str) -> tuple[Verdict, str | None]:
        """Merge a branch into the current one, after aborting a half merge; a conflict is a failed verdict and is aborted."""
        name = f"merge {branch}"
        aborted = self._abort_merge()
        if aborted is not None and aborted.exit_code != 0:
            return _verdict(name, aborted, ""), None
        before = self._repository.resolve("HEAD")
        report = self._repository.call(*self._repository.identity(), "merge", "--no-edit", "--", branch)
        head = self._repository.resolve("HEAD")
        verdict = _verdict(name, report, "already up to date" if head == before else "merged")
        if verdict.passed:
            return verdict, head
        conflicts = self._repository.call("diff", "--name-only", "--diff-filter=U", "-z").stdout.decode(errors="backslashreplace")
        if self._abort_merge() is not None and conflicts:
            files = ", ".join(conflicts.rstrip("\0").split("\0"))
            verdict = replace(verdict, reason=f"conflict in {files}; the merge was aborted")
        return verdict, None

    def _commit(self, message: bytes, fingerprint: str) -> tuple[Verdict, str | None]:
        # HEAD is part of the fingerprint: while it fits, no commit was made since the gates, whatever trailers HEAD carries.
        status = self._status()
        if self._tree(status).fingerprint != fingerprint:
            if commits.is_at_head(self._repository, message):
                commits.follow(self._repository)
                return Verdict(name="commit", result=Result.PASSED, reason="it was made before"), status.head
            return Verdict(name="commit", result=Result.FAILED, reason="the tree changed after the gates saw it; nothing was committed"), None
        unmerged = [os.fsdecode(change.path) for change in status.changes if change.unmerged]
        if unmerged:
            reason = f"a merge is not finished: {', '.join(unmerged)} is in conflict; nothing was committed"
            return Verdict(name="commit", result=Result.FAILED, reason=reason), None
        report = commits.commit_everything(self._repository, message, self._ours)
        if report is None:
            return Verdict(name="commit", result=Result.PASSED, reason="nothing to commit"), None
        verdict = _verdict("commit", report, "committed")
        return verdict, self._repository.resolve("HEAD") if verdict.passed else None

    def _status(self) -> Status:
        status = parse_status(self._repository.ask(*ARGS))
        ours = os.fsencode(self._ours)
        changes = (change for change in status.changes if change.path != ours and not change.path.startswith(ours + b"/") and not is_bus(change.path))
        return replace(status, changes=tuple(changes))

    def _tree(self, status: Status) -> Tree:
        digest = hashlib.sha256(repr((status.head, status.branch)).encode())
        top = os.fsencode(self._repository.top) + b"/"
        for change in status.changes:
            digest.update(b"\0".join((b"", change.record, *_stamps(top, change))))
        return Tree(fingerprint=digest.hexdigest(), head=status.head, branch=status.branch)

    def _in_repository(self, path: str) -> str:
        return str(PurePosixPath(self._prefix, path))

    def _leads_to(self, earlier: str, later: str | None) -> bool:
        return later is not None and self._repository.call("merge-base", "--is-ancestor", earlier, later).exit_code == 0

    def _abort_merge(self) -> CallReport | None:
        """How aborting a half merge fared; None where there is none."""
        return None if self._repository.resolve("MERGE_HEAD") is None else self._repository.call("merge", "--abort")


def _stamps(top: bytes, change: Change) -> list[bytes]:
    path = top + change.path
    return sorted(walk(path.rstrip(b"/"))) if change.nested else [stamp(path)]


def _branch(tree: Tree) -> str:
    return "no branch (a detached HEAD)" if tree.branch is None else tree.branch


def _verdict(name: str, report: CallReport, passed: str) -> Verdict:
    if report.exit_code == 0:
        return Verdict(name=name, result=Result.PASSED, reason=passed, exit_code=0)
    result = Result.ERRORED if report.error else Result.FAILED
    output = (report.stdout + report.stderr).decode(errors="replace")
    return Verdict(name=name, result=result, reason=in_words(report), exit_code=report.exit_code, output=output)
