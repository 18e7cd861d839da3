"""A task directory, looked at: is it done, and did anybody ask to wait since the last look."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from ralphloop.bus.board import TASK_BUS, Bus
from ralphloop.bus.messages import Message, MessageType
from ralphloop.bus.waiting import TaskBoard
from ralphloop.core.ports import Work
from ralphloop.errors import ConfigError, WorkError
from ralphloop.work.folder import Folder, check_task_dir

TEXT = "\n# Log in\n\nMake it {work}: {0}, {task}, %s.\n"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task directory in a workspace."""
    directory = tmp_path / "tasks" / "login"
    directory.mkdir(parents=True)
    (directory / "TASK.md").write_text(TEXT)
    return directory


def folder(task: Path, children: int = 0) -> Work:
    return Folder(task.parent.parent, "tasks/login", TaskBoard(task), lambda: children)


def post(task: Path, text: str, type_: MessageType = MessageType.WAIT_WITHOUT_RESTART) -> None:
    Bus(task, TASK_BUS).post(Message(at=1795030336.0, type=type_, author="agent", text=text))


# --- done -------------------------------------------------------------------------------------------------------------


def test_a_task_is_one_task_named_by_its_first_line_and_open_until_there_is_a_done(task: Path) -> None:
    work = folder(task, children=2)
    before = work.survey()
    assert (before.remaining, before.total, before.task, before.complete, before.children) == (1, 1, "Log in", False, 2)
    (task / "DONE").touch()
    after = work.survey()
    assert (after.remaining, after.complete) == (0, True)
    assert after.digest != before.digest


def test_an_edited_task_has_another_digest_and_the_same_one_has_the_same(task: Path) -> None:
    work = folder(task)
    before = work.survey().digest
    assert work.survey().digest == before
    (task / "TASK.md").write_text("# Log in, by mail\n")
    assert work.survey().digest != before


@pytest.mark.parametrize("kind", ["a directory", "a link", "a FIFO"])
def test_a_done_that_is_no_regular_file_is_explained_with_what_to_do(task: Path, kind: str) -> None:
    make = {"a directory": Path.mkdir, "a link": lambda path: path.symlink_to("TASK.md"), "a FIFO": os.mkfifo}
    make[kind](task / "DONE")
    with pytest.raises(WorkError, match=r"DONE is .*: a task is done when there is a regular file DONE; move it away") as in_the_loop:
        folder(task).survey()
    with pytest.raises(ConfigError) as before_the_start:
        check_task_dir(task)
    assert str(before_the_start.value) == str(in_the_loop.value)


def test_a_task_that_is_unreadable_is_refused_before_the_start_with_the_words_of_the_loop(task: Path) -> None:
    (task / "TASK.md").write_text(" \n")
    with pytest.raises(WorkError, match=r"the task TASK\.md .* is empty: .*--task-dir") as in_the_loop:
        folder(task).survey()
    with pytest.raises(ConfigError) as before_the_start:
        check_task_dir(task)
    assert str(before_the_start.value) == str(in_the_loop.value)


# --- the task ---------------------------------------------------------------------------------------------------------


def test_the_brief_holds_the_task_as_it_is_written(task: Path) -> None:
    brief = folder(task).brief()
    assert TEXT.strip() in brief
    assert f"TASK FOLDER: {task} (also in $TASK_FOLDER)" in brief


@pytest.mark.parametrize(("now", "what"), [(b"other", "changed"), (None, "deleted")])
def test_no_change_of_the_task_is_lawful(task: Path, now: bytes | None, what: str) -> None:
    work = folder(task)
    (path,) = work.files()
    assert path == "tasks/login/TASK.md"
    assert work.judge(path, b"before", now) == (b"before", (f"{path} says what is to be done, and was {what}; it is as it was.",))
    assert work.judge(path, b"before", b"before") == (b"before", ())
    assert work.judge(path, None, b"now") == (b"now", ())


def test_a_task_outside_of_the_workspace_is_named_by_its_whole_path(task: Path, tmp_path: Path) -> None:
    assert Folder(tmp_path / "project", str(task), TaskBoard(task), lambda: 0).files() == (str(task / "TASK.md"),)


