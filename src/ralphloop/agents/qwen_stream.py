"""Reads the lines of `qwen -o stream-json` (as seen in 0.15.10): those of Claude Code, with lies of their own.

Every API failure is a success: exit code 0, `is_error: false`, and the error as the result's text, in brackets, behind whatever was said before. It is
told from an agent that merely quotes such a text by the tokens of the last message: a failed one has none. Of what was read, the cached is a part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ralphloop.agents.claude_stream import ClaudeParser
from ralphloop.agents.failures import Failure, Wordings
from ralphloop.agents.fields import count, mapping, text
from ralphloop.core.messages import Event
from ralphloop.core.model import RunReport, StreamReport, Usage

_ERROR = r"\[API Error: (?:(?P<status>\d{3}) )?(?P<why>.{0,4000}?)\]\s*(?:Possible quota limitations.{0,500})?"
_API_ERROR = re.compile(rf".*(?P<words>{_ERROR})$", re.DOTALL)  # the last one, with nothing behind it
REPORT = re.compile(rf"^(?P<words>{_ERROR})$", re.MULTILINE | re.DOTALL)
_STREAM_ENDED = "Model stream ended"
_TURNS_EXIT_CODE = 53
_TAIL_CHARS = 6000


class QwenParser(ClaudeParser):
    """One run's stdout; satisfies ports.StreamParser."""

    def __init__(self, wordings: Wordings) -> None:
        super().__init__(wordings)
        self._answered = False

    def finish(self, run: RunReport, now: float) -> StreamReport:
        """What the stream said, all told; that the turns are used up is said by the exit code alone."""
        if run.exit_code == _TURNS_EXIT_CODE and not self._result_seen:
            self._failure = Failure(text="reached the session turns that the client allows", codes=frozenset({"turns"}))
        return super().finish(run, now)

    def _assistant(self, line: dict[str, Any]) -> Iterable[Event]:
        if not line.get("parent_tool_use_id"):
            self._answered = "total_tokens" in mapping(mapping(line.get("message")).get("usage"))
        yield from super()._assistant(line)

    def _spoken(self, line: dict[str, Any], words: str) -> Event:
        failed = not line.get("parent_tool_use_id") and self._failure_in(words) is not None
        return super()._spoken({**line, "is_api_error_message": failed}, words)

    def _result(self, line: dict[str, Any]) -> Iterable[Event]:
        found = self._failure_in(text(line.get("result")))
        yield from super()._result({**line, "is_error": True, "result": found["words"]} if found else line)

    def _failure_in(self, words: str) -> re.Match[str] | None:
        found = _found(words)
        return found if found and (not self._answered or found["why"].startswith(_STREAM_ENDED)) else None

    def _system(self, line: dict[str, Any]) -> Iterable[Event]:
        data = mapping(line.get("data"))
        yield from super()._system({"summary": data.get("task_id"), **data, **line})

    def _failed(self, line: dict[str, Any], words: str) -> Failure:
        found = _found(words)
        status = float(found["status"]) if found and found["status"] else None
        return replace(super()._failed(line, words), reason="", status=status)

    def _tokens(self, used: dict[str, Any]) -> Usage:
        read, cached = count(used.get("input_tokens")), count(used.get("cache_read_input_tokens"))
        return Usage(input_tokens=max(read - cached, 0), output_tokens=count(used.get("output_tokens")), cache_read_tokens=cached)


def _found(words: str) -> re.Match[str] | None:
    return _API_ERROR.match(words[-_TAIL_CHARS:]) if "[API Error: " in words else None
