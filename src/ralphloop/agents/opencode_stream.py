"""Reads the lines of `opencode run --format json` (as seen in 1.18.33).

There is no line for the end: a turn is a row of steps, and the reason of the last one is `stop`; then the client exits. A tool is told when it is over,
in one line. What a sub-agent does is not told at all. When the context is full the client writes a summary, and after it, marked as synthetic, a prompt
to itself; where the provider had refused the context, the exit code is 1 even if all went well from there. Retries and waits for a rate limit are silent,
but for the log on standard error. Where answers break off, or the context stays too large, it asks again for ever, ten times a second. A step has its own tokens and its own cost, which is zero where the client knows no price.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ralphloop.agents.failures import Failure, Wordings
from ralphloop.agents.fields import count, dollars, label, mapping, number, text
from ralphloop.agents.ndjson import FINAL_WORDS_CHARS, TOOL_OUTPUT_CHARS, NdjsonParser
from ralphloop.agents.one_line import one_line, tool_summary
from ralphloop.agents.plain_text import PlainTextParser
from ralphloop.agents.todos import todo_list
from ralphloop.core.messages import Event, Progress, ToolEnd, ToolStart
from ralphloop.core.model import EndedBy, RunReport, StreamReport, Usage

MOST_IN_VAIN = 10
_STOP = "stop"
_BROKEN_OFF, _TOO_LARGE = "unknown", "ContextOverflowError"
_MORE_FOLLOWS = {"tool-calls", _BROKEN_OFF, "content-filter"}  # after the last one an error
_CUT = {"length": "the answer was cut off where the model's output ends"}
_DENIED = ("rejected permission", "has specified a rule which prevents")
_UNAVAILABLE = "invalid"
_OF_SUB_AGENT = "a tool of a sub-agent"
_QUESTION = "question"
_TOOLS = {"bash", "edit", "glob", "grep", "patch", "read", "skill", "task", "todowrite", "webfetch", "write"}
_SAYS_NOTHING = "UnknownError"
_LOGGED = re.compile(r'timestamp=(\S{1,40}) level=ERROR .{0,1000}?\berror(?:\.error)?=("(?:[^"\\]|\\.){1,4000}")')
_FIRST_RETRY_S = 2.0
_TIMED_OUT = {EndedBy.IDLE_TIMEOUT, EndedBy.TOTAL_TIMEOUT}


class OpencodeParser(NdjsonParser):
    """One run's stdout; satisfies ports.StreamParser."""

    def __init__(self, wordings: Wordings) -> None:
        super().__init__(wordings)
        self._readers = {
            "step_start": self._step_start,
            "text": self._text,
            "reasoning": lambda line: (Progress(text=one_line(text(_part(line).get("text")))),),
            "tool_use": self._tool,
            "step_finish": self._step_finish,
            "error": self._error_line,
        }
        self._message = ""
        self._stopped_at = ""
        self._overcome: Failure | None = None
        self._answered = 0.0
        self._in_vain = 0

    @property
    def astray(self) -> bool:
        """Whether it has asked again and again, and no tool was used in between."""
        return self._in_vain >= MOST_IN_VAIN

    @property
    def result_seen(self) -> bool:
        """Never: a step that seems to be the last may be followed by a summary and further work; only the exit ends the run."""
        return False

    def finish(self, run: RunReport, now: float) -> StreamReport:
        """What the stream said, all told; where it says nothing, what the log says."""
        if self._failure is None:
            self._failure = self._unsaid(run)
        elif _SAYS_NOTHING in self._failure.codes and (logged := last_logged(run.stderr_tail)):
            self._failure = replace(self._failure, text=logged)
        self._usage = replace(self._usage, cost_usd=self._usage.cost_usd or None)
        return super().finish(run, now)

    def _unsaid(self, run: RunReport) -> Failure | None:
        """Why it failed, where no line says so after its last step began."""
        if self.astray:
            return Failure(text=f"it went round in circles: {MOST_IN_VAIN} answers of its provider broke off, one after the other")
        if run.ended_by in _TIMED_OUT and not self._result_seen:
            logged = last_logged(run.stderr_tail, self._answered - _FIRST_RETRY_S)
            return Failure(text=logged) if logged else None  # it slept, and said why in its log alone
        if self._stopped_at and run.exit_code == 0:
            return Failure(text=f"it stopped when it was not allowed to use {self._stopped_at}")
        return self._overcome if run.exit_code else None

    def _step_start(self, line: dict[str, Any]) -> Iterable[Event]:
        self._stopped_at = ""
        self._overcome, self._failure = self._failure or self._overcome, None
        self._result_seen = False
        self._answered = (number(line.get("timestamp")) or 0.0) / 1000
        if self._conversation is None:
            self._converses(line.get("sessionID"))
            yield Progress(text=one_line(f"conversation {text(line.get('sessionID'))}"))

    def _text(self, line: dict[str, Any]) -> Iterable[Event]:
        part = _part(line)
        words, message = text(part.get("text")), text(part.get("messageID"))
        if part.get("synthetic"):
            self._said, self._result_seen = "", False  # what came before it was a summary
            yield Progress(text=one_line(words))
            return
        before = f"{self._said}\n" if message and message == self._message else ""  # the texts of one message are said in one breath
        self._message = message
        yield self._says(words)
        self._said = f"{before}{words}"[-FINAL_WORDS_CHARS:]

    def _tool(self, line: dict[str, Any]) -> Iterable[Event]:
        part = _part(line)
        state, name, tool_id = mapping(part.get("state")), label(part.get("tool")), label(part.get("callID"))
        given, unavailable = mapping(state.get("input")), name == _UNAVAILABLE
        self._in_vain = 0
        if unavailable:
            name = label(given.get("tool")) or name
            self._refused(name)
        yield ToolStart(tool_id=tool_id, name=name, summary=tool_summary(name, given))
        failed = text(state.get("status")) == "error"
        error, output = text(state.get("error")), text(state.get("output"))
        if failed and any(words in error for words in _DENIED):
            self._denies(_OF_SUB_AGENT if name == "task" else name)
            self._stopped_at = one_line(name)
        if name == "todowrite":
            yield todo_list(given.get("todos"))
        bad = failed or unavailable or _is_bad_exit(mapping(state.get("metadata")))
        yield ToolEnd(tool_id=tool_id, output=(error if failed else output)[:TOOL_OUTPUT_CHARS], is_error=bad)

    def _refused(self, tool: str) -> None:
        """A tool that the client took away, because of its rules or because nobody is there; what was asked is not in the stream."""
        if tool == _QUESTION:
            self._asks("a question that it was not allowed to put")
        elif tool in _TOOLS:
            self._denies(tool)

    def _step_finish(self, line: dict[str, Any]) -> Iterable[Event]:
        part = _part(line)
        self._usage = _added(self._usage, part)
        reason = one_line(text(part.get("reason")))
        self._in_vain += reason == _BROKEN_OFF
        if reason in _MORE_FOLLOWS:
            return
        if text(part.get("messageID")) != self._message:
            self._said = ""  # its last message has no words
        self._stopped_at = ""
        cut = Failure(text=_CUT.get(reason, f"its last step ended with {reason or 'no reason'}"), codes=frozenset({reason}))
        yield self._ends(self._usage, None if reason == _STOP else cut, self._said)

    def _error_line(self, line: dict[str, Any]) -> Iterable[Event]:
        error = mapping(line.get("error"))
        data, code = mapping(error.get("data")), text(error.get("name"))
        self._in_vain += code == _TOO_LARGE
        self._converses(line.get("sessionID"))
        wait = text(mapping(data.get("responseHeaders")).get("retry-after"))
        words = text(data.get("message")) or code
        yield self._ends(
            self._usage,
            Failure(text=f"{words} (retry-after: {wait})" if wait else words, codes=frozenset({code}), status=number(data.get("statusCode"))),
        )


