"""Reads the lines of `gemini -o stream-json` (as seen in 0.61.0).

The agent's words come in pieces that nothing ends but the next line of another type. Exit codes lie: 0 after SIGTERM, after an empty answer, and where
the client stopped a loop; an API error ends with its HTTP status modulo 256. A rate limit is slept out, for hours, and only standard error says so.
Sub-agents say nothing. Tokens are those of the whole process; what was read includes what was cached, what was written leaves out the thoughts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from io import StringIO
from typing import Any

from ralphloop.agents.failures import RATE_LIMITED, RESUME, Failure, Wordings
from ralphloop.agents.fields import count, items, label, mapping, text
from ralphloop.agents.ndjson import FINAL_WORDS_CHARS, TOOL_OUTPUT_CHARS, NdjsonParser
from ralphloop.agents.one_line import one_line, tool_summary
from ralphloop.agents.plain_text import PlainTextParser
from ralphloop.agents.todos import todo_list
from ralphloop.core.messages import Event, Progress, ToolEnd, ToolStart
from ralphloop.core.model import EndedBy, RunReport, StreamReport, Usage

MOST_OPEN = 1000
_STATUS = re.compile(r'"code":\s{0,3}(\d{3})\b')
_SLEEPS = re.compile(r"^Attempt \d{1,3} failed: .{0,2000}?Retrying after (?P<ms>\d{1,12})ms\.{0,3}", re.MULTILINE | re.DOTALL)
_LONG_MS = 60_000  # a shorter sleep is over before anybody loses patience with it
_TIMED_OUT = {EndedBy.IDLE_TIMEOUT, EndedBy.TOTAL_TIMEOUT}
_LOOP = "Loop detected"
_INPUT_EXIT_CODE = 42
_REWORD = f"look for an `@` or a `/command` in the prompt that the client takes for its own, {RESUME}"
_QUESTION = "ask_user"
_NOT_OFFERED = "tool_not_registered"
_TOOLS = {"run_shell_command", "write_file", "replace", "web_fetch", "read_file", "list_directory", "glob", "grep_search"}
# Asked for plain text it says here alone what went wrong: its last line is "[object Object]".
_REPORT = re.compile(
    r"^Error when talking to Gemini API .{0,600}?\.json (?P<words>.{1,3000}?)(?=\n {4}at |\Z)(?=(?:.{0,3000}?^ {2}status: (?P<status>\d{3})$)?)",
    re.MULTILINE | re.DOTALL,
)


class GeminiParser(NdjsonParser):
    """One run's stdout; satisfies ports.StreamParser."""

    def __init__(self, wordings: Wordings) -> None:
        super().__init__(wordings)
        self._readers = {
            "init": self._init,
            "message": self._message,
            "tool_use": self._tool_use,
            "tool_result": self._tool_result,
            "error": self._error_line,
            "result": self._result,
        }
        self._pieces = StringIO()
        self._open: dict[str, str] = {}
        self._trouble: Failure | None = None

    def finish(self, run: RunReport, now: float) -> StreamReport:
        """What the stream said, all told; of a run that slept until it was ended, what it said on standard error."""
        self._flush()
        if run.ended_by in _TIMED_OUT and not self._result_seen:
            self._failure = _asleep(run.stderr_tail)
        return _never_waiting(super().finish(run, now), run)

    def _init(self, line: dict[str, Any]) -> Iterable[Event]:
        self._converses(line.get("session_id"), line.get("model"))
        yield Progress(text=one_line(f"conversation {text(line.get('session_id'))} with {text(line.get('model'))}"))

    def _message(self, line: dict[str, Any]) -> Iterable[Event]:
        if text(line.get("role")) == "assistant":  # the prompt is echoed as well
            self._pieces.write(text(line.get("content")))
            if self._pieces.tell() > 2 * FINAL_WORDS_CHARS:
                self._pieces = _begun(self._pieces.getvalue()[-FINAL_WORDS_CHARS:])
        return ()

    def _flush(self) -> Iterable[Event]:
        """What the agent has said since the last line of another type."""
        words, self._pieces = self._pieces.getvalue()[-FINAL_WORDS_CHARS:], StringIO()
        return (self._says(words),) if words.strip() else ()

    def _tool_use(self, line: dict[str, Any]) -> Iterable[Event]:
        yield from self._flush()
        self._said = ""  # the final words are those after the last tool
        tool_id, name, given = label(line.get("tool_id")), label(line.get("tool_name")), mapping(line.get("parameters"))
        if len(self._open) < MOST_OPEN:
            self._open[tool_id] = name
        if name == _QUESTION:
            self._asks(next((mapping(each).get("question") for each in items(given.get("questions"))), None))
        yield ToolStart(tool_id=tool_id, name=name, summary=tool_summary(name, given))
        if name == "write_todos":
            yield todo_list(given.get("todos"), key="description")

    def _tool_result(self, line: dict[str, Any]) -> Iterable[Event]:
        yield from self._flush()
        error, tool_id = mapping(line.get("error")), label(line.get("tool_id"))
        name, kind = self._open.pop(tool_id, ""), text(error.get("type"))
        asked = "requires user confirmation" in text(error.get("message"))
        if kind == "policy_violation" or asked or (kind == _NOT_OFFERED and name in _TOOLS):
            self._denies(name)
        output = text(line.get("output")) or text(error.get("message"))
        yield ToolEnd(tool_id=tool_id, output=output[:TOOL_OUTPUT_CHARS], is_error=text(line.get("status")) == "error")

    def _error_line(self, line: dict[str, Any]) -> Iterable[Event]:
        yield from self._flush()
        words = text(line.get("message"))
        if text(line.get("severity")) == "error" or words.startswith(_LOOP):
            self._trouble = Failure(text=words)
        yield Progress(text=one_line(words))

    def _result(self, line: dict[str, Any]) -> Iterable[Event]:
        yield from self._flush()
        stats = mapping(line.get("stats"))
        self._usage = _usage(stats)
        self._model = _busiest(mapping(stats.get("models"))) or self._model
        looped = self._trouble if self._trouble is not None and self._trouble.text.startswith(_LOOP) else None
        failed = text(line.get("status")) != "success"
        yield self._ends(self._usage, self._failed(line) if failed else looped, self._said)

    def _failed(self, line: dict[str, Any]) -> Failure:
        error = mapping(line.get("error"))
        words = text(error.get("message"))
        status = _STATUS.search(words)
        if not words and self._trouble is not None:
            return self._trouble
        return Failure(text=words, codes=frozenset({text(error.get("type"))}), status=float(status[1]) if status else None)


