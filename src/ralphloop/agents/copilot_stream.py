"""Reads the lines of `copilot --output-format json` (as seen in 1.0.102).

Of some 160 types of line few matter here; those marked `ephemeral` are pieces of what also comes whole. The one `result` is the last line, and its
exit code lies: 0 after an interruption, a refusal, a denial. A `session.error` is the end of the run, unless it has an `agentId`: then it is that of a
sub-agent. Tokens are in no line, but in a file that the client writes when it ends, and there what was read includes what was cached.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ralphloop.agents.failures import Failure, Wordings
from ralphloop.agents.fields import count, label, mapping, number, read_object, text
from ralphloop.agents.ndjson import TOOL_OUTPUT_CHARS, NdjsonParser
from ralphloop.agents.one_line import one_line, tool_summary
from ralphloop.core.messages import Event, Progress, ToolEnd, ToolStart
from ralphloop.core.model import RunReport, StreamReport, Usage
from ralphloop.files.artifacts import read_pieces

# Seen, and of no interest to a viewer; some come many times a second.
_SILENT = (
    "agent.interrupted",
    "assistant.idle",
    "assistant.message_delta",
    "assistant.message_start",
    "assistant.reasoning",
    "assistant.reasoning_delta",
    "assistant.tool_call_delta",
    "assistant.turn_end",
    "assistant.turn_retry",
    "assistant.turn_start",
    "model.call_final_result",
    "model.call_finished",
    "model.call_start",
    "session.background_tasks_changed",
    "session.custom_agents_updated",
    "session.mcp_servers_loaded",
    "session.mode_notice_delivered",
    "session.skills_loaded",
    "session.todos_changed",
    "session.tools_updated",
    "subagent.completed",
    "subagent.configured",
    "subagent.failed",  # its error is told as well
    "tool.execution_partial_result",
    "tool.shell_output",
    "user.message",
)
MOST_OPEN = 1000
LARGEST_USAGE_FILE = 1024 * 1024
_DENIED = "denied"
_QUESTION = "ask_user"
_TOLD_BY_ITS_TOOL = "file_created"
_CAP_REACHED = "cap_reached"
_NOTICE = "<system_notification>"
_BLOCKED = "The model returned no content because the response was blocked"


class CopilotParser(NdjsonParser):
    """One run's stdout, and the file with its tokens; satisfies ports.StreamParser."""

    def __init__(self, wordings: Wordings, usage_file: Path | None = None) -> None:
        super().__init__(wordings)
        self._readers = {
            **dict.fromkeys(_SILENT, _nothing),
            "assistant.message": self._message,
            "tool.execution_start": self._tool_start,
            "tool.execution_complete": self._tool_end,
            "session.error": self._session_error,
            "session.warning": self._news,
            "session.info": self._news,
            "session.task_complete": self._task_complete,
            "session.autopilot_stopped": self._autopilot_stopped,
            "system.notification": self._notified,
            "subagent.started": lambda line: (Progress(text=one_line(f"began: {text(_data(line).get('agentDisplayName'))}")),),
            "model.call_failure": self._call_failure,
            "abort": self._abort,
            "result": self._result,
        }
        self._usage_file = usage_file
        self._open: dict[str, str] = {}
        self._trouble: Failure | None = None

    def finish(self, run: RunReport, now: float) -> StreamReport:
        """What the stream said, all told, with the tokens of the file."""
        if self._failure is None:
            self._failure = self._trouble
        self._usage = _usage_in(self._usage_file)
        return super().finish(run, now)

    def _message(self, line: dict[str, Any]) -> Iterable[Event]:
        data = _data(line)
        words = text(data.get("content"))
        if not words.strip():
            return
        if line.get("agentId") or data.get("parentToolCallId"):
            yield Progress(text=one_line(f"sub-agent: {words}"))
        elif words.startswith(_BLOCKED):
            self._trouble = Failure(text=words, codes=frozenset({"refusal"}))
            yield Progress(text=one_line(words))
        elif data.get("model"):  # without one, the client wrote it
            self._converses(None, data.get("model"))
            yield self._says(words)

    def _tool_start(self, line: dict[str, Any]) -> Iterable[Event]:
        data = _data(line)
        tool_id, name, given = label(data.get("toolCallId")), label(data.get("toolName")), mapping(data.get("arguments"))
        if len(self._open) < MOST_OPEN:
            self._open[tool_id] = name
        if name == _QUESTION:
            self._asks(given.get("question"))
        if not line.get("agentId"):
            self._said = ""  # what it said before it used a tool is not its last word
        yield ToolStart(tool_id=tool_id, name=name, summary=tool_summary(name, given))

    def _tool_end(self, line: dict[str, Any]) -> Iterable[Event]:
        data = _data(line)
        error, tool_id = mapping(data.get("error")), label(data.get("toolCallId"))
        name = self._open.pop(tool_id, "")
        if text(error.get("code")) == _DENIED:
            self._denies(name)
        output = text(mapping(data.get("result")).get("content")) or text(error.get("message"))
        bad = data.get("success") is False or bool(number(mapping(data.get("shellExecution")).get("exitCode")))
        yield ToolEnd(tool_id=tool_id, output=output[:TOOL_OUTPUT_CHARS], is_error=bad)

    def _session_error(self, line: dict[str, Any]) -> Iterable[Event]:
        data = _data(line)
        words = text(data.get("message"))
        if line.get("agentId"):
            yield Progress(text=one_line(f"sub-agent: {words}"))
            return
        codes = frozenset((text(data.get("errorType")), text(data.get("errorCode"))))
        self._trouble = Failure(text=words, codes=codes, status=number(data.get("statusCode")))
        yield Progress(text=one_line(words))

    def _call_failure(self, line: dict[str, Any]) -> Iterable[Event]:
        data = _data(line)
        said = text(data.get("errorMessage"))
        words = text((read_object(said.encode()) or {}).get("message")) or said.strip('"')
        status = count(data.get("statusCode"))
        yield Progress(text=one_line(f"API error {status}: {words}" if status else f"API error: {words}"))

    def _task_complete(self, line: dict[str, Any]) -> Iterable[Event]:
        """In autopilot the last words are given to a tool."""
        if words := text(_data(line).get("summary")):
            yield self._says(words)

    def _autopilot_stopped(self, line: dict[str, Any]) -> Iterable[Event]:
        if text(_data(line).get("reason")) == _CAP_REACHED:
            self._trouble = Failure(text="autopilot went on as often as it may", codes=frozenset({_CAP_REACHED}))
            yield Progress(text=self._trouble.text)

    def _news(self, line: dict[str, Any]) -> Iterable[Event]:
        data = _data(line)
        if (words := text(data.get("message"))) and text(data.get("infoType")) != _TOLD_BY_ITS_TOOL:
            yield Progress(text=one_line(words))

    def _notified(self, line: dict[str, Any]) -> Iterable[Event]:
        words = text(_data(line).get("content")).strip()
        yield Progress(text=one_line(words.removeprefix(_NOTICE).removesuffix(_NOTICE.replace("<", "</"))))

    def _abort(self, line: dict[str, Any]) -> Iterable[Event]:
        self._trouble = Failure(text=f"it was interrupted ({one_line(text(_data(line).get('reason')))})")
        yield Progress(text=self._trouble.text)

    def _result(self, line: dict[str, Any]) -> Iterable[Event]:
        self._converses(line.get("sessionId"))
        code = number(line.get("exitCode"))
        unexplained = Failure(text=f"the client ended with exit code {code:g}") if code else None
        yield self._ends(Usage(), self._trouble or unexplained, self._said)


def _nothing(_line: dict[str, Any]) -> Iterable[Event]:
    return ()


def _data(line: dict[str, Any]) -> dict[str, Any]:
    return mapping(line.get("data"))


def _usage_in(path: Path | None) -> Usage:
    """The tokens of every model in the file; none where there is no such file, or too large a one."""
    found = read_object(_read(path)) or {}
    used = [mapping(mapping(model).get("usage")) for model in list(mapping(found.get("modelMetrics")).values())[:100]]
    read, cached, written = (sum(count(each.get(key)) for each in used) for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens"))
    return Usage(
        input_tokens=max(read - cached - written, 0),
        output_tokens=sum(count(each.get("outputTokens")) for each in used),
        cache_read_tokens=cached,
        cache_write_tokens=written,
    )


def _read(path: Path | None) -> bytes:
    """The agent could write there as well: nothing is followed, and not everything is read."""
    if path is None:
        return b""
    try:
        content = next(read_pieces(path, LARGEST_USAGE_FILE + 1))
    except OSError:
        return b""
    return content if len(content) <= LARGEST_USAGE_FILE else b""
