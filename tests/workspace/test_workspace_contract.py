"""What every workspace promises, under git or not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from git_repos import RUNNER, git_env, repo_with_a_commit

from ralphloop.core.model import Result
from ralphloop.core.ports import Workspace
from ralphloop.errors import WorkError
from ralphloop.workspace.open import ensure_ignore, open_workspace
from ralphloop.workspace.plain import PlainWorkspace

Opened = tuple[Workspace, Path]


def under_git(tmp_path: Path) -> Opened:
    repo = repo_with_a_commit(tmp_path)
    return repo.workspace(), repo.path


def below_the_top_of_git(tmp_path: Path) -> Opened:
    repo = repo_with_a_commit(tmp_path)
    repo.commit("sub/a.txt", "one\n")
    return repo.workspace("sub"), repo.path / "sub"


def plain(tmp_path: Path) -> Opened:
    root = tmp_path / "plain"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    return PlainWorkspace(root), root


@pytest.fixture(params=[under_git, below_the_top_of_git, plain])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    make: Callable[[Path], Opened] = request.param
    return make(tmp_path)


def edit(path: Path, text: str) -> None:
    """Write at a later instant: the clock of some file systems ticks only every few milliseconds."""
    before = path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=(before, before + 10_000_000))


def edit_in_place_with_the_same_size(root: Path) -> None:
    edit(root / "a.txt", "two\n")


def add_a_file(root: Path) -> None:
    (root / "new.txt").write_text("")


def add_a_file_in_a_new_directory(root: Path) -> None:
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "new.txt").write_text("")


def delete_a_file(root: Path) -> None:
    (root / "a.txt").unlink()


def make_it_executable(root: Path) -> None:
    (root / "a.txt").chmod(0o755)


def put_a_link_in_its_place(root: Path) -> None:
    (root / "a.txt").unlink()
    (root / "a.txt").symlink_to("elsewhere")


def rename_it(root: Path) -> None:
    (root / "a.txt").rename(root / "b.txt")


CHANGES = [
    edit_in_place_with_the_same_size,
    add_a_file,
    add_a_file_in_a_new_directory,
    delete_a_file,
    make_it_executable,
    put_a_link_in_its_place,
    rename_it,
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(opened: Opened, change: Callable[[Path], None]) -> None:
    workspace, root = opened
    before = workspace.look()
    change(root)
    assert workspace.look().fingerprint != before.fingerprint


def test_a_second_edit_of_a_file_that_was_changed_before_is_seen(opened: Opened) -> None:
    workspace, root = opened
    for name in ("a.txt", "untracked.txt"):
        (root / name).write_text("first\n")
        before = workspace.look()
        edit(root / name, "other\n")
        assert workspace.look().fingerprint != before.fingerprint


@pytest.mark.parametrize("name", ["with space", "new\nline", "\udcff\udcfe", 'quote"\\', "ünïcödé", "-dash", ":(top)magic", "*"])
def test_edits_of_files_with_odd_names_are_seen(opened: Opened, name: str) -> None:
    workspace, root = opened
    looks = [workspace.look().fingerprint]
    for content in (b"", b"1", b"22"):
        (root / name).write_bytes(content)
        looks.append(workspace.look().fingerprint)
    assert len(set(looks)) == len(looks)
    assert workspace.look().fingerprint == looks[-1]


def test_looking_twice_at_an_unchanged_directory_gives_the_same_fingerprint(opened: Opened) -> None:
    workspace, root = opened
    (root / "new.txt").write_text("")
    (root / "a.txt").write_text("changed")
    assert workspace.look() == workspace.look()


def test_looking_changes_nothing(opened: Opened) -> None:
    workspace, root = opened
    os.utime(root / "a.txt")
    before = {path: os.lstat(path).st_mtime_ns for path in root.rglob("*")}
    workspace.look()
    assert {path: os.lstat(path).st_mtime_ns for path in root.rglob("*")} == before


def test_files_of_ralph_are_not_a_change_of_the_workspace(opened: Opened) -> None:
    workspace, root = opened
    before = workspace.look()
    ensure_ignore(root)
    (root / ".ralph" / "guardrail_1_make.log").write_text("log")
    (root / ".ralph" / "settings.json").write_text("{}")
    assert workspace.look() == before


def test_a_fifo_does_not_stop_a_look(opened: Opened) -> None:
    workspace, root = opened
    os.mkfifo(root / "fifo")
    assert workspace.look() == workspace.look()


def test_only_regular_files_are_read(opened: Opened) -> None:
    workspace, root = opened
    (root / "link").symlink_to("a.txt")
    (root / "linked").symlink_to(root)
    (root / "directory").mkdir()
    os.mkfifo(root / "fifo")
    assert workspace.read("a.txt") == b"one\n"
    for path in ("link", "linked/a.txt", "fifo", "directory", "missing", "missing/too", "a.txt/below"):
        assert workspace.read(path) is None, path


def test_a_deleted_file_comes_back_with_its_directories(opened: Opened) -> None:
    workspace, _ = opened
    workspace.restore("docs/tasks/PRD.md", b"- [ ] task\n")
    assert workspace.read("docs/tasks/PRD.md") == b"- [ ] task\n"


def test_an_edited_file_is_put_back_and_keeps_its_mode(opened: Opened) -> None:
    workspace, root = opened
    (root / "a.txt").chmod(0o755)
    (root / "a.txt").write_text("illegal, and longer")
    workspace.restore("a.txt", b"one\n", executable=True)
    assert workspace.read("a.txt") == b"one\n"
    assert (root / "a.txt").stat().st_mode & 0o777 == 0o755


def test_a_script_that_was_deleted_or_may_not_be_run_any_more_can_be_run_again(opened: Opened) -> None:
    workspace, root = opened
    (root / "check.sh").write_text("true\n")
    (root / "check.sh").chmod(0o755)
    assert workspace.is_executable("check.sh")
    (root / "check.sh").chmod(0o640)
    assert not workspace.is_executable("check.sh")
    workspace.restore("check.sh", b"true\n", executable=True)
    assert workspace.is_executable("check.sh")
    (root / "check.sh").unlink()
    workspace.restore("check.sh", b"true\n", executable=True)
    assert workspace.is_executable("check.sh")


def test_a_file_that_is_as_it_should_be_is_not_touched(opened: Opened) -> None:
    workspace, root = opened
    before = (root / "a.txt").stat()
    workspace.restore("a.txt", b"one\n")
    assert (root / "a.txt").stat().st_ino == before.st_ino


def test_a_file_that_should_not_be_there_is_taken_away(opened: Opened) -> None:
    workspace, root = opened
    workspace.restore("a.txt", None)
    workspace.restore("never/was", None)
    assert not (root / "a.txt").exists()
    assert not (root / "never").exists()


def test_a_directory_in_place_of_a_file_is_moved_aside_with_all_that_is_in_it(opened: Opened) -> None:
    workspace, root = opened
    for number in (1, 2):
        (root / "a.txt").unlink()
        (root / "a.txt").mkdir()
        (root / "a.txt" / "kept").write_text(str(number))
        workspace.restore("a.txt", b"one\n")
        assert workspace.read("a.txt") == b"one\n"
        assert (root / f"a.txt.moved-by-ralph-{number}" / "kept").read_text() == str(number)


def test_a_link_in_place_of_a_file_is_moved_aside_and_its_target_is_not_touched(opened: Opened, tmp_path: Path) -> None:
    workspace, root = opened
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (root / "a.txt").unlink()
    (root / "a.txt").symlink_to(outside)
    workspace.restore("a.txt", b"one\n")
    assert workspace.read("a.txt") == b"one\n"
    assert outside.read_text() == "mine"
    assert (root / "a.txt.moved-by-ralph-1").is_symlink()


def test_a_linked_directory_above_a_file_is_moved_aside_and_nothing_is_written_behind_it(opened: Opened, tmp_path: Path) -> None:
    workspace, root = opened
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "docs").symlink_to(outside)
    workspace.restore("docs/PRD.md", b"text")
    assert workspace.read("docs/PRD.md") == b"text"
    assert list(outside.iterdir()) == []


def test_a_file_above_a_file_is_moved_aside(opened: Opened) -> None:
    workspace, root = opened
    (root / "docs").write_text("in the way")
    workspace.restore("docs/deep/PRD.md", b"text")
    assert workspace.read("docs/deep/PRD.md") == b"text"
    assert (root / "docs.moved-by-ralph-1").read_text() == "in the way"


def test_a_directory_where_nothing_should_be_is_moved_aside(opened: Opened) -> None:
    workspace, root = opened
    (root / "gate.sh").mkdir()
    (root / "gate.sh" / "kept").write_text("kept")
    workspace.restore("gate.sh", None)
    assert not (root / "gate.sh").exists()
    assert (root / "gate.sh.moved-by-ralph-1" / "kept").read_text() == "kept"


def test_a_file_made_huge_or_unreadable_is_put_back(opened: Opened) -> None:
    workspace, root = opened
    with (root / "a.txt").open("wb") as huge:
        huge.truncate(2**34)
    (root / "a.txt").chmod(0)
    workspace.restore("a.txt", b"one\n")
    assert workspace.read("a.txt") == b"one\n"
    assert (root / "a.txt").stat().st_mode & 0o400


@pytest.mark.parametrize("path", ["../outside", "/etc/hostname", "a/../../outside", ""])
def test_paths_that_lead_out_of_the_workspace_are_refused(opened: Opened, path: str) -> None:
    workspace, _ = opened
    with pytest.raises(WorkError):
        workspace.read(path)
    with pytest.raises(WorkError):
        workspace.restore(path, b"text")


def test_an_unmoved_workspace_has_no_moves_to_describe(opened: Opened) -> None:
    workspace, root = opened
    before = workspace.look()
    (root / "a.txt").write_text("changed")
    assert workspace.describe_moves(before, workspace.look()) == ()


def test_a_plain_directory_refuses_to_commit_push_and_merge_in_words(tmp_path: Path) -> None:
    workspace, root = plain(tmp_path)
    verdicts = [workspace.commit("m", "T: 1", workspace.look().fingerprint)[0], workspace.push(), workspace.merge("main")[0]]
    assert [verdict.name for verdict in verdicts] == ["commit", "push", "merge main"]
    assert all(verdict.result is Result.FAILED and f"{root} is not a git repository" in verdict.reason for verdict in verdicts)


def test_a_plain_directory_has_no_history(tmp_path: Path) -> None:
    workspace, _ = plain(tmp_path)
    assert workspace.read_at("HEAD", "a.txt") is None
    assert workspace.commit_paths(["a.txt"], "m", "T: 1") is None


def test_more_than_can_be_looked_at_is_never_called_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, root = plain(tmp_path)
    monkeypatch.setattr("ralphloop.workspace.plain.MAX_ENTRIES", 3)
    (root / "b").mkdir()
    (root / "b" / "c").write_text("")
    assert workspace.look() == workspace.look()
    (root / "b" / "d").write_text("")
    assert workspace.look() != workspace.look()


def test_a_directory_without_git_is_opened_as_plain(tmp_path: Path) -> None:
    assert isinstance(open_workspace(tmp_path, RUNNER, git_env(tmp_path)), PlainWorkspace)


def test_a_repository_is_opened_as_plain_where_git_is_not_installed(tmp_path: Path) -> None:
    repo = repo_with_a_commit(tmp_path)
    assert isinstance(open_workspace(repo.path, RUNNER, {**repo.env, "PATH": str(tmp_path)}), PlainWorkspace)