class GeminiText(PlainTextParser):
    """One run's words, where plain text was asked for."""

    def __init__(self, wordings: Wordings) -> None:
        super().__init__(wordings, report=_REPORT)

    def finish(self, run: RunReport, now: float) -> StreamReport:
        """The words of all turns; of a run that failed, what its error means."""
        return _never_waiting(super().finish(run, now), run)


def _never_waiting(report: StreamReport, run: RunReport) -> StreamReport:
    """The report; where the client did not take the prompt, it says so with the exit code by which other agents ask to wait."""
    if run.exit_code != _INPUT_EXIT_CODE or report.fatal or report.limit:
        return report
    lines = [line for line in run.stderr_tail.splitlines() if line.strip()]
    why = report.error or one_line(lines[-1] if lines else "it did not take the prompt", 500)
    return replace(report, fatal=f"{why.rstrip('.')}: {_REWORD}")


def _asleep(stderr_tail: str) -> Failure | None:
    """The rate limit that it was sleeping out when it was ended: nothing came after that."""
    last = next(reversed(list(_SLEEPS.finditer(stderr_tail))), None)
    if last is None or int(last["ms"]) < _LONG_MS or stderr_tail[last.end() :].strip():
        return None
    return Failure(text=last[0], status=RATE_LIMITED)


def _begun(words: str) -> StringIO:
    """A buffer that goes on after these words."""
    buffer = StringIO()
    buffer.write(words)
    return buffer


def _usage(stats: dict[str, Any]) -> Usage:
    read, cached, total = (count(stats.get(key)) for key in ("input_tokens", "cached", "total_tokens"))
    return Usage(
        input_tokens=max(read - cached, 0),
        output_tokens=max(count(stats.get("output_tokens")), total - read),
        cache_read_tokens=cached,
    )


def _busiest(models: dict[str, Any]) -> str:
    """The model that used most; a router may have chosen several."""
    used = [(count(mapping(figures).get("total_tokens")), text(name)) for name, figures in list(models.items())[:100]]
    tokens, name = max(used, default=(0, ""))
    return name if tokens else ""
