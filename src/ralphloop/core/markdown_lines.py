"""A line reader for Markdown as agents write it: what each line is, and to which block it belongs.

Not a Markdown parser: it answers only what the claim rule asks (is this code, a quote, a table, a list item, a heading), in one pass over the
lines, with no pattern that can backtrack. Where CommonMark and the look of a message differ, the reading that shows *less* as plain text wins.
"""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class LineKind(StrEnum):
    """What one line is."""

    BLANK = "blank"
    TEXT = "text"
    HEADING = "heading"
    ITEM = "item"
    TABLE = "table"
    QUOTE = "quote"
    CODE = "code"
    FENCE = "fence"
    RULE = "rule"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownLine:
    """One line: its kind, the text without the marker, and the block of code it belongs to (0: none)."""

    number: int
    kind: LineKind
    text: str
    indent: int = 0
    ordered: bool = False
    box: str = ""
    block: int = 0
    info: str = ""


_FENCE = re.compile(r"(`{3,}|~{3,})([^\n]*)")
_ITEM = re.compile(r"([-*+•‣◦▪–]|\d{1,9}[.)]|[a-z][.)])[ \t]+(?=\S)", re.IGNORECASE)
_BOX = re.compile(r"\[([ xX✓✔~-]?)\][ \t]+")
_CODE_SPAN = re.compile(r"`[^`]*`")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+|$)")
_RULE = re.compile(r"(?:[-*_=─━═][ \t]*){3,}")
_DIFF_LINE = re.compile(r"(?:diff --git |index [0-9a-f]{6,}|@@ -\d|--- a/|\+\+\+ b/)")
_LOOKS_LOGGED = re.compile(r"(?:\[?\d{1,4}[-:/]\d\d[-:/.]\d\d|\[[\d:.]+\]|[$%❯] |>>> |\d+[:|] ?<)")


def _width(line: str) -> int:
    """How far a line is indented, a tab counted as four."""
    stripped = line.lstrip(" \t")
    return len(line[: len(line) - len(stripped)].expandtabs(4))


class _Reader:
    """The state that travels from line to line."""

    def __init__(self) -> None:
        self.fence = ""
        self.info = ""
        self.block = 0
        self.hidden = ""
        self.diff = False
        self.item_indent = -1
        self.previous = LineKind.BLANK
        self.last = LineKind.BLANK

    def read(self, number: int, raw: str) -> MarkdownLine:
        line = self._inside(number, raw) or self._outside(number, raw)
        self.previous = line.kind
        if line.kind is not LineKind.BLANK:
            self.last = line.kind
        return line

    def _inside(self, number: int, raw: str) -> MarkdownLine | None:
        """Lines of an open fence or a hidden region, which go on whatever they look like."""
        stripped = raw.strip()
        if self.fence:
            closes = stripped.startswith(self.fence) and not stripped.strip(self.fence[0])
            if closes:
                self.fence = ""
            kind = LineKind.FENCE if closes else LineKind.CODE
            return MarkdownLine(number=number, kind=kind, text=stripped, block=self.block, info=self.info)
        if self.hidden:
            if self.hidden in stripped.casefold():
                self.hidden = ""
            return MarkdownLine(number=number, kind=LineKind.HIDDEN, text=stripped)
        return None

    def _outside(self, number: int, raw: str) -> MarkdownLine:
        stripped, indent = raw.strip(), _width(raw)
        if not stripped:
            self.diff = False
            return MarkdownLine(number=number, kind=LineKind.BLANK, text="")
        opened = _FENCE.match(stripped)
        if opened and not (opened[1][0] == "`" and "`" in opened[2]):
            return self._open_fence(number, opened[1], opened[2])
        self.diff = self.diff or bool(_DIFF_LINE.match(stripped))
        if self._hides(stripped):
            return MarkdownLine(number=number, kind=LineKind.HIDDEN, text=stripped)
        if self._is_code(stripped, indent):
            if self.last is not LineKind.CODE:
                self.block += 1
            return MarkdownLine(number=number, kind=LineKind.CODE, text=stripped, indent=indent, block=self.block)
        return self._plain(number, stripped, indent)

    def _open_fence(self, number: int, fence: str, info: str) -> MarkdownLine:
        self.fence, self.info = fence, info.strip().casefold()
        self.block += 1
        return MarkdownLine(number=number, kind=LineKind.FENCE, text="", block=self.block, info=self.info)

    def _hides(self, stripped: str) -> bool:
        folded = stripped.casefold()
        for start, end in (("<!--", "-->"), ("<details", "</details"), ("<blockquote", "</blockquote"), ("<pre", "</pre")):
            if start in folded:
                self.hidden = "" if end in folded.split(start)[-1] else end
                return start != "<!--" or folded.startswith(start)
        return False

    def _is_code(self, stripped: str, indent: int) -> bool:
        if self.diff or _LOOKS_LOGGED.match(stripped):
            return True
        indented = indent >= 4 and self.previous in {LineKind.BLANK, LineKind.CODE, LineKind.HEADING}
        return indented and not (self.item_indent >= 0 and indent < self.item_indent + 6)

    def _plain(self, number: int, stripped: str, indent: int) -> MarkdownLine:
        if _RULE.fullmatch(stripped):
            return MarkdownLine(number=number, kind=LineKind.RULE, text="")
        if stripped.startswith((">", "》", "│", "┃", "▌")):
            return MarkdownLine(number=number, kind=LineKind.QUOTE, text=stripped.lstrip("> "))
        if heading := _HEADING.match(stripped):
            self.item_indent = -1
            return MarkdownLine(number=number, kind=LineKind.HEADING, text=stripped[heading.end() :].strip("# "))
        if stripped.startswith("|") or (stripped.count("|") >= 2 and _CODE_SPAN.sub("", stripped).count("|") >= 2):
            return MarkdownLine(number=number, kind=LineKind.TABLE, text=stripped)
        if self.previous is LineKind.QUOTE:
            # A lazy continuation of a block quote.
            return MarkdownLine(number=number, kind=LineKind.QUOTE, text=stripped)
        if item := _ITEM.match(stripped):
            return self._item(number, stripped[item.end() :], indent, item[1])
        if indent < 2:
            self.item_indent = -1
        return MarkdownLine(number=number, kind=LineKind.TEXT, text=stripped, indent=indent)

    def _item(self, number: int, rest: str, indent: int, marker: str) -> MarkdownLine:
        self.item_indent = indent
        box = _BOX.match(rest)
        return MarkdownLine(
            number=number,
            kind=LineKind.ITEM,
            text=rest[box.end() :] if box else rest,
            indent=indent,
            ordered=marker[-1] in ".)",
            box=(box[1].strip().casefold() or "open") if box else "",
        )


def read_lines(text: str) -> tuple[MarkdownLine, ...]:
    """Read every line of a text; numbers count from 1."""
    reader = _Reader()
    return tuple(reader.read(number, raw) for number, raw in enumerate(text.split("\n"), start=1))
