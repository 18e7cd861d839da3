"""GFM task lists, parsed: which lines of a Markdown text are tasks, and under what they stand.

One pass over the lines, no pattern that can backtrack. It follows CommonMark's block structure as far as that decides what a box is: open list
items, fences, HTML comments, block quotes, indented code. Where CommonMark is stricter than people are (an item too deep for its list, `2.` right
after a paragraph), the line counts as a task: a task too many costs a tick, a task too few ends the loop with work undone.
A box without text (`- [ ]`, as editors leave it at the end of a list) asks for nothing and is no task.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from ralphloop.core.model import Stage, Task

BOM = "\ufeff"

# Markdown knows these three line ends; str.splitlines would split at form feeds and U+2028 too.
_LINES = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")

_MARKER = re.compile(r"((?:[-+*]|[0-9]{1,9}[.)]))([ \t]++|$)")
_BOX = re.compile(r"\[([ \txX])\][ \t]+(?=\S)")
_FENCE = re.compile(r"`{3,}+(?=[^`]*$)|~{3,}+")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]+|$)")
_RULE = re.compile(r"(?:(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+)$")

_HEADING_CHARS = 200

_COMMENT = re.compile(r"(`[^`]*`)|<!--.*?-->")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_DRESSING = re.compile(r"(?<!`)`++([^`]+)`++|(?<!\w)(?:[*_]{1,3}|~~)(?=[\w`*_~\[(\"'<])|(?<=[^\s/])(?:[*_]{1,3}|~~)(?!\w)|\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTask:
    """A task with its place: the text it is compared by, the headings and the item that it stands under, and how far it is indented."""

    task: Task
    text: str
    heading: str
    parent: str
    indent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A text read as a task list: lines with their ends (the first with its BOM), and the numbers of those that are headings or begin items."""

    lines: tuple[str, ...]
    tasks: tuple[PlacedTask, ...]
    headings: tuple[tuple[int, str], ...]
    items: frozenset[int]


def parse_tasks(text: str) -> tuple[Task, ...]:
    """The tasks of a Markdown text, in order."""
    return tuple(placed.task for placed in read_outline(text).tasks)


def read_outline(text: str) -> Outline:
    """The tasks of a Markdown text and what is needed to find their places again."""
    lines = tuple(_LINES.findall(text))
    reader = _Reader()
    for number, line in enumerate(lines, start=1):
        reader.read(number, (line.removeprefix(BOM) if number == 1 else line).rstrip("\r\n"))
    return Outline(lines=lines, tasks=tuple(reader.tasks), headings=tuple(reader.headings), items=frozenset(reader.items))


def indent_of(line: str) -> int:
    """How far a line is indented, in columns; tabs stop at every fourth."""
    return _width(line[: len(line) - len(line.lstrip(" \t"))], 0)


def _width(blank: str, column: int) -> int:
    if "\t" not in blank:
        return len(blank)
    return len((" " * (column % 4) + blank).expandtabs(4)) - column % 4


def _undressed(text: str) -> str:
    """The text as a reader sees it: no emphasis, no code marks, links by their words, no comments."""
    if "-->" in text:
        # Up to the last end every start has an end, so no search runs to the end of the line in vain.
        end = text.rindex("-->") + 3
        text = _COMMENT.sub(lambda found: found[1] or "", text[:end]) + text[end:]
    text = _LINK.sub(r"\1", text)
    text = _DRESSING.sub(lambda found: found[1] or found[2] or "", text)
    return " ".join(text.split())


