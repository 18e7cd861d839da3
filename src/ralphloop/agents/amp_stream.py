"""Reads the lines of `amp --stream-json`: those of Claude Code, without ids of messages, and with all tokens on the assistant's lines.

A failed turn ends with exit code 0. Without a key the client prints an address on standard output, and waits for ever for somebody to come back from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ralphloop.agents.claude_stream import ClaudeParser, error_text
from ralphloop.agents.failures import Failure, Wordings
from ralphloop.agents.fields import read_object, text
from ralphloop.agents.one_line import one_line
from ralphloop.core.messages import Event, FinalResult, Progress, ToolEnd, ToolStart
from ralphloop.core.model import RunReport, StreamReport, UsageLimit

_ASKS_FOR_LOGIN = b"No API key found"
_COMES_BACK = "wait until the next hour"
_HOUR_S = 3600.0
_REJECTED = "Tool execution rejected by user"
_MOST_OPEN = 1000
_NEED_APPROVAL = "require user approval, which is not supported in stream JSON mode:"


class AmpParser(ClaudeParser):
    """One run's stdout; satisfies ports.StreamParser."""

    def __init__(self, wordings: Wordings) -> None:
        super().__init__(wordings)
        self._open: dict[str, str] = {}

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line; where it waits for a login, its turn is over."""
        if not self._objects and _ASKS_FOR_LOGIN in line[:200] and read_object(line) is None:
            self._lines += 1
            return (self._ends(self._usage, Failure(text="No API key found")),)
        return super().feed(line)

    def finish(self, run: RunReport, now: float) -> StreamReport:
        """What the stream said, all told; free usage comes back with the next hour."""
        if self._failure is not None and self._failure.text.startswith(_COMES_BACK):
            self._limit = UsageLimit(resets_at=now - now % _HOUR_S + _HOUR_S, text="")
        return super().finish(run, now)

    def _system(self, line: dict[str, Any]) -> Iterable[Event]:
        mode = text(line.get("agent_mode"))
        for event in super()._system(line):
            yield Progress(text=one_line(f"conversation {text(line.get('session_id'))} in the mode {mode}")) if mode else event

    def _tool_use(self, block: dict[str, Any]) -> Iterable[Event]:
        for event in super()._tool_use(block):
            if isinstance(event, ToolStart) and len(self._open) < _MOST_OPEN:
                self._open[event.tool_id] = event.name
            yield event

    def _user(self, line: dict[str, Any]) -> Iterable[Event]:
        for event in super()._user(line):
            if isinstance(event, ToolEnd):
                tool = self._open.pop(event.tool_id, "")
                if event.is_error and event.output.startswith(_REJECTED):
                    self._denies(tool)
            yield event

    def _failed(self, line: dict[str, Any], words: str) -> Failure:
        """Where free usage comes back by itself, that is what counts, and not that credit would help as well."""
        _, waits, rest = words.partition(_COMES_BACK)
        return Failure(text=f"{_COMES_BACK}{rest}") if waits else replace(super()._failed(line, words), reason="")

    def _result(self, line: dict[str, Any]) -> Iterable[Event]:
        _, _, tools = error_text(line.get("error")).partition(_NEED_APPROVAL)
        for tool in tools.split(",")[:10] if tools else ():
            self._denies(tool.strip())
        for event in super()._result(line):
            yield replace(event, usage=self._usage) if isinstance(event, FinalResult) else event
