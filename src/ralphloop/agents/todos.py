"""The agent's own list of things to do, as Claude Code and its relatives keep it: written whole, or task by task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ralphloop.agents.fields import items, label, mapping, text
from ralphloop.agents.one_line import one_line
from ralphloop.core.messages import Event, Todo, TodoItem

MOST_ITEMS = 200
_WRITTEN_WHOLE = {"TodoWrite", "todo_write"}


def todo_list(found: Any, *, key: str = "content") -> Todo:
    """A list as an event; `key` is where an item has its words."""
    given = [mapping(item) for item in items(found)[:MOST_ITEMS]]
    return Todo(items=tuple(TodoItem(text=one_line(text(item.get(key))), status=label(item.get("status"))) for item in given))


class TodoList:
    """Puts the single steps of a list together again; bounded, whatever the stream says."""

    def __init__(self) -> None:
        self._tasks: dict[str, TodoItem] = {}

    def written(self, tool: str, given: dict[str, Any]) -> Iterable[Event]:
        """The list, where that tool writes it whole."""
        if tool in _WRITTEN_WHOLE:
            yield todo_list(given.get("todos"))

    def changed(self, result: dict[str, Any]) -> Iterable[Event]:
        """The list after a tool that made or changed one task of it."""
        if "task" not in result and "taskId" not in result:
            return
        made, changed = mapping(result.get("task")), mapping(result.get("statusChange"))
        key = label(made.get("id")) or label(result.get("taskId"))
        if key and "subject" in made and len(self._tasks) < MOST_ITEMS:
            self._tasks[key] = TodoItem(text=one_line(text(made["subject"])), status=label(made.get("status")) or "pending")
        elif key in self._tasks and (status := label(changed.get("to"))):
            self._tasks[key] = TodoItem(text=self._tasks[key].text, status=status)
        else:
            return
        yield Todo(items=tuple(item for item in self._tasks.values() if item.status != "deleted"))
