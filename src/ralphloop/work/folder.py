"""Folder work: a task directory with `TASK.md`; it is done when somebody puts a file `DONE` into it.

An agent asks the loop to wait with a file `WAIT_WITHOUT_RESTART` in it, or with a message on the task's bus. A request counts for the attempt in
which it was made: the mark of a survey says how far requests had come by then, so that one which is older is not taken for a new one.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable
from pathlib import Path

from ralphloop.core.model import Survey
from ralphloop.core.ports import WaitBoard
from ralphloop.errors import ConfigError, WorkError, WorkUnclear
from ralphloop.files.beneath import move_aside, stat_beneath
from ralphloop.work.documents import read_text
from ralphloop.work.templates import FOLDER_TEMPLATE

TASK, DONE, WAIT = "TASK.md", "DONE", "WAIT_WITHOUT_RESTART"

_REMEDY = f"write the task into it, or name the directory that holds {TASK} with --task-dir"


class Folder:
    """ports.Work on a task directory. `children` counts the child loops that run; a relative `task_dir` lies in the workspace."""

    def __init__(self, root: Path, task_dir: str, board: WaitBoard, children: Callable[[], int]) -> None:
        self._directory = root / task_dir
        self._file = str(Path(task_dir, TASK))
        self._board = board
        self._children = children

    def survey(self, since: Survey | None = None) -> Survey:
        """Whether it is done, and whether something asked to wait after `since`; then a task that cannot be read is put back anyway."""
        done = is_done(self._directory)
        try:
            task = read_task(self._directory)
        except WorkError:
            if since is None:
                raise
            task = ""
        marker = self._marker()
        asked, mark = self._asked(marker, since.mark) if since is not None else ("", self._board.mark())
        return Survey(
            remaining=0 if done else 1,
            total=1,
            task=_title(task),
            digest=hashlib.sha256(f"{done}\0{task}".encode("utf-8", "surrogateescape")).hexdigest(),
            children=self._children(),
            mark=f"{marker} {mark}",
            waiting=asked,
        )

    def files(self) -> tuple[str, ...]:
        """The task: it says what done means, so the agent cannot change it."""
        return (self._file,)

    def judge(self, path: str, before: bytes | None, now: bytes | None) -> tuple[bytes | None, tuple[str, ...]]:
        """No change of the task is lawful."""
        if now == before or before is None:
            return now, ()
        return before, (f"{path} says what is to be done, and was {'changed' if now is not None else 'deleted'}; it is as it was.",)

    def brief(self) -> str:
        """What the agent is told about task folders, and the task as it is now."""
        return FOLDER_TEMPLATE.format(task_folder=self._directory, task=read_task(self._directory).strip())

    def consume(self) -> None:
        """Rename the marker; a message on the bus is consumed by the next survey, whose mark lies behind it."""
        if stat_beneath(self._directory, WAIT) is not None:
            move_aside(self._directory, WAIT, ".consumed")

    def _marker(self) -> str:
        """Which marker stands there: made anew or touched, it is another one."""
        there = stat_beneath(self._directory, WAIT)
        return "-" if there is None else f"{there.st_ino}.{there.st_mtime_ns}"

    def _asked(self, marker: str, since: str) -> tuple[str, str]:
        """What asked to wait since that mark, and how far the bus has been read."""
        before, _, posted = since.partition(" ")
        said, mark = self._board.asked_to_wait(posted)
        if marker not in {"-", before}:
            return f"the agent asked to wait ({WAIT} in {self._directory})", mark
        return "" if said is None else f"the agent asked to wait: {said}", mark


def is_done(directory: Path) -> bool:
    """Whether there is a regular file DONE; anything else of that name is an error, since nobody can say what it means."""
    there = stat_beneath(directory, DONE)
    if there is not None and not stat.S_ISREG(there.st_mode):
        kind = "a directory" if stat.S_ISDIR(there.st_mode) else "not a regular file"
        raise WorkUnclear(f"{directory / DONE} is {kind}: a task is done when there is a regular file {DONE}; move it away, or write that file")
    return there is not None


def read_task(directory: Path) -> str:
    """The text of the task."""
    return read_text(directory, TASK, "the task", _REMEDY)


def check_task_dir(directory: Path) -> None:
    """Raise ConfigError where folder work could not start there."""
    try:
        read_task(directory)
        is_done(directory)
    except WorkError as error:
        raise ConfigError(str(error)) from error


def _title(task: str) -> str:
    return next((words for line in task.splitlines() if (words := line.strip().strip("#").strip())), TASK)
