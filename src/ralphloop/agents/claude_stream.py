"""Reads stream-json: the lines of Claude Code (as seen in 2.1.325), which Amp and Qwen Code write as well.

What the client's own documents do not say, and recorded streams show: `type` is not always the first key; several `result` lines come when
background work ends after the first, their cost cumulative, their tokens not; `subtype: success` stands beside `is_error: true`; an API error
arrives dressed as an assistant's message; sub-agents speak on the same stream, marked by `parent_tool_use_id`; the last line may be cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ralphloop.agents.failures import Failure, Wordings
from ralphloop.agents.fields import count, dollars, items, label, mapping, number, text
from ralphloop.agents.ndjson import TOOL_OUTPUT_CHARS, NdjsonParser
from ralphloop.agents.one_line import one_line, tool_summary
from ralphloop.agents.todos import TodoList
from ralphloop.core.messages import Event, LimitNotice, Progress, ToolEnd, ToolStart, Unknown
from ralphloop.core.model import Usage, UsageLimit

# Known, and of no interest to a viewer; "status" and the like come many times a second.
_SILENT = {
    "background_tasks_changed",
    "hook_response",
    "hook_started",
    "status",
    "task_progress",
    "task_updated",
    "thinking_tokens",
    "ui_invalidate",
}
_NEWS: dict[str, Callable[[dict[str, Any]], str]] = {
    "init": lambda line: f"conversation {text(line.get('session_id'))} with {text(line.get('model')) or 'its default model'}",
    "api_retry": lambda line: (
        f"API error {count(line.get('error_status')) or ''} {text(line.get('error'))}: "
        f"retry {count(line.get('attempt'))} of {count(line.get('max_retries'))}"
    ),
    "permission_denied": lambda line: f"permission denied: {text(line.get('tool_name'))}: {text(line.get('message'))}",
    "model_fallback": lambda line: f"another model takes over: {text(line.get('message')) or text(line.get('content'))}",
    "task_started": lambda line: f"began: {text(line.get('description'))}",
    "task_notification": lambda line: f"{text(line.get('status'))}: {text(line.get('summary'))}",
    "informational": lambda line: text(line.get("content")),
    "notification": lambda line: text(line.get("text")),
}
_CODES = ("api_error", "api_error_type", "subtype", "stop_reason")
MOST_SPEAKERS = 100
_QUESTION_TOOLS = {"AskUserQuestion", "ask_user_question"}


class ClaudeParser(NdjsonParser):
    """One run's stdout; satisfies ports.StreamParser."""

    def __init__(self, wordings: Wordings) -> None:
        super().__init__(wordings)
        self._readers = {
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
            "result": self._result,
            "rate_limit_event": self._rate_limit,
            "stream_event": lambda _: (),  # pieces of messages that also come whole
        }
        self._error_codes = frozenset[str]()
        self._todos = TodoList()
        self._messages: dict[str, str] = {}

    # --- one reader per type of line ---

    def _system(self, line: dict[str, Any]) -> Iterable[Event]:
        self._converses(line.get("session_id"), line.get("model"))
        subtype = text(line.get("subtype"))
        if subtype == "background_tasks_changed":
            self._background = bool(items(line.get("tasks")))
        if subtype == "permission_denied":
            self._denies(line.get("tool_name"))
        if subtype in _SILENT:
            return
        news = _NEWS.get(subtype)
        yield Progress(text=one_line(news(line))) if news else Unknown(line=one_line(f"system: {subtype}"))

    def _assistant(self, line: dict[str, Any]) -> Iterable[Event]:
        self._converses(line.get("session_id"))
        if not line.get("is_api_error_message"):
            self._limit = None  # whoever works on is not limited
        if not line.get("parent_tool_use_id"):
            codes = (text(line.get("error")), text(line.get("api_error"))) if line.get("is_api_error_message") else ()
            self._error_codes = frozenset(codes)
        self._count_until_a_result(mapping(line.get("message")), label(line.get("parent_tool_use_id")))
        for block in _blocks(line):
            match text(block.get("type")):
                case "text":
                    yield self._spoken(line, text(block.get("text")))
                case "tool_use":
                    yield from self._tool_use(block)

    def _count_until_a_result(self, message: dict[str, Any], speaker: str) -> None:
        """Tokens of a run that never comes to a result, as far as they are told: each block of a message repeats those of its beginning."""
        identity = label(message.get("id"))
        if self._result_seen or (identity and self._messages.get(speaker) == identity):
            return
        if len(self._messages) >= MOST_SPEAKERS:
            self._messages.clear()
        self._messages[speaker] = identity
        self._usage = _added(self._usage, self._tokens(mapping(message.get("usage"))))

    def _tokens(self, used: dict[str, Any]) -> Usage:
        """What was read beside the caches, and what was written."""
        return Usage(
            input_tokens=count(used.get("input_tokens")),
            output_tokens=count(used.get("output_tokens")),
            cache_read_tokens=count(used.get("cache_read_input_tokens")),
            cache_write_tokens=count(used.get("cache_creation_input_tokens")),
        )

    def _spoken(self, line: dict[str, Any], words: str) -> Event:
        if line.get("is_api_error_message"):
            return Progress(text=one_line(words))
        if line.get("parent_tool_use_id"):
            return Progress(text=one_line(f"sub-agent: {words}"))
        return self._says(words)

    def _tool_use(self, block: dict[str, Any]) -> Iterable[Event]:
        name, given = label(block.get("name")), mapping(block.get("input"))
        yield ToolStart(tool_id=label(block.get("id")), name=name, summary=tool_summary(name, given))
        if name in _QUESTION_TOOLS:
            self._asks(next((mapping(each).get("question") for each in items(given.get("questions"))), None))
        yield from self._todos.written(name, given)

    def _user(self, line: dict[str, Any]) -> Iterable[Event]:
        for block in _blocks(line):
            match text(block.get("type")):
                case "tool_result":
                    output = "\n".join(text(part.get("text")) for part in _parts(block.get("content")))
                    yield ToolEnd(tool_id=label(block.get("tool_use_id")), output=output[:TOOL_OUTPUT_CHARS], is_error=block.get("is_error") is True)
                case "text" if line.get("isSynthetic"):
                    yield Progress(text=one_line(text(block.get("text"))))
        if isinstance(result := line.get("tool_use_result"), dict):
            yield from self._todos.changed(result)

    def _result(self, line: dict[str, Any]) -> Iterable[Event]:
        self._converses(line.get("session_id"))
        usage = replace(self._tokens(mapping(line.get("usage"))), cost_usd=dollars(line.get("total_cost_usd")))
        counted_apart = self._result_seen or "usage" not in line  # else the result has all that was counted until now
        self._usage = _added(self._usage if counted_apart else Usage(), usage)
        is_error = line.get("is_error") is True or text(line.get("subtype")).startswith("error")
        words = text(line.get("result"))
        if is_error:
            words = words or "; ".join(filter(None, map(text, items(line.get("errors"))))) or error_text(line.get("error"))
        self._final = words if not is_error and isinstance(line.get("result"), str) else None
        for denial in items(line.get("permission_denials")):
            self._denies(mapping(denial).get("tool_name") or denial)
        yield self._ends(usage, self._failed(line, words) if is_error else None, words)

    def _failed(self, line: dict[str, Any], words: str) -> Failure:
        reason = text(line.get("terminal_reason")) or text(line.get("subtype"))
        return Failure(
            text=words,
            reason=one_line(reason),
            codes=self._error_codes | {text(line.get(key)) for key in _CODES},
            status=number(line.get("api_error_status")),
        )

    def _rate_limit(self, line: dict[str, Any]) -> Iterable[Event]:
        info = mapping(line.get("rate_limit_info"))
        kind = one_line(text(info.get("rateLimitType"))) or "usage"
        self._limit = None
        match text(info.get("status")):
            case "rejected" if not info.get("isUsingOverage"):  # else it goes on, and is paid for
                self._limit = UsageLimit(resets_at=number(info.get("resetsAt")), text=f"the {kind} limit is reached")
                yield LimitNotice(limit=self._limit)
            case "allowed_warning":
                yield Progress(text=one_line(f"the {kind} limit is near: {number(info.get('utilization')) or 0:.0%} used"))


def error_text(error: Any) -> str:
    """The words of an error that is a text (Amp) or an object with a message (Qwen Code)."""
    return text(error) or text(mapping(error).get("message"))


def _blocks(line: dict[str, Any]) -> list[dict[str, Any]]:
    return _parts(mapping(line.get("message")).get("content"))


def _parts(content: Any) -> list[dict[str, Any]]:
    """Content is a list of blocks, or one string."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(part) for part in items(content)]


def _added(before: Usage, one: Usage) -> Usage:
    """Tokens add up; the cost of a later result includes that of the earlier ones."""
    return Usage(
        cost_usd=before.cost_usd if one.cost_usd is None else one.cost_usd,
        input_tokens=before.input_tokens + one.input_tokens,
        output_tokens=before.output_tokens + one.output_tokens,
        cache_read_tokens=before.cache_read_tokens + one.cache_read_tokens,
        cache_write_tokens=before.cache_write_tokens + one.cache_write_tokens,
    )
