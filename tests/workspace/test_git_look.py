"""What a look at a repository sees, and what it does not let pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from git_repos import RUNNER, Repo, empty_repo, git_env, repo_with_a_commit

from ralphloop.errors import ConfigError, WorkError
from ralphloop.workspace.git import GitWorkspace
from ralphloop.workspace.open import ensure_ignore, open_workspace


def test_head_and_branch_are_those_of_git(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    tree = repo.workspace().look()
    assert (tree.head, tree.branch) == (repo.git("rev-parse", "HEAD"), "main")


def test_a_repository_without_a_commit_has_no_head(tmp_path: Path) -> None:
    repo = empty_repo(tmp_path)
    before = repo.workspace().look()
    repo.write("new.txt", "")
    after = repo.workspace().look()
    assert (before.head, before.branch) == (None, "main")
    assert after.fingerprint != before.fingerprint


def test_a_detached_head_has_no_branch(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.git("checkout", "--quiet", "--detach")
    tree = repo.workspace().look()
    assert (tree.head, tree.branch) == (repo.git("rev-parse", "HEAD"), None)


def commit_something(repo: Repo) -> None:
    repo.commit("b.txt", "")


def commit_nothing(repo: Repo) -> None:
    repo.git("commit", "--quiet", "--allow-empty", "--message", "nothing")


def stage(repo: Repo) -> None:
    repo.git("add", "--all")


def new_branch(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "other")


def intend_to_add(repo: Repo) -> None:
    repo.git("add", "--intent-to-add", "untracked.txt")


@pytest.mark.parametrize("change", [commit_something, commit_nothing, stage, new_branch, intend_to_add])
def test_head_branch_and_index_are_part_of_the_fingerprint(tmp_path: Path, change: Callable[[Repo], None]) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.write("untracked.txt", "")
    repo.write("a.txt", "changed")
    before = repo.workspace().look()
    change(repo)
    assert repo.workspace().look().fingerprint != before.fingerprint


def test_ignored_files_are_no_change(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.commit(".gitignore", "build/\n")
    before = repo.workspace().look()
    repo.write("build/out.o", "")
    repo.write("new/kept", "")
    before = repo.workspace().look()
    repo.write("new/build/out.o", "")
    assert repo.workspace().look() == before


def test_a_push_is_no_change(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    bare = empty_repo(tmp_path, "bare.git")
    bare.git("config", "core.bare", "true")
    repo.git("remote", "add", "origin", str(bare.path))
    before = repo.workspace().look()
    repo.git("push", "--quiet", "--set-upstream", "origin", "main")
    assert repo.workspace().look() == before


def test_the_whole_repository_is_seen_from_a_subdirectory(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.commit("sub/b.txt", "")
    workspace = repo.workspace("sub")
    before = workspace.look()
    repo.write("a.txt", "changed")
    assert workspace.look().fingerprint != before.fingerprint


def test_only_the_ralph_directory_of_this_workspace_is_left_out(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.commit("sub/b.txt", "")
    workspace = repo.workspace("sub")
    before = workspace.look()
    repo.write("sub/.ralph/settings.json", "{}")
    assert workspace.look() == before
    repo.write(".ralph/settings.json", "{}")
    assert workspace.look() != before


@pytest.mark.parametrize("with_a_commit", [True, False])
def test_work_inside_a_nested_repository_is_seen_each_time(tmp_path: Path, with_a_commit: bool) -> None:
    repo = repo_with_a_commit(tmp_path)
    nested = empty_repo(repo.path, "nested")
    if with_a_commit:
        nested.commit("deep/a.txt", "")
    workspace = repo.workspace()
    looks = [workspace.look().fingerprint]
    for text in ("1", "22", "333"):
        nested.write("deep/b.txt", text)
        looks.append(workspace.look().fingerprint)
    assert len(set(looks)) == len(looks)
    assert workspace.look().fingerprint == looks[-1]


def test_work_inside_a_submodule_is_seen_each_time_whatever_the_settings_say(tmp_path: Path) -> None:
    library = repo_with_a_commit(tmp_path)
    repo = empty_repo(tmp_path, "main")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.path), "library")
    repo.git("commit", "--quiet", "--message", "with a submodule")
    repo.git("config", "submodule.library.ignore", "all")
    workspace = repo.workspace()
    looks = [workspace.look().fingerprint]
    for text in ("1", "22", "333"):
        repo.write("library/a.txt", text)
        looks.append(workspace.look().fingerprint)
    assert len(set(looks)) == len(looks)


def test_a_linked_worktree_is_looked_at_by_itself(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.git("worktree", "add", "--quiet", "-b", "task", str(tmp_path / "task"))
    workspace = Repo(path=tmp_path / "task", env=repo.env).workspace()
    before = workspace.look()
    repo.write("a.txt", "changed in the other tree")
    assert workspace.look() == before
    assert before.branch == "task"


def test_a_huge_untracked_directory_is_seen_file_by_file(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    for number in range(500):
        repo.write(f"node_modules/{number % 20}/{number}.js", "")
    before = repo.workspace().look()
    assert repo.workspace().look() == before
    repo.write("node_modules/7/487.js", "changed")
    assert repo.workspace().look() != before


def test_a_repository_begun_below_does_not_take_the_look_away(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.commit("sub/b.txt", "")
    workspace = repo.workspace("sub")
    head = workspace.look().head
    Repo(path=repo.path / "sub", env=repo.env).git("init", "--quiet")
    assert workspace.look().head == head


def test_variables_that_name_another_repository_are_not_believed(tmp_path: Path) -> None:
    repo, other = repo_with_a_commit(tmp_path), empty_repo(tmp_path, "other")
    misled = {**repo.env, "GIT_DIR": str(other.path / ".git"), "GIT_WORK_TREE": str(other.path), "GIT_INDEX_FILE": "/nowhere"}
    assert open_workspace(repo.path, RUNNER, misled).look() == repo.workspace().look()


def test_nothing_that_the_repository_configures_is_run(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    hook = repo.write(".git/hooks/any", '#!/bin/sh\necho "$0" >> "$GIT_DIR/ran"\n')
    hook.chmod(0o755)
    for name in (
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "post-index-change",
        "reference-transaction",
        "pre-push",
        "pre-merge-commit",
    ):
        (hook.parent / name).symlink_to(hook.name)
    repo.git("config", "core.hooksPath", str(hook.parent))
    repo.git("config", "core.fsmonitor", str(hook))
    branch = repo.path / ".git" / "refs" / "heads" / "side"
    branch.write_text(repo.git("rev-parse", "HEAD") + "\n")
    (repo.path / ".git" / "ran").unlink(missing_ok=True)
    workspace = repo.workspace()
    repo.write("a.txt", "changed")
    assert workspace.commit("m", "T: 1", workspace.look().fingerprint)[0].passed
    repo.write("a.txt", "changed again")
    assert workspace.commit_paths(["a.txt"], "m", "T: 1") is not None
    assert workspace.merge("side")[0].passed
    workspace.push()
    assert not (repo.path / ".git" / "ran").exists()


def test_a_repository_that_is_gone_is_an_error_in_words_and_the_one_around_it_is_not_taken(tmp_path: Path) -> None:
    outer = empty_repo(tmp_path, "outer")
    repo = repo_with_a_commit(outer.path)
    workspace = repo.workspace()
    (repo.path / ".git").rename(tmp_path / "taken")
    with pytest.raises(WorkError, match="not a git repository"):
        workspace.look()


def test_a_repository_that_git_refuses_is_an_error_and_not_a_plain_directory(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.write(".git/config", "[broken")
    with pytest.raises(ConfigError, match="bad config"):
        open_workspace(repo.path, RUNNER, repo.env)


def test_a_repository_is_opened_as_one_also_from_below_and_through_a_link(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    repo.commit("sub/b.txt", "")
    (tmp_path / "link").symlink_to(repo.path / "sub")
    workspace = open_workspace(tmp_path / "link", RUNNER, repo.env)
    assert isinstance(workspace, GitWorkspace)
    assert workspace.read("b.txt") == b""
    assert workspace.look() == repo.workspace().look()


def test_the_inside_of_a_git_directory_is_no_working_tree(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    assert not isinstance(open_workspace(repo.path / ".git", RUNNER, git_env(tmp_path)), GitWorkspace)


# --- describe_moves ---------------------------------------------------------------------------------------------------


def moves(repo: Repo, *commands: tuple[str, ...]) -> tuple[str, ...]:
    workspace = repo.workspace()
    before = workspace.look()
    for command in commands:
        repo.git(*command)
    return workspace.describe_moves(before, workspace.look())


EMPTY_COMMIT = ("commit", "--quiet", "--allow-empty", "--message", "more")


def test_going_forward_is_no_move(tmp_path: Path) -> None:
    assert moves(repo_with_a_commit(tmp_path), EMPTY_COMMIT, EMPTY_COMMIT) == ()
    assert moves(empty_repo(tmp_path, "fresh"), EMPTY_COMMIT) == ()


def test_a_switched_branch_is_described(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    assert moves(repo, ("checkout", "--quiet", "-b", "other")) == ("the branch was switched from main to other",)
    assert moves(repo, ("checkout", "--quiet", "--detach")) == ("the branch was switched from other to no branch (a detached HEAD)",)


@pytest.mark.parametrize(
    "command", [("reset", "--quiet", "--hard", "HEAD~1"), ("commit", "--quiet", "--amend", "--message", "another"), ("update-ref", "-d", "HEAD")]
)
def test_history_taken_back_or_rewritten_is_described(tmp_path: Path, command: tuple[str, ...]) -> None:
    repo = repo_with_a_commit(tmp_path)
    last = repo.commit("a.txt", "two\n")
    assert moves(repo, command) == (f"history was reset or rewritten on main: commit {last[:12]} is no longer part of it",)


def test_a_repository_begun_anew_is_described(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    workspace = repo.workspace()
    before = workspace.look()
    (repo.path / ".git").rename(tmp_path / "taken")
    repo.git("init", "--quiet", "--initial-branch=main")
    repo.commit("b.txt", "")
    assert "no longer part of it" in workspace.describe_moves(before, workspace.look())[0]


# --- ensure_ignore ----------------------------------------------------------------------------------------------------


def test_git_ignores_the_runtime_files_of_ralph_but_not_the_settings(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    for path in (".ralph/settings.json", ".ralph/logs/loop.log", ".ralph/guardrail_1_make.log"):
        repo.write(path, "")
    ensure_ignore(repo.path)
    assert repo.git("status", "--porcelain", "--untracked-files=all") == "?? .ralph/settings.json"


def test_an_ignore_file_that_stands_there_is_left_alone(tmp_path: Path) -> None:
    ensure_ignore(tmp_path)
    (tmp_path / ".ralph" / ".gitignore").write_text("mine")
    ensure_ignore(tmp_path)
    assert (tmp_path / ".ralph" / ".gitignore").read_text() == "mine"


def test_the_ignore_file_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / ".ralph").symlink_to(tmp_path / "outside")
    with pytest.raises(WorkError, match="link"):
        ensure_ignore(tmp_path / "root")
    assert list((tmp_path / "outside").iterdir()) == []
