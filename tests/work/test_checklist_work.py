"""Checklist work says what is left, says what is wrong, and gives an agent no way to lose a task."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from ralphloop.core.ports import Work
from ralphloop.errors import ConfigError, WorkError
from ralphloop.work.checklist import Checklist, check_task_file, check_template

PLAN = "# Plan\n\n- [x] Set up CI\n- [ ] Add **login** form\n- [ ] Write docs\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    (place / "PRD.md").write_text(PLAN)
    return place


def judge(before: str | None, now: str | bytes | None) -> tuple[bytes | None, tuple[str, ...]]:
    content = now.encode() if isinstance(now, str) else now
    return Checklist(Path("unused"), "PRD.md").judge("PRD.md", before.encode() if before is not None else None, content)


def test_the_survey_counts_what_is_open_and_names_the_first(root: Path) -> None:
    work: Work = Checklist(root, "PRD.md")
    survey = work.survey()
    assert (survey.remaining, survey.total, survey.task) == (2, 3, "Add login form")
    assert survey.digest == hashlib.sha256(PLAN.encode()).hexdigest()
    assert not survey.complete
    assert work.files() == ("PRD.md",)


def test_the_survey_is_complete_when_the_last_box_is_ticked(root: Path) -> None:
    (root / "PRD.md").write_text(PLAN.replace("[ ]", "[X]"))
    survey = Checklist(root, "PRD.md").survey()
    assert (survey.remaining, survey.total, survey.task) == (0, 3, None)
    assert survey.complete


def test_a_task_file_may_lie_deeper(root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "tasks.md").write_bytes(b"\xef\xbb\xbf* [ ] a\r\n")
    assert Checklist(root, "docs/tasks.md").survey().remaining == 1
    check_task_file(root, "docs/tasks.md")


# --- Judging ----------------------------------------------------------------------------------------------------------


def test_ticking_and_adding_are_lawful_and_not_a_byte_is_touched() -> None:
    now = PLAN.replace("- [ ] Add", "- [x] Add").replace("\n", "\r\n") + "- [ ] More"
    assert judge(PLAN, now) == (now.encode(), ())


def test_each_vanished_task_is_put_back_with_a_sentence_of_its_own() -> None:
    content, reasons = judge(PLAN, "# Plan\n\n- [x] Set up CI\n\nnote\n")
    assert content == (PLAN + "\nnote\n").encode()
    assert reasons == (
        'the open task "Add login form" (line 4) was deleted; it is back',
        'the open task "Write docs" (line 5) was deleted; it is back',
    )


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (None, "the task file PRD.md was deleted; it is back, with its 2 open tasks"),
        (b"\0\1\2", "the task file PRD.md is no longer UTF-8 text; it is back, with its 2 open tasks"),
        ("- [ ] Größe\n".encode("latin-1"), "the task file PRD.md is no longer UTF-8 text; it is back, with its 2 open tasks"),
    ],
)
def test_a_task_file_that_is_gone_or_no_text_comes_back_whole(now: bytes | None, reason: str) -> None:
    assert judge(PLAN, now) == (PLAN.encode(), (reason,))


def test_a_finished_list_may_be_tidied_but_not_emptied() -> None:
    done = "- [x] a\n- [x] b\n"
    assert judge(done, "- [x] b\n") == (b"- [x] b\n", ())
    assert judge(done, "all done\n") == (done.encode(), ("the task file PRD.md holds no task any more; it is back, with its 0 open tasks",))


def test_a_prompt_is_not_flooded_with_reasons() -> None:
    before = "- [ ] keep\n" + "".join(f"- [ ] part {number}\n" for number in range(100))
    content, reasons = judge(before, "- [x] keep\n")
    assert content == before.replace("- [ ] keep", "- [x] keep").encode()
    assert len(reasons) == 21
    assert reasons[-1] == "80 more open tasks were deleted; they are back"


def test_a_file_that_was_no_task_list_before_is_left_alone() -> None:
    assert judge(None, "- [ ] a\n") == (b"- [ ] a\n", ())
    assert judge("no tasks\n", None) == (None, ())


def test_the_byte_order_mark_survives_judging() -> None:
    content, reasons = judge("\ufeff- [ ] a\r\n- [ ] b\r\n", "\ufeff- [ ] b\r\n")
    assert content == b"\xef\xbb\xbf- [ ] a\r\n- [ ] b\r\n"
    assert len(reasons) == 1


# --- What is wrong, where, and what to do -----------------------------------------------------------------------------


def _missing(path: Path) -> None:
    path.unlink()


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _inner_link(path: Path) -> None:
    path.rename(path.with_name("real.md"))
    path.symlink_to("real.md")


def _outer_link(path: Path) -> None:
    path.rename(path.parent.parent / "outside.md")
    path.symlink_to("../outside.md")


def _circle(path: Path) -> None:
    path.unlink()
    path.symlink_to("PRD.md")


def _too_large(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(16 * 1024 * 1024 + 1)


TROUBLES = {
    "missing": (_missing, "there is no such file"),
    "directory": (_directory, "it is a directory"),
    "FIFO": (_fifo, "it is not a regular file"),
    "link in the workspace": (_inner_link, "is a link to real.md"),
    "link out of the workspace": (_outer_link, "leads out of the workspace"),
    "link to itself": (_circle, "is a link to PRD.md"),
    "NUL": (lambda path: path.write_bytes(b"- [ ] a\0"), "is not text"),
    "not UTF-8": (lambda path: path.write_bytes(b"- [ ] \xff"), "is not text"),
    "no tasks": (lambda path: path.write_text("# Plan\n\n```\n- [ ] a\n```\n"), "'- [ ] Add a login form'"),
    "empty": (lambda path: path.write_text(""), "has no tasks in it"),
    "too large": (_too_large, "too large"),
}


@pytest.mark.parametrize(("spoil", "words"), TROUBLES.values(), ids=TROUBLES.keys())
def test_an_unusable_task_file_is_explained_before_the_start_and_in_the_loop(root: Path, spoil: object, words: str) -> None:
    assert callable(spoil)
    spoil(root / "PRD.md")
    with pytest.raises(WorkError) as in_the_loop:
        Checklist(root, "PRD.md").survey()
    with pytest.raises(ConfigError) as before_the_start:
        check_task_file(root, "PRD.md")
    assert str(in_the_loop.value) == str(before_the_start.value)
    assert words in str(in_the_loop.value)
    assert "PRD.md" in str(in_the_loop.value)
    assert str(root) in str(in_the_loop.value)


def test_a_directory_that_is_a_link_is_named(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    (root.parent / "elsewhere" / "PRD.md").write_text(PLAN)
    (root / "docs").symlink_to(root.parent / "elsewhere")
    with pytest.raises(ConfigError, match=r"docs is a link that leads out of the workspace .*elsewhere.*--task-file"):
        check_task_file(root, "docs/PRD.md")


@pytest.mark.parametrize("path", ["../PRD.md", "", ".", "/PRD.md"])
def test_a_path_that_does_not_lie_in_the_workspace_is_refused(root: Path, path: str) -> None:
    with pytest.raises(ConfigError):
        check_task_file(root, path)


def test_a_good_task_file_passes_the_check(root: Path) -> None:
    check_task_file(root, "PRD.md")


# --- The template -----------------------------------------------------------------------------------------------------


def test_the_default_template_tells_the_agent_to_tick_and_not_to_delete(root: Path) -> None:
    brief = Checklist(root, "PRD.md").brief()
    assert "Mark it '- [x]' in the task file" in brief
    assert "If ALL tasks are marked '- [x]' (zero unchecked remain)" in brief
    assert "Do NOT delete or reword tasks" in brief
    assert "<promise>{completion_marker}</promise>" in brief
    assert "TASK FILE: {task_file}" in brief
    assert brief.rstrip().endswith("Current iteration: {iteration}/{max_iterations}")


def test_a_template_of_the_user_is_read_anew_each_time_and_not_filled(root: Path) -> None:
    (root / "t.md").write_text("\ufeffone {task}", encoding="utf-8")
    work = Checklist(root, "PRD.md", "t.md")
    assert work.brief() == "one {task}"
    (root / "t.md").write_text("two {unknown}")
    assert work.brief() == "two {unknown}"


def test_a_template_may_lie_outside_the_workspace_and_be_a_link_there(root: Path) -> None:
    (root.parent / "mine.md").write_text("mine")
    (root.parent / "link.md").symlink_to("mine.md")
    assert Checklist(root, "PRD.md", str(root.parent / "link.md")).brief() == "mine"
    check_template(root, str(root.parent / "link.md"))


@pytest.mark.parametrize("content", [None, "", "\ufeff \n", b"\xff\xfe"])
def test_an_unusable_template_is_explained(root: Path, content: str | bytes | None) -> None:
    if content is not None:
        (root / "t.md").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(WorkError, match=r"template t\.md"):
        Checklist(root, "PRD.md", "t.md").brief()
    with pytest.raises(ConfigError, match=r"template t\.md"):
        check_template(root, "t.md")
