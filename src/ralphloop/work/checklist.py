"""Checklist work: the tasks are the open boxes of a Markdown file in the workspace."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ralphloop.core.model import Survey, Task
from ralphloop.errors import ConfigError, WorkError
from ralphloop.work.changes import judge_tasks
from ralphloop.work.documents import read_document, read_text, text_of
from ralphloop.work.tasklist import parse_tasks
from ralphloop.work.templates import CHECKLIST_TEMPLATE

_MAX_REASONS = 20
_REMEDY = "name a Markdown file of the workspace with --task-file"


class Checklist:
    """ports.Work on a Markdown task list."""

    def __init__(self, root: Path, task_file: str, template_path: str | None = None) -> None:
        self._root = root
        self._task_file = task_file
        self._template_path = template_path

    def survey(self, since: Survey | None = None) -> Survey:  # noqa: ARG002  nothing here asks the loop to wait
        """Count the tasks as they stand on disk now."""
        content, tasks = _read_tasks(self._root, self._task_file)
        open_tasks = [task for task in tasks if task.is_open]
        return Survey(
            remaining=len(open_tasks),
            total=len(tasks),
            task=open_tasks[0].title if open_tasks else None,
            digest=hashlib.sha256(content).hexdigest(),
        )

    def files(self) -> tuple[str, ...]:
        """The task file."""
        return (self._task_file,)

    def judge(self, path: str, before: bytes | None, now: bytes | None) -> tuple[bytes | None, tuple[str, ...]]:
        """What the task file should hold now: every open task of before is still in it, and it is still a task list."""
        if now == before:
            return now, ()
        was = text_of(before) if before is not None else None
        if was is None or not (tasks := parse_tasks(was)):
            return now, ()
        text = text_of(now) if now is not None else None
        if text is None:
            fate = "was deleted" if now is None else "is no longer UTF-8 text"
            return before, (f"the task file {path} {fate}; it is back, with its {_counted(tasks)}",)
        judgement = judge_tasks(was, text)
        if judgement.vanished:
            return judgement.restored.encode("utf-8"), _reasons(judgement.vanished)
        if not parse_tasks(text):
            return before, (f"the task file {path} holds no task any more; it is back, with its {_counted(tasks)}",)
        return now, ()

    def brief(self) -> str:
        """The template, its placeholders not filled yet."""
        if self._template_path is None:
            return CHECKLIST_TEMPLATE
        return _read_template(self._root, self._template_path)

    def consume(self) -> None:
        """Nothing here asks the loop to wait."""


def check_task_file(root: Path, task_file: str) -> None:
    """Raise ConfigError where checklist work could not start with that file."""
    if Path(task_file).is_absolute():
        raise ConfigError(f"the task file {task_file} is given by an absolute path: {_REMEDY}, by its path relative to {root}")
    try:
        _read_tasks(root, task_file)
    except WorkError as error:
        raise ConfigError(str(error)) from error


def check_template(root: Path, template_path: str) -> None:
    """Raise ConfigError where that template could not be read."""
    try:
        _read_template(root, template_path)
    except WorkError as error:
        raise ConfigError(str(error)) from error


def _read_tasks(root: Path, task_file: str) -> tuple[bytes, tuple[Task, ...]]:
    content = read_document(root, task_file, "the task file", _REMEDY)
    tasks = parse_tasks(content.decode("utf-8"))
    if not tasks:
        raise WorkError(
            f"the task file {task_file} (in {root}) has no tasks in it: a task is a line like '- [ ] Add a login form', outside code, quotes and comments; write some, or {_REMEDY}"
        )
    return content, tasks


def _read_template(root: Path, path: str) -> str:
    return read_text(root, path, "the template", "name another one in work.template, or take that setting away")


def _counted(tasks: tuple[Task, ...]) -> str:
    count = sum(task.is_open for task in tasks)
    return f"{count} open task{'' if count == 1 else 's'}"


def _reasons(vanished: tuple[Task, ...]) -> tuple[str, ...]:
    told = tuple(f'the open task "{task.title}" (line {task.line}) was deleted; it is back' for task in vanished[:_MAX_REASONS])
    rest = len(vanished) - len(told)
    return (*told, f"{rest} more open tasks were deleted; they are back") if rest else told
