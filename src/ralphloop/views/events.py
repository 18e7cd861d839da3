"""What an agent's stream said, event by event: for the live view and for replay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from ralphloop.core import messages as m
from ralphloop.views.figures import count, magnitude, money, tokens
from ralphloop.views.style import Style
from ralphloop.views.text import clean, clip, one_line, wrap

INDENT = "  "
MAX_OPEN_TOOLS = 1000


class EventLines:
    """Turns the events of one attempt into lines; it remembers which tool a result belongs to."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._open: dict[str, str] = {}
        self._tools = 0
        self._errors = 0

    def lines(self, event: m.Event) -> Iterator[str]:
        """The lines that show the event, indented."""
        for line in self._lines(event):
            yield f"{INDENT}{line}".rstrip()

    def _lines(self, event: m.Event) -> Iterator[str]:
        match event:
            case m.Text():
                yield from wrap(clean(event.text).strip("\n"), self._columns)
            case m.ToolStart():
                yield self._tool_start(event)
            case m.ToolEnd():
                yield from self._tool_end(event)
            case m.Todo():
                yield from self._todo(event)
            case m.Progress():
                yield self._dim(one_line(event.text))
            case m.FinalResult():
                yield self._final_result(event)
            case m.LimitNotice():
                yield self._style.paint(clip(f"usage limit: {one_line(event.limit.text)}", self._columns), "yellow")
            case m.Unknown():
                return
            case _:
                assert_never(event)

    @property
    def _columns(self) -> int:
        return max(self._style.width - len(INDENT), 1) if self._style.width else 0

    def _dim(self, text: str) -> str:
        return self._style.paint(clip(text, self._columns), "dim")

    def _tool_start(self, event: m.ToolStart) -> str:
        if len(self._open) >= MAX_OPEN_TOOLS:
            self._open.clear()
        self._tools += 1
        self._open[event.tool_id] = name = one_line(event.name)
        summary = one_line(event.summary).removeprefix(name).strip()
        words = f"{self._style.symbol('tool')} {name}({summary})" if summary else f"{self._style.symbol('tool')} {name}"
        return clip(words, self._columns)

    def _tool_end(self, event: m.ToolEnd) -> Iterator[str]:
        self._errors += event.is_error
        name = self._open.pop(event.tool_id, "tool")
        symbol, word = (self._style.symbol("error"), "Error") if event.is_error else (self._style.symbol("ok"), "Result")
        lines = event.output.count("\n") + bool(event.output and not event.output.endswith("\n"))
        head = f"{symbol} {word} ← {name} ({count(lines, 'line')}, {count(len(event.output), 'char')})"
        yield self._style.paint(clip(head, self._columns), "red" if event.is_error else "dim")
        shown = [line for line in clean(event.output[: self._style.max_chars]).split("\n") if line.strip()]
        for index, line in enumerate(shown[: self._style.max_lines]):
            yield self._dim(f"  {'⎿' if index == 0 else ' '}  {line.expandtabs(4)}")

    def _todo(self, event: m.Todo) -> Iterator[str]:
        style = self._style
        yield f"{style.symbol('todo')} Todo List"
        for item in event.items:
            symbol, after = TODO_STATES.get(item.status, ("pending", ""))
            yield clip(f"  {style.symbol(symbol)} {one_line(item.text)}{after}", self._columns)
        done = sum(item.status == "completed" for item in event.items)
        share = round(100 * done / len(event.items)) if event.items else 0
        yield f"  {style.symbol('progress')} Progress: {done}/{len(event.items)} ({share}%)"

    def _final_result(self, event: m.FinalResult) -> str:
        used = event.usage
        cost = None if used.cost_usd is None else f"cost: {money(used.cost_usd)}"
        read = used.input_tokens + used.cache_write_tokens
        said = f"tokens: {tokens(read, used.cache_read_tokens, used.output_tokens)}" if used.has_tokens else None
        counted = f"tools: {magnitude(self._tools)}, errors: {magnitude(self._errors)}"
        symbol, word = (self._style.symbol("error"), "Failed") if event.is_error else (self._style.symbol("ok"), "Complete")
        return clip(f"{symbol} {word} ({', '.join(filter(None, (cost, said, counted)))})", self._columns)


TODO_STATES = {"completed": ("done", ""), "in_progress": ("active", " ← ACTIVE"), "pending": ("pending", "")}