# --- waiting: the marker ----------------------------------------------------------------------------------------------


def test_a_marker_that_was_not_there_before_asks_to_wait(task: Path) -> None:
    work = folder(task)
    before = work.survey()
    (task / "WAIT_WITHOUT_RESTART").touch()
    assert work.survey(before).waiting == f"the agent asked to wait (WAIT_WITHOUT_RESTART in {task})"


def test_a_marker_that_was_there_before_does_not_unless_it_is_touched_or_made_anew(task: Path) -> None:
    work, marker = folder(task), task / "WAIT_WITHOUT_RESTART"
    marker.touch()
    before = work.survey()
    assert (before.waiting, work.survey(before).waiting) == ("", "")
    os.utime(marker, ns=(0, marker.stat().st_mtime_ns + 1))
    touched = work.survey(before)
    assert touched.waiting
    assert not work.survey(touched).waiting
    marker.rename(task / "aside")
    marker.touch()
    os.utime(marker, ns=(0, (task / "aside").stat().st_mtime_ns))
    assert work.survey(touched).waiting


def test_a_marker_is_consumed_by_another_name_which_is_free(task: Path) -> None:
    work, marker = folder(task), task / "WAIT_WITHOUT_RESTART"
    work.consume()
    for number in (1, 2):
        marker.mkdir()
        work.consume()
        assert not marker.exists()
        assert (task / f"WAIT_WITHOUT_RESTART.consumed-{number}").is_dir()


# --- waiting: a message -----------------------------------------------------------------------------------------------


def test_the_last_message_that_asks_to_wait_since_the_last_look_says_what_for(task: Path) -> None:
    work = folder(task)
    post(task, "long ago")
    before = work.survey()
    assert not work.survey(before).waiting
    post(task, "for the designer")
    post(task, "for the lawyer\n")
    post(task, "not this", MessageType.INFO)
    asked = work.survey(before)
    assert asked.waiting == "the agent asked to wait: for the lawyer"
    assert not work.survey(asked).waiting, "each message asks once"
    post(task, " ")
    assert work.survey(asked).waiting == f"the agent asked to wait: a message in {TASK_BUS}"


def test_the_first_message_of_all_counts_too(task: Path) -> None:
    work = folder(task)
    before = work.survey()
    post(task, "for the designer")
    assert work.survey(before).waiting


def test_a_bus_that_cannot_be_read_asks_for_nothing_and_one_that_is_mended_does(task: Path) -> None:
    work = folder(task)
    before = work.survey()
    (task / TASK_BUS).symlink_to("TASK.md")
    broken = work.survey(before)
    assert (broken.waiting, work.survey().waiting) == ("", "")
    (task / TASK_BUS).unlink()
    post(task, "for the designer")
    assert work.survey(broken).waiting == "the agent asked to wait: for the designer"


def asked(board: TaskBoard, mark: str) -> str | None:
    return board.asked_to_wait(mark)[0]


def request(task: Path, at: float, text: str) -> None:
    Bus(task, TASK_BUS).post(Message(at=at, type=MessageType.WAIT_WITHOUT_RESTART, author="builder", text=text))


def test_where_the_bus_cannot_be_read_its_old_requests_do_not_become_new_ones(task: Path) -> None:
    request(task, 1000.0, "long ago")
    board = TaskBoard(task, now=lambda: 2000.0)
    with (task / TASK_BUS).open("rb") as bus:
        fcntl.flock(bus, fcntl.LOCK_EX)
        mark = board.mark()
    assert asked(board, mark) is None
    request(task, 2000.0, "now")
    assert asked(board, mark) == "now"


def test_where_there_was_no_bus_every_request_is_a_new_one_whatever_time_stands_in_it(task: Path) -> None:
    board = TaskBoard(task, now=lambda: 2000.0)
    mark = board.mark()
    (task / TASK_BUS).write_text("## 1999-01-01T00:00:00Z wait_without_restart me\nby hand\n\n")
    assert asked(board, mark) == "by hand"


def test_a_mark_that_means_nothing_makes_nothing_new(task: Path) -> None:
    request(task, 1000.0, "long ago")
    assert asked(TaskBoard(task), "123:4:00000000") is None