def _normalised(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fence:
    """An open fence; `depth` list items are open around it, and it ends with the innermost of them."""

    mark: str
    indent: int
    depth: int

    def ends_on(self, body: str, indent: int) -> bool:
        rest = body.strip(" \t")
        return rest.startswith(self.mark) and not rest.strip(self.mark[0]) and indent <= self.indent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comment:
    """An open HTML comment."""

    depth: int

    def ends_on(self, body: str, indent: int) -> bool:  # noqa: ARG002  fences look at the indent
        return not _comment_is_open_after(body, 0)


def _comment_is_open_after(body: str, inside: int) -> bool:
    """Whether a comment is open at the end of the line, given a position that lies in one."""
    while (end := body.find("-->", inside)) >= 0:
        start = body.find("<!--", end + 3)
        if start < 0:
            return False
        inside = start + 2  # `<!-->` is a whole comment
    return True


class _Reader:
    """The state that travels from line to line."""

    def __init__(self) -> None:
        self.tasks: list[PlacedTask] = []
        self.headings: list[tuple[int, str]] = []
        self.items: list[int] = []
        self._open: list[tuple[int, str]] = []  # list items: the column of their content, and their text if they are tasks
        self._hidden: _Fence | _Comment | None = None
        self._in_paragraph = False
        self._headings: list[str] = []  # the open ones, by level
        self._heading = ""
        self._seen: Counter[str] = Counter()

    def read(self, number: int, body: str) -> None:
        rest = body.lstrip(" \t")
        start = len(body) - len(rest)
        if not rest:
            self._in_paragraph = False
            return
        indent = _width(body[:start], 0)
        if self._stays_hidden(body, indent):
            return
        if indent >= 4 and not self._open:
            return  # indented code, or a paragraph that goes on
        if _RULE.match(body, start):
            self._close_items(indent)
            self._in_paragraph = False
        elif marker := _MARKER.match(body, start):
            self._close_items(indent)
            self.items.append(number)
            self._item(number, body, marker, indent)
        else:
            self._block(number, body, start, indent)

    def _stays_hidden(self, body: str, indent: int) -> bool:
        hidden = self._hidden
        if hidden is None:
            return False
        if hidden.depth and indent < self._open[hidden.depth - 1][0]:
            self._hidden = None  # the item around it is over
            return False
        if hidden.ends_on(body, indent):
            self._hidden = None
        return True

    def _close_items(self, indent: int) -> None:
        while self._open and self._open[-1][0] > indent:
            self._open.pop()

    def _item(self, number: int, body: str, marker: re.Match[str] | None, column: int) -> None:
        """A list item, and those that begin in it on the same line (`1. - [ ] text`)."""
        indent, position = column, 0
        while marker:
            column += len(marker[1])
            position = marker.end()
            gap = _width(marker[2], column)
            content = column + (gap if gap <= 4 and position < len(body) else 1)
            if box := _BOX.match(body, position):
                text = self._task(number, box[1], body[box.end() :], indent)
                self._open.append((content, text))
                self._in_paragraph = True
                return
            self._open.append((content, ""))
            column += gap
            marker = _MARKER.match(body, position)
        self._in_paragraph = False
        self._block(number, body, position, column)

    def _task(self, number: int, box: str, dressed: str, indent: int) -> str:
        title = _undressed(dressed) or dressed.strip()
        text = _normalised(title)
        self._seen[text] += 1
        stage = Stage.DONE if box in "xX" else Stage.TODO
        task = Task(key=f"{text}#{self._seen[text]}", title=title, stage=stage, line=number)
        parent = self._open[-1][1] if self._open else ""
        self.tasks.append(PlacedTask(task=task, text=text, heading=self._heading, parent=parent, indent=indent))
        return text

    def _block(self, number: int, body: str, start: int, indent: int) -> None:
        """What begins at that position is no list item."""
        if fence := _FENCE.match(body, start):
            self._close_items(indent)
            base = self._open[-1][0] if self._open else 0
            self._hidden = _Fence(mark=fence[0], indent=max(indent, base + 3), depth=len(self._open))
        elif body.startswith("<!--", start):
            self._close_items(indent)
            if _comment_is_open_after(body, start + 2):
                self._hidden = _Comment(depth=len(self._open))
        elif heading := _HEADING.match(body, start):
            self._close_items(indent)
            level = len(heading[1])
            self._headings[level - 1 :] = [""] * (level - 1 - len(self._headings)) + [_normalised(_undressed(body[heading.end() :]))[:_HEADING_CHARS]]
            self._heading = "\n".join(self._headings)
            self.headings.append((number, self._heading))
        else:
            if not self._in_paragraph or body.startswith(">", start):
                self._close_items(indent)
            self._in_paragraph = True
            return
        self._in_paragraph = False
