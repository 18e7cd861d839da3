"""What became of the tasks: two versions of a task list compared.

An open task that is neither there nor recognisable in other words has vanished, wherever its text may still be: in a comment, a fence or a
quote it is no task. A done task may go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ralphloop.core.model import Task
from ralphloop.work.matching import MOST_TASKS, Matcher, Matches
from ralphloop.work.put_back import put_back
from ralphloop.work.tasklist import Outline, PlacedTask, read_outline


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskJudgement:
    """What became of the tasks, and `restored`: the text with each vanished task put back and everything else as it is."""

    vanished: tuple[Task, ...]
    reworded: tuple[tuple[Task, Task], ...] = ()
    splits: tuple[tuple[Task, tuple[Task, ...]], ...] = ()
    ticked: tuple[Task, ...] = ()
    reopened: tuple[Task, ...] = ()
    added: tuple[Task, ...] = ()
    restored: str


def judge_tasks(before: str, after: str | None) -> TaskJudgement:
    """Compare two versions of a task list; None: there is no list any more."""
    old = read_outline(before)
    if after is None:
        return TaskJudgement(vanished=tuple(placed.task for placed in old.tasks if placed.task.is_open), restored=before)
    new = read_outline(after)
    matches = Matcher(old.tasks, new.tasks).matches()
    vanished = _vanished(old, matches)
    taken = {number for numbers in matches.values() for number in numbers}
    return TaskJudgement(
        vanished=tuple(placed.task for placed in vanished),
        reworded=tuple(_reworded(old, new, matches)),
        splits=tuple((old.tasks[i].task, tuple(new.tasks[j].task for j in js)) for i, js in matches.items() if len(js) > 1),
        ticked=tuple(_restaged(old, new, matches, was_open=True)),
        reopened=tuple(_restaged(old, new, matches, was_open=False)),
        added=tuple(placed.task for number, placed in enumerate(new.tasks) if number not in taken),
        restored=_restored(before, after, old, new, matches),
    )


def _vanished(old: Outline, matches: Matches) -> list[PlacedTask]:
    return [placed for number, placed in enumerate(old.tasks) if placed.task.is_open and number not in matches]


def _reworded(old: Outline, new: Outline, matches: Matches) -> Iterator[tuple[Task, Task]]:
    for number, others in matches.items():
        was, now = old.tasks[number], new.tasks[others[0]]
        if len(others) == 1 and was.text != now.text:
            yield was.task, now.task


def _restaged(old: Outline, new: Outline, matches: Matches, *, was_open: bool) -> Iterator[Task]:
    """The tasks that were open and are ticked, or the other way round; of a split task, the parts."""
    for number, others in matches.items():
        if old.tasks[number].task.is_open is was_open:
            yield from (new.tasks[other].task for other in others if new.tasks[other].task.is_open is not was_open)


def _restored(before: str, after: str, old: Outline, new: Outline, matches: Matches) -> str:
    if _vanished(old, matches) and (not matches or len(old.tasks) + len(new.tasks) > MOST_TASKS):
        return before
    text = after
    # A task that is back is paired by its text and stays paired, so this ends. Once is enough but where a line that came back takes the
    # place of a neighbour that had been recognised before.
    while vanished := _vanished(old, matches):
        text = put_back(old, new, matches, vanished)
        new = read_outline(text)
        matches = Matcher(old.tasks, new.tasks).matches()
    return text
