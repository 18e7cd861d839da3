"""Reads the lines of `codex exec --json` (as seen in 0.166.0).

A line `error` is not final: the client says so of every retry, and may succeed after it. An item `error` is a warning. Only `turn.completed` and
`turn.failed` end the turn. A command that was cut off has begun and never ends. There is no cost, and what was read includes what was cached.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from ralphloop.agents.failures import Failure, Wordings
from ralphloop.agents.fields import count, items, label, mapping, number, text
from ralphloop.agents.ndjson import TOOL_OUTPUT_CHARS, NdjsonParser
from ralphloop.agents.one_line import one_line, tool_summary
from ralphloop.core.messages import Event, Progress, Todo, TodoItem, ToolEnd, ToolStart, Unknown
from ralphloop.core.model import Usage

_SHELL = re.compile(r"^\S*sh -\w*c '(.*)'$", re.DOTALL)
_BAD = {"failed", "declined"}
MOST_OPEN = 1000


class CodexParser(NdjsonParser):
    """One run's stdout; satisfies ports.StreamParser."""

    def __init__(self, wordings: Wordings) -> None:
        super().__init__(wordings)
        self._readers = {
            "thread.started": self._started,
            "turn.started": lambda _: (),
            "item.started": self._item_started,
            "item.updated": self._item_updated,
            "item.completed": self._item_completed,
            "turn.completed": self._completed,
            "turn.failed": self._turn_failed,
            "error": lambda line: (Progress(text=one_line(text(line.get("message")))),),
        }
        self._open: set[str] = set()
        # What an item is, once it is complete; a kind that is not here was a tool.
        self._told: dict[str, Callable[[dict[str, Any]], Iterable[Event]]] = {
            "agent_message": self._message,
            "reasoning": lambda item: (Progress(text=one_line(text(item.get("text")))),),
            "todo_list": _todo_list,
            "error": lambda item: (Progress(text=one_line(f"warning: {text(item.get('message'))}")),),
        }

    def _started(self, line: dict[str, Any]) -> Iterable[Event]:
        self._converses(line.get("thread_id"))
        yield Progress(text=one_line(f"conversation {text(line.get('thread_id'))}"))

    def _item_started(self, line: dict[str, Any]) -> Iterable[Event]:
        item = mapping(line.get("item"))
        kind = text(item.get("type"))
        if kind in self._told:
            return self._told[kind](item) if kind == "todo_list" else ()
        return self._tool_started(item)

    def _item_updated(self, line: dict[str, Any]) -> Iterable[Event]:
        item = mapping(line.get("item"))
        return _todo_list(item) if text(item.get("type")) == "todo_list" else ()

    def _item_completed(self, line: dict[str, Any]) -> Iterable[Event]:
        item = mapping(line.get("item"))
        told = self._told.get(text(item.get("type")))
        return told(item) if told else self._tool_ended(item)

    def _message(self, item: dict[str, Any]) -> Iterable[Event]:
        if words := text(item.get("text")):
            yield self._says(words)

    def _tool_started(self, item: dict[str, Any]) -> Iterable[Event]:
        read = _TOOLS.get(text(item.get("type")))
        if read is None:
            yield Unknown(line=one_line(f"item: {text(item.get('type'))}"))
            return
        if len(self._open) < MOST_OPEN:
            self._open.add(label(item.get("id")))
        name, summary = read(item)
        self._said = ""  # what it said before it used a tool is not its last word
        yield ToolStart(tool_id=label(item.get("id")), name=name, summary=one_line(f"{name} {summary}"))

    def _tool_ended(self, item: dict[str, Any]) -> Iterable[Event]:
        kind, tool_id = text(item.get("type")), label(item.get("id"))
        if tool_id not in self._open:
            yield from self._tool_started(item)
        if kind not in _TOOLS:
            return
        self._open.discard(tool_id)
        if text(item.get("status")) == "declined":
            self._denies(_TOOLS[kind](item)[0])
        output = text(item.get("aggregated_output")) or text(mapping(item.get("error")).get("message"))
        is_error = text(item.get("status")) in _BAD or bool(number(item.get("exit_code")))
        yield ToolEnd(tool_id=tool_id, output=output[:TOOL_OUTPUT_CHARS], is_error=is_error)

    def _completed(self, line: dict[str, Any]) -> Iterable[Event]:
        self._usage = _usage(mapping(line.get("usage")))  # that of the whole conversation, so the last one counts
        yield self._ends(self._usage, words=self._said)

    def _turn_failed(self, line: dict[str, Any]) -> Iterable[Event]:
        yield self._ends(self._usage, Failure(text=text(mapping(line.get("error")).get("message"))))


def _command(item: dict[str, Any]) -> tuple[str, str]:
    command = text(item.get("command"))[:TOOL_OUTPUT_CHARS]
    wrapped = _SHELL.match(command)
    return "shell", wrapped[1] if wrapped else command


def _file_change(item: dict[str, Any]) -> tuple[str, str]:
    changes = [mapping(change) for change in items(item.get("changes"))[:20]]
    return "edit", ", ".join(f"{text(change.get('kind'))} {text(change.get('path'))}" for change in changes)


def _mcp_call(item: dict[str, Any]) -> tuple[str, str]:
    name = f"{label(item.get('server'))}.{label(item.get('tool'))}"
    return name, tool_summary("", mapping(item.get("arguments")))


_TOOLS: dict[str, Callable[[dict[str, Any]], tuple[str, str]]] = {
    "command_execution": _command,
    "file_change": _file_change,
    "mcp_tool_call": _mcp_call,
    "collab_tool_call": lambda item: (label(item.get("tool")) or "sub-agent", text(item.get("prompt"))),
    "web_search": lambda item: ("web_search", text(item.get("query"))),
}


def _todo_list(item: dict[str, Any]) -> Iterable[Event]:
    found = [mapping(each) for each in items(item.get("items"))[:200]]
    states = ("completed" if each.get("completed") is True else "pending" for each in found)
    yield Todo(items=tuple(TodoItem(text=one_line(text(each.get("text"))), status=status) for each, status in zip(found, states, strict=True)))


def _usage(used: dict[str, Any]) -> Usage:
    cached, written = count(used.get("cached_input_tokens")), count(used.get("cache_write_input_tokens"))
    return Usage(
        input_tokens=max(count(used.get("input_tokens")) - cached - written, 0),
        output_tokens=count(used.get("output_tokens")),
        cache_read_tokens=cached,
        cache_write_tokens=written,
    )
