"""Reads Claude Code's stream-json: one JSON object per line (as seen in 2.1.325).

What the client's own documents do not say, and recorded streams show: `type` is not always the first key; several `result` lines come when
background work ends after the first, their cost cumulative, their tokens not; `subtype: success` stands beside `is_error: true`; an API error
arrives dressed as an assistant's message; sub-agents speak on the same stream, marked by `parent_tool_use_id`; the last line may be cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ralphloop.agents.claude_failures import Failure, fatal_reason, refusal, usage_limit
from ralphloop.agents.fields import count, items, mapping, number, read_object, text
from ralphloop.agents.one_line import one_line, tool_summary
from ralphloop.core.messages import Event, FinalResult, LimitNotice, Progress, Text, Todo, TodoItem, ToolEnd, ToolStart, Unknown
from ralphloop.core.model import RunReport, StreamReport, Usage, UsageLimit

FINAL_WORDS_CHARS = 256 * 1024
TOOL_OUTPUT_CHARS = 64 * 1024
UNKNOWN_CHARS = 2000

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
    "init": lambda line: f"conversation {text(line.get('session_id'))} with {text(line.get('model'))}",
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


class ClaudeParser:
    """One run's stdout; satisfies ports.StreamParser. Keeps the last words and the last result, never the stream."""

    def __init__(self) -> None:
        self._readers: dict[str, Callable[[dict[str, Any]], Iterable[Event]]] = {
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
            "result": self._result,
            "rate_limit_event": self._rate_limit,
            "stream_event": lambda _: (),  # pieces of messages that also come whole
        }
        self._lines = 0
        self._objects = 0
        self._conversation: str | None = None
        self._usage = Usage()
        self._result_seen = False
        self._background = False
        self._said = ""
        self._final: str | None = None
        self._failure: Failure | None = None
        self._error_codes = frozenset[str]()
        self._limit: UsageLimit | None = None

    @property
    def result_seen(self) -> bool:
        """Whether the client has said that its turn is over."""
        return self._result_seen

    @property
    def background(self) -> bool:
        """Whether it says that tasks run in the background: it stays for them after its result."""
        return self._background

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line."""
        if not line.strip():
            return ()
        self._lines += 1
        found = read_object(line)
        if found is None:
            return (_unknown(line),)
        self._objects += 1
        self._conversation = self._conversation or text(found.get("session_id"))[:200] or None
        reader = self._readers.get(text(found.get("type")))
        return tuple(reader(found)) if reader else (_unknown(line),)

    def finish(self, run: RunReport) -> StreamReport:
        """What the stream said, all told."""
        failed = self._failure is not None or not self._result_seen
        return StreamReport(
            final_words=(self._said if self._final is None else self._final)[-FINAL_WORDS_CHARS:],
            usage=self._usage,
            conversation_id=self._conversation,
            error=self._error(run),
            fatal=self._fatal(run),
            limit=usage_limit(self._failure, self._limit) if failed else None,
            result_seen=self._result_seen,
        )

    def _error(self, run: RunReport) -> str | None:
        if self._failure is not None:
            return self._failure.words
        if self._lines and not self._objects and run.exit_code == 0:
            return "its output is no stream-json: take --output-format out of agent.flags, or set agent.type to command"
        return None

    def _fatal(self, run: RunReport) -> str | None:
        if self._failure is not None:
            return fatal_reason(self._failure)
        return refusal(run.stderr_tail) if not self._lines and run.exit_code else None

    # --- one reader per type of line ---

    def _system(self, line: dict[str, Any]) -> Iterable[Event]:
        subtype = text(line.get("subtype"))
        if subtype == "background_tasks_changed":
            self._background = bool(items(line.get("tasks")))
        if subtype in _SILENT:
            return
        news = _NEWS.get(subtype)
        yield Progress(text=one_line(news(line))) if news else Unknown(line=one_line(f"system: {subtype}"))

    def _assistant(self, line: dict[str, Any]) -> Iterable[Event]:
        if not line.get("parent_tool_use_id"):
            codes = (text(line.get("error")), text(line.get("api_error"))) if line.get("is_api_error_message") else ()
            self._error_codes = frozenset(codes)
        for block in _blocks(line):
            match text(block.get("type")):
                case "text":
                    yield self._spoken(line, text(block.get("text")))
                case "tool_use":
                    yield from _tool_use(block)

    def _spoken(self, line: dict[str, Any], words: str) -> Event:
        if line.get("is_api_error_message"):
            return Progress(text=one_line(words))
        if line.get("parent_tool_use_id"):
            return Progress(text=one_line(f"sub-agent: {words}"))
        self._said = words
        return Text(text=words)

    def _user(self, line: dict[str, Any]) -> Iterable[Event]:
        for block in _blocks(line):
            match text(block.get("type")):
                case "tool_result":
                    output = "\n".join(text(part.get("text")) for part in _parts(block.get("content")))
                    yield ToolEnd(tool_id=text(block.get("tool_use_id")), output=output[:TOOL_OUTPUT_CHARS], is_error=block.get("is_error") is True)
                case "text" if line.get("isSynthetic"):
                    yield Progress(text=one_line(text(block.get("text"))))

    def _result(self, line: dict[str, Any]) -> Iterable[Event]:
        usage = _usage(line)
        self._result_seen = True
        self._usage = replace(
            usage,
            cost_usd=self._usage.cost_usd if usage.cost_usd is None else usage.cost_usd,
            input_tokens=self._usage.input_tokens + usage.input_tokens,
            output_tokens=self._usage.output_tokens + usage.output_tokens,
            cache_read_tokens=self._usage.cache_read_tokens + usage.cache_read_tokens,
            cache_write_tokens=self._usage.cache_write_tokens + usage.cache_write_tokens,
        )
        is_error = line.get("is_error") is True or text(line.get("subtype")).startswith("error")
        words = text(line.get("result"))
        if is_error:
            words = words or "; ".join(filter(None, map(text, items(line.get("errors"))))) or text(line.get("error"))
        self._failure = self._failed(line, words) if is_error else None
        self._final = words if not is_error and isinstance(line.get("result"), str) else None
        yield FinalResult(usage=usage, is_error=is_error, text=words)

    def _failed(self, line: dict[str, Any], words: str) -> Failure:
        reason = text(line.get("terminal_reason")) or text(line.get("subtype"))
        return Failure(text=words, reason=one_line(reason), codes=self._error_codes, status=number(line.get("api_error_status")))

    def _rate_limit(self, line: dict[str, Any]) -> Iterable[Event]:
        info = mapping(line.get("rate_limit_info"))
        kind = one_line(text(info.get("rateLimitType"))) or "usage"
        self._limit = None
        match text(info.get("status")):
            case "rejected":
                self._limit = UsageLimit(resets_at=number(info.get("resetsAt")), text=f"the {kind} limit is reached")
                yield LimitNotice(limit=self._limit)
            case "allowed_warning":
                yield Progress(text=one_line(f"the {kind} limit is near: {number(info.get('utilization')) or 0:.0%} used"))


def _blocks(line: dict[str, Any]) -> list[dict[str, Any]]:
    return _parts(mapping(line.get("message")).get("content"))


def _parts(content: Any) -> list[dict[str, Any]]:
    """Content is a list of blocks, or one string."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(part) for part in items(content)]


def _tool_use(block: dict[str, Any]) -> Iterable[Event]:
    name, given = text(block.get("name")), mapping(block.get("input"))
    yield ToolStart(tool_id=text(block.get("id")), name=name, summary=tool_summary(name, given))
    if name == "TodoWrite":
        todos = [mapping(item) for item in items(given.get("todos"))]
        yield Todo(items=tuple(TodoItem(text=text(item.get("content")), status=text(item.get("status"))) for item in todos))


def _usage(line: dict[str, Any]) -> Usage:
    used, cost = mapping(line.get("usage")), number(line.get("total_cost_usd"))
    return Usage(
        cost_usd=cost if cost is not None and cost >= 0 else None,
        input_tokens=count(used.get("input_tokens")),
        output_tokens=count(used.get("output_tokens")),
        cache_read_tokens=count(used.get("cache_read_input_tokens")),
        cache_write_tokens=count(used.get("cache_creation_input_tokens")),
    )


def _unknown(line: bytes) -> Unknown:
    return Unknown(line=line[:UNKNOWN_CHARS].decode("utf-8", "replace"))