def _part(line: dict[str, Any]) -> dict[str, Any]:
    return mapping(line.get("part"))


def _is_bad_exit(metadata: dict[str, Any]) -> bool:
    """Whether it tells of a command that failed, or, with an exit code of null, of one that took too long."""
    return "exit" in metadata and metadata["exit"] != 0


def last_logged(stderr_tail: str, after: float | None = None) -> str:
    """The last error of the client's own log, if it is not older than `after`."""
    found = _LOGGED.findall(stderr_tail)
    if not found:
        return ""
    stamp, quoted = found[-1]
    if after is not None and _logged_at(stamp) < after:
        return ""
    try:
        words = text(json.loads(quoted, strict=False))
    except ValueError:
        words = str(quoted).strip('"')
    return words.removeprefix("AI_APICallError: ")


def _logged_at(stamp: str) -> float:
    from datetime import datetime  # noqa: PLC0415 - a run that does not run into a time-out does without the calendar

    try:
        return datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def _added(total: Usage, part: dict[str, Any]) -> Usage:
    used, cost = mapping(part.get("tokens")), dollars(part.get("cost"))
    cache = mapping(used.get("cache"))
    return Usage(
        cost_usd=(total.cost_usd or 0.0) + (cost or 0.0),
        input_tokens=total.input_tokens + count(used.get("input")),
        output_tokens=total.output_tokens + count(used.get("output")) + count(used.get("reasoning")),
        cache_read_tokens=total.cache_read_tokens + count(cache.get("read")),
        cache_write_tokens=total.cache_write_tokens + count(cache.get("write")),
    )


class OpencodeTextParser(PlainTextParser):
    """Its words alone; why it failed is in its log."""

    def _failure(self, words: str, run: RunReport) -> Failure | None:
        logged = last_logged(run.stderr_tail) if run.exit_code else ""
        return Failure(text=logged) if logged else super()._failure(words, run)
