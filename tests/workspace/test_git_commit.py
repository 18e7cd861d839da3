"""Commit, push and merge: the tree that the gates saw and no other, at most once, never by force."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest
from git_repos import RUNNER, Repo, empty_repo, repo_with_a_commit

from ralphloop.core.model import Result, RunReport
from ralphloop.core.ports import CallReport, Launch, Sign
from ralphloop.workspace.git import GitWorkspace
from ralphloop.workspace.open import ensure_ignore

TRAILER = "Ralph-Iteration: loop/3"
MESSAGE = "Ralph: iteration 3"


def messages(repo: Repo) -> list[str]:
    return repo.git("log", "--format=%B%x00").split("\0")[:-1]


def status(repo: Repo) -> str:
    return repo.git("status", "--porcelain", "--untracked-files=all")


def test_everything_is_committed_with_the_trailer(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.write("a.txt", "changed")
    repo.write("new/untracked.txt", "")
    workspace = repo.workspace()
    verdict, sha = workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)
    assert (verdict.name, verdict.result, sha) == ("commit", Result.PASSED, repo.git("rev-parse", "HEAD"))
    assert status(repo) == ""
    assert repo.git("log", "-1", "--format=%s|%(trailers:only)").strip() == f"{MESSAGE}|{TRAILER}"


def test_the_first_commit_of_a_repository_can_be_made(tmp_path: Path) -> None:
    repo = empty_repo(tmp_path)
    repo.write("a.txt", "")
    workspace = repo.workspace()
    verdict, sha = workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)
    assert verdict.passed
    assert sha == repo.git("rev-parse", "HEAD")
    assert status(repo) == ""


def test_a_message_of_many_lines_keeps_its_hashes_and_its_trailers(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.git("config", "commit.cleanup", "strip")
    repo.write("a.txt", "changed")
    workspace = repo.workspace()
    message = "-subject\n\n# not a comment\n\nCo-authored-by: Bob <bob@example.org>"
    assert workspace.commit(message, TRAILER, workspace.look().fingerprint)[0].passed
    assert messages(repo)[0].strip() == f"{message}\n{TRAILER}"


def test_a_tree_that_changed_after_the_gates_saw_it_is_not_committed(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.write("a.txt", "seen by the gates")
    workspace = repo.workspace()
    seen = workspace.look().fingerprint
    repo.write("a.txt", "not seen by the gates")
    before = repo.git("rev-parse", "HEAD")
    verdict, sha = workspace.commit(MESSAGE, TRAILER, seen)
    assert (verdict.result, sha) == (Result.FAILED, None)
    assert "changed after the gates" in verdict.reason
    assert repo.git("rev-parse", "HEAD") == before
    assert status(repo) == " M a.txt"


def test_nothing_to_commit_is_a_pass_at_head(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    workspace = repo.workspace()
    verdict, sha = workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)
    assert (verdict.passed, verdict.reason, sha) == (True, "nothing to commit", None)


def test_nothing_to_commit_before_the_first_commit_is_a_pass_without_one(tmp_path: Path) -> None:
    workspace = empty_repo(tmp_path).workspace()
    verdict, sha = workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)
    assert (verdict.passed, verdict.reason, sha) == (True, "nothing to commit", None)


def test_what_ralph_keeps_in_the_workspace_is_not_committed(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.write("sub/b.txt", "")
    ensure_ignore(repo.path / "sub")
    repo.write("sub/.ralph/settings.json", "{}")
    repo.write("sub/.ralph/guardrail_1_make.log", "")
    workspace = repo.workspace("sub")
    assert workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)[0].passed
    assert repo.git("ls-files") == "a.txt\nsub/b.txt"


def test_an_agents_commit_with_the_same_trailer_is_not_taken_for_ours(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.commit("b.txt", "", message=f"{MESSAGE}\n\n{TRAILER}")
    repo.write("a.txt", "changed")
    workspace = repo.workspace()
    verdict, sha = workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)
    assert verdict.reason == "committed"
    assert sha == repo.git("rev-parse", "HEAD")
    assert status(repo) == ""


def test_an_undo_with_the_same_trailer_is_not_taken_for_the_commit(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    workspace = repo.workspace()
    seen = workspace.look().fingerprint
    repo.write("a.txt", "changed")
    assert workspace.commit_paths(["a.txt"], "ralph: undo a change of a.txt", TRAILER) is not None
    assert workspace.commit(MESSAGE, TRAILER, seen)[0].result is Result.FAILED


def test_conflict_markers_are_not_committed(tmp_path: Path) -> None:
    repo = diverged(tmp_path)
    assert RUNNER.call(("git", "merge", "side"), cwd=repo.path, env=repo.env, timeout_s=60.0).exit_code == 1
    workspace = repo.workspace()
    verdict, _ = workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)
    assert verdict.result is Result.FAILED
    assert "a.txt is in conflict" in verdict.reason


@pytest.mark.parametrize("resolved", ["main\n", "side\n", "both\n"])
def test_a_merge_that_the_agent_resolved_is_concluded(tmp_path: Path, resolved: str) -> None:
    repo = diverged(tmp_path)
    RUNNER.call(("git", "merge", "side"), cwd=repo.path, env=repo.env, timeout_s=60.0)
    repo.write("a.txt", resolved)
    repo.git("add", "a.txt")
    workspace = repo.workspace()
    assert workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)[0].passed
    assert len(repo.git("log", "-1", "--format=%P").split()) == 2
    assert status(repo) == ""


def test_a_user_without_a_name_commits_as_ralph(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.git("config", "user.useConfigOnly", "true")
    nameless = Repo(path=repo.path, env={name: value for name, value in repo.env.items() if "AUTHOR" not in name and "COMMITTER" not in name})
    for text in ("1", "2"):
        nameless.write("a.txt", text)
        workspace = nameless.workspace()
        assert workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)[0].passed
    nameless.write("a.txt", "3")
    assert nameless.workspace().commit_paths(["a.txt"], "ralph: undo", TRAILER) is not None
    assert set(repo.git("log", "-3", "--format=%an <%ae> %cn <%ce>").splitlines()) == {"Ralph <ralph@localhost> Ralph <ralph@localhost>"}


def test_a_lock_that_a_killed_git_left_on_the_index_does_not_stop_a_commit(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.write("a.txt", "changed")
    repo.write(".git/index.lock", "")
    repo.write(".git/ralph-index.lock", "")
    workspace = repo.workspace()
    assert workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)[0].passed


def test_what_git_cannot_commit_is_a_failed_verdict_in_its_words(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    nested = empty_repo(repo.path, "nested")
    nested.write("a.txt", "")
    workspace = repo.workspace()
    verdict, sha = workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)
    assert (verdict.result, sha) == (Result.FAILED, None)
    assert "nested/" in verdict.reason
    assert "does not have a commit checked out" in verdict.reason


def test_an_edit_of_the_same_size_at_the_instant_of_the_last_staging_is_committed(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.git("config", "core.trustctime", "false")
    instant = (10**18, 10**18)
    os.utime(repo.write("a.txt", "two\n"), ns=instant)
    repo.git("add", "a.txt")
    os.utime(repo.path / ".git" / "index", ns=instant)
    os.utime(repo.write("a.txt", "six\n"), ns=instant)
    workspace = repo.workspace()
    assert workspace.commit(MESSAGE, TRAILER, workspace.look().fingerprint)[0].passed
    assert repo.git("show", "HEAD:a.txt") == "six"


class Killed(BaseException):
    """Stands for `kill -9`: nothing of ours catches it."""


class Mortal:
    """A runner that dies before or after its n-th command."""

    def __init__(self, left: int, *, before: bool) -> None:
        self.left = left
        self.before = before

    def supervise(self, launch: Launch, on_line: Callable[[bytes], Sign]) -> RunReport:
        return RUNNER.supervise(launch, on_line)

    def call(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout_s: float, stdin: bytes = b"") -> CallReport:
        self.left -= 1
        if self.left == 0 and self.before:
            raise Killed
        report = RUNNER.call(argv, cwd=cwd, env=env, timeout_s=timeout_s, stdin=stdin)
        if self.left == 0:
            raise Killed
        return report


def dies_at(step: int, *, before: bool, repo: Repo, act: Callable[[GitWorkspace], object]) -> bool:
    """Whether the act had that many steps to die at."""
    try:
        act(repo.workspace(runner=Mortal(step, before=before)))
    except Killed:
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("before", [True, False])
def test_a_crash_at_any_instant_of_a_commit_leads_to_exactly_one(tmp_path: Path, before: bool) -> None:
    for step in range(1, 100):
        repo = repo_with_a_commit(tmp_path / f"{step}")
        repo.write("a.txt", "changed")
        repo.write("new.txt", "")
        repo.git("rm", "--quiet", "--cached", "a.txt")
        seen = repo.workspace().look().fingerprint
        died = dies_at(step, before=before, repo=repo, act=partial(GitWorkspace.commit, message=MESSAGE, trailer=TRAILER, fingerprint=seen))
        verdict, sha = repo.workspace().commit(MESSAGE, TRAILER, seen)
        assert verdict.passed, (step, verdict)
        assert sha == repo.git("rev-parse", "HEAD")
        assert [message.strip().splitlines()[-1] for message in messages(repo)] == [TRAILER, "work"]
        assert status(repo) == ""
        if not died:
            return
    pytest.fail("a commit has no end")


# --- commit_paths and read_at -----------------------------------------------------------------------------------------


def test_a_path_is_committed_alone_and_what_is_staged_stays_staged(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.commit("PRD.md", "illegal")
    repo.write("PRD.md", "lawful")
    repo.write("staged.txt", "")
    repo.git("add", "staged.txt")
    repo.write("a.txt", "unstaged")
    sha = repo.workspace().commit_paths(["PRD.md", "a-path-that-never-was"], "ralph: undo", TRAILER)
    assert sha == repo.git("rev-parse", "HEAD")
    assert messages(repo)[0] == f"ralph: undo\n\n{TRAILER}\n"
    assert repo.git("show", "--format=", "--name-only", "HEAD") == "PRD.md"
    assert status(repo) == " M a.txt\nA  staged.txt"


def test_nothing_is_committed_where_head_holds_the_paths_so(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.write("b.txt", "")
    assert repo.workspace().commit_paths(["a.txt"], "ralph: undo", TRAILER) is None
    assert repo.workspace().commit_paths([], "ralph: undo", TRAILER) is None
    assert empty_repo(tmp_path, "fresh").workspace().commit_paths(["a.txt"], "ralph: undo", TRAILER) is None
    assert messages(repo) == ["work\n"]


def remove_from_head(repo: Repo) -> None:
    repo.git("rm", "--quiet", "PRD.md")
    repo.git("commit", "--quiet", "--message", "no list, no work")


def remove_from_index(repo: Repo) -> None:
    repo.commit("PRD.md", "illegal")
    repo.git("rm", "--quiet", "--cached", "PRD.md")


def ignore(repo: Repo) -> None:
    remove_from_head(repo)
    repo.commit(".gitignore", "PRD.md\n")


def replace_by_a_directory(repo: Repo) -> None:
    repo.git("rm", "--quiet", "PRD.md")
    repo.commit("PRD.md/inner", "")


def replace_by_a_link(repo: Repo) -> None:
    (repo.path / "PRD.md").unlink()
    (repo.path / "PRD.md").symlink_to("a.txt")
    repo.git("commit", "--quiet", "--all", "--message", "a link")


@pytest.mark.parametrize("trick", [remove_from_head, remove_from_index, ignore, replace_by_a_directory, replace_by_a_link])
def test_the_lawful_version_reaches_head_whatever_was_done_to_it(tmp_path: Path, trick: Callable[[Repo], None]) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.commit("PRD.md", "lawful")
    trick(repo)
    workspace = repo.workspace()
    workspace.restore("PRD.md", b"lawful")
    assert workspace.commit_paths(["PRD.md"], "ralph: undo", TRAILER) is not None
    assert workspace.read_at("HEAD", "PRD.md") == b"lawful"
    assert "PRD.md\n" not in status(repo) + "\n"


def test_a_file_that_should_not_be_there_is_taken_out_of_head(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.commit("gate.sh", "exit 0")
    workspace = repo.workspace()
    workspace.restore("gate.sh", None)
    assert workspace.commit_paths(["gate.sh"], "ralph: undo", TRAILER) is not None
    assert workspace.read_at("HEAD", "gate.sh") is None
    assert status(repo) == ""


def test_an_undo_in_the_middle_of_a_merge_does_not_conclude_it(tmp_path: Path) -> None:
    repo = diverged(tmp_path)
    repo.commit("PRD.md", "illegal")
    RUNNER.call(("git", "merge", "side"), cwd=repo.path, env=repo.env, timeout_s=60.0)
    repo.write("PRD.md", "lawful")
    assert repo.workspace().commit_paths(["PRD.md"], "ralph: undo", TRAILER) is not None
    assert len(repo.git("log", "-1", "--format=%P").split()) == 1
    assert repo.git("rev-parse", "--verify", "MERGE_HEAD") == repo.git("rev-parse", "side")
    assert status(repo) == "UU a.txt"


@pytest.mark.slow
@pytest.mark.parametrize("before", [True, False])
def test_a_crash_at_any_instant_of_an_undo_leads_to_exactly_one(tmp_path: Path, before: bool) -> None:
    for step in range(1, 100):
        repo = repo_with_a_commit(tmp_path / f"{step}")
        repo.write("a.txt", "lawful")
        repo.write("staged.txt", "")
        repo.git("add", "staged.txt")
        died = dies_at(
            step, before=before, repo=repo, act=partial(GitWorkspace.commit_paths, paths=["a.txt"], message="ralph: undo", trailer=TRAILER)
        )
        repo.workspace().commit_paths(["a.txt"], "ralph: undo", TRAILER)
        assert len(messages(repo)) == 2
        assert repo.git("show", "HEAD:a.txt") == "lawful"
        assert status(repo) == "A  staged.txt"
        if not died:
            return
    pytest.fail("an undo has no end")


def test_a_file_is_read_from_a_commit_as_it_would_be_on_disk(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.commit(".gitattributes", "*.md text eol=crlf\n")
    first = repo.commit("sub/b c.md", "1\n")
    repo.commit("sub/b c.md", "2\n")
    workspace = repo.workspace("sub")
    assert workspace.read_at(first, "b c.md") == b"1\r\n"
    assert workspace.read_at("HEAD", "./b c.md") == b"2\r\n"


def test_what_a_commit_does_not_hold_as_a_file_is_not_read_from_it(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    (repo.path / "link").symlink_to("a.txt")
    repo.git("add", "link")
    repo.commit("sub/b.txt", "")
    repo.git("commit", "--quiet", "--message", "a link")
    workspace = repo.workspace()
    for path in ("link", "sub", "missing", "*", "a.txt/below"):
        assert workspace.read_at("HEAD", path) is None, path
    assert workspace.read_at("0" * 40, "a.txt") is None


# --- push and merge ---------------------------------------------------------------------------------------------------


def with_remote(tmp_path: Path) -> tuple[Repo, Repo]:
    repo = repo_with_a_commit(tmp_path)
    remote = empty_repo(tmp_path, "remote.git")
    remote.git("config", "core.bare", "true")
    repo.git("remote", "add", "origin", str(remote.path))
    return repo, remote


def remote_head(remote: Repo) -> str:
    return remote.git(f"--git-dir={remote.path}/.git", "rev-parse", "main")


def test_a_branch_is_pushed_also_the_first_time(tmp_path: Path) -> None:
    repo, remote = with_remote(tmp_path)
    for text in ("1", "2"):
        sha = repo.commit("a.txt", text)
        verdict = repo.workspace().push()
        assert (verdict.name, verdict.result) == ("push", Result.PASSED), verdict
        assert remote_head(remote) == sha


def test_a_remote_that_has_gone_on_is_not_overwritten(tmp_path: Path) -> None:
    repo, remote = with_remote(tmp_path)
    theirs = repo.commit("a.txt", "theirs")
    repo.git("push", "--quiet", "--set-upstream", "origin", "main")
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.commit("a.txt", "ours")
    verdict = repo.workspace().push()
    assert verdict.result is Result.FAILED
    assert "rejected" in verdict.reason
    assert remote_head(remote) == theirs


@pytest.mark.parametrize("forced", [("remote.origin.push", "+refs/heads/main:refs/heads/main"), ("remote.origin.mirror", "true")])
def test_a_configuration_that_forces_does_not_force(tmp_path: Path, forced: tuple[str, str]) -> None:
    repo, remote = with_remote(tmp_path)
    theirs = repo.commit("a.txt", "theirs")
    repo.git("push", "--quiet", "--set-upstream", "origin", "main")
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.commit("a.txt", "ours")
    repo.git("config", *forced)
    assert not repo.workspace().push().passed
    assert remote_head(remote) == theirs


def test_a_push_without_a_remote_fails_in_words(tmp_path: Path) -> None:
    verdict = repo_with_a_commit(tmp_path).workspace().push()
    assert verdict.result is Result.FAILED
    assert "does not appear to be a git repository" in verdict.reason


def diverged(tmp_path: Path) -> Repo:
    """A repository on main whose branch `side` changes the same line."""
    repo = repo_with_a_commit(tmp_path)
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("a.txt", "side\n")
    repo.git("checkout", "--quiet", "main")
    repo.commit("a.txt", "main\n")
    return repo


def side_by_side(tmp_path: Path) -> Repo:
    """A repository on main whose branch `side` changes another file."""
    repo = repo_with_a_commit(tmp_path)
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("b.txt", "side\n")
    repo.git("checkout", "--quiet", "main")
    repo.commit("a.txt", "main\n")
    return repo


def test_a_branch_is_merged(tmp_path: Path) -> None:
    repo = side_by_side(tmp_path)
    verdict, sha = repo.workspace().merge("side")
    assert (verdict.name, verdict.result, sha) == ("merge side", Result.PASSED, repo.git("rev-parse", "HEAD"))
    assert (repo.path / "b.txt").read_text() == "side\n"
    again, head = repo.workspace().merge("side")
    assert (again.reason, head) == ("already up to date", sha)


def test_a_conflict_is_aborted_and_names_the_files(tmp_path: Path) -> None:
    repo = diverged(tmp_path)
    before = repo.workspace().look()
    verdict, sha = repo.workspace().merge("side")
    assert (verdict.result, sha) == (Result.FAILED, None)
    assert verdict.reason == "conflict in a.txt; the merge was aborted"
    assert repo.workspace().look() == before


def test_a_half_merge_is_aborted_before_a_merge(tmp_path: Path) -> None:
    repo = diverged(tmp_path)
    repo.git("branch", "other", "main~1")
    RUNNER.call(("git", "merge", "side"), cwd=repo.path, env=repo.env, timeout_s=60.0)
    assert repo.workspace().merge("other")[0].passed
    assert status(repo) == ""


def test_local_changes_are_not_lost_in_a_merge(tmp_path: Path) -> None:
    repo = diverged(tmp_path)
    repo.write("a.txt", "not committed")
    verdict, _ = repo.workspace().merge("side")
    assert verdict.result is Result.FAILED
    assert "overwritten by merge" in verdict.reason
    assert (repo.path / "a.txt").read_text() == "not committed"


@pytest.mark.parametrize("branch", ["missing", "--no-verify", ""])
def test_a_branch_that_is_none_fails_in_words(tmp_path: Path, branch: str) -> None:
    verdict, sha = repo_with_a_commit(tmp_path).workspace().merge(branch)
    assert (verdict.result, sha) == (Result.FAILED, None)
    assert "not something we can merge" in verdict.reason
