"""Is it claimed, or only mentioned.

A tag is a claim only if it *stands*. The rule asks four questions, and each may say no: where does the tag stand (alone on its line, in its own
last code block, at the end of a closing sentence), what introduces it, does anything before it say that work is open, and does anything after it
take it back. Structure decides first, words second. In doubt it is no claim: a missed claim costs an iteration, a false one costs trust.
"""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

from ralphloop.core.claim_after import withdrawal
from ralphloop.core.claim_before import contradiction
from ralphloop.core.claim_lead import introduced
from ralphloop.core.claim_units import INLINE_HTML, TAG_MARK, Unit, ends_sentence, is_title, units_of
from ralphloop.core.markdown_lines import LineKind, MarkdownLine, read_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class TagReading:
    """One tag that was found in the final words, and why it is (not) a claim."""

    line: int
    excerpt: str
    stands: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimReading:
    """What was looked at in the final words, and what came of it."""

    claimed: bool
    why: str
    tags: tuple[TagReading, ...] = ()


_MAX_READINGS = 20
_EXCERPT = 80
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\ufe0e\ufe0f]")
_NEAR = re.compile(r"[<\[]\s?/?\s?(?:promises?|responses?)\b|&lt;(?:promise|response)|promise:", re.IGNORECASE)
_OTHER_TAG = re.compile(r"<(promise|response)>[^<>\n]{1,80}</\1>")
_DRESSING = " \t*_`~#=-–—•.!。！✓✔:"
_OWN_INFO = frozenset({"", "text", "txt", "plain", "plaintext", "xml", "html", "markdown", "md", "none", "output"})
_MUST_NOT_FOLLOW = re.compile(r"[?,;)\]}»”…?:]|\.\.\.")


def normalise(text: str) -> str:
    """One spelling for line ends and composed characters, without invisible ones."""
    joined = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    return _INVISIBLE.sub("", unicodedata.normalize("NFC", joined))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())


def _tag_pattern(text: str) -> re.Pattern[str]:
    """The exact tag in a folded line; blanks around the text are trimmed."""
    literal = re.escape(_fold(normalise(text)).strip())
    return re.compile(rf"<(promise|response)>\s{{0,200}}{literal}\s{{0,200}}</\1>")


def _is_dressing(text: str) -> bool:
    """Whether nothing but Markdown dressing, end marks and emoji is left."""
    rest = INLINE_HTML.sub("", text).strip(_DRESSING)
    return all(_is_ornament(char) for char in rest)


def _is_ornament(char: str) -> bool:
    return char in _DRESSING or unicodedata.category(char) in {"So", "Sk", "Cf", "Mn"} or char in "⟶→➜▶►"


def _unfold_tag_lines(text: str, pattern: re.Pattern[str]) -> str:
    """A tag whose text stands on a line of its own is put on one line; the number of lines stays."""

    def one_line(found: re.Match[str]) -> str:
        inner = found[0]
        breaks = inner.count("\n")
        return " ".join(inner.split()) + "\n" * breaks if breaks else inner

    # Folding may change lengths, so the pattern runs on the original with case ignored where that is the same.
    relaxed = re.compile(pattern.pattern + r"(?=[ \t]*(?:\n|\Z))", re.IGNORECASE)
    return relaxed.sub(one_line, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What surrounds the last exact tag of a line, folded, and how many tags the line has."""

    before: str
    after: str
    count: int

    @property
    def alone(self) -> bool:
        """Whether the line holds this tag and nothing else."""
        return self.count == 1 and _is_dressing(self.before) and _is_dressing(self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """A message that has been read once: its lines, the same with tags reduced to a mark, and where exact tags and their likes are."""

    lines: tuple[MarkdownLine, ...]
    marked: tuple[MarkdownLine, ...]
    exact: dict[int, _Found]
    near: tuple[int, ...]


def _read(final_words: str, text: str) -> _Message:
    pattern = _tag_pattern(text)
    lines = read_lines(_unfold_tag_lines(normalise(final_words), pattern))
    marked = list(lines)
    exact: dict[int, _Found] = {}
    near: list[int] = []
    for line in lines:
        if not _NEAR.search(line.text):
            continue
        folded = _fold(line.text)
        spans = [match.span() for match in pattern.finditer(folded)]
        if not spans:
            near.append(line.number)
            continue
        start, end = spans[-1]
        found = _Found(before=folded[:start], after=folded[end:], count=len(spans))
        exact[line.number] = found
        marked[line.number - 1] = _mark(line, found, pattern.sub(TAG_MARK, folded))
    return _Message(lines=lines, marked=tuple(marked), exact=exact, near=tuple(near))


def _mark(line: MarkdownLine, found: _Found, text: str) -> MarkdownLine:
    """A line whose tag stands alone is as good as blank to its neighbours; elsewhere the tag is a mark."""
    if found.alone and line.kind not in {LineKind.CODE, LineKind.QUOTE, LineKind.TABLE, LineKind.HIDDEN}:
        return MarkdownLine(number=line.number, kind=LineKind.BLANK, text="")
    return replace(line, text=text)


def detect_claim(final_words: str, text: str) -> ClaimReading:
    """Say whether the final words claim the text, and why; never raises."""
    if not text.strip():
        return ClaimReading(claimed=False, why="No text of a claim is configured.")
    message = _read(final_words, text)
    readings: list[TagReading] = [_reading(message, number, "it is not the tag, only like it") for number in message.near[-_MAX_READINGS:]]
    claimed, why = False, "The tag does not occur."
    judged = sorted(message.exact, reverse=True)[:_MAX_READINGS]
    for number in judged:
        reason = _judge(message, number)
        readings.append(_reading(message, number, reason))
        if number == judged[0] or (not claimed and not reason):
            claimed, why = not reason, f"The tag in line {number} {'stands' if not reason else 'is no claim: ' + reason}."
    if not judged and message.near:
        why = "Only something like the tag occurs."
    shown = tuple(sorted(readings, key=lambda reading: reading.line)[-_MAX_READINGS:])
    return ClaimReading(claimed=claimed, why=why, tags=shown)


def _reading(message: _Message, number: int, reason: str) -> TagReading:
    excerpt = message.lines[number - 1].text
    cut = excerpt if len(excerpt) <= _EXCERPT else excerpt[: _EXCERPT - 1] + "…"
    return TagReading(line=number, excerpt=cut, stands=not reason, why=reason or "it stands, and nothing speaks against it")


def _judge(message: _Message, number: int) -> str:
    """Why the last exact tag of a line is no claim; empty if it is one."""
    line = message.lines[number - 1]
    before, after = message.exact[number].before, message.exact[number].after
    if reason := _bad_place(message, line, before, after):
        return reason
    alone = _is_dressing(before)
    head, tail = _around(message, line)
    if reason := _followed(line, head, tail, alone=alone):
        return reason
    return withdrawal(tail) or _rivals(message, number) or introduced(line, head, before, alone=alone) or contradiction(head)


def _bad_place(message: _Message, line: MarkdownLine, before: str, after: str) -> str:
    places = {
        LineKind.QUOTE: "it is quoted",
        LineKind.TABLE: "it stands in a table",
        LineKind.HIDDEN: "it stands in hidden or quoted HTML",
        LineKind.FENCE: "it stands on a fence",
    }
    if line.kind in places:
        return places[line.kind]
    if not _is_dressing(after):
        return "text follows it on its line"
    if line.kind is LineKind.CODE:
        return _bad_block(message, line, before)
    if before.rstrip().endswith(("`", '"', "'", "“", "«", "„", "「")) and not _is_dressing(before):
        return "it is quoted"
    if before and not _is_dressing(before) and (before[-1].isalnum() or before[-1] in "=/&?"):
        return "it is glued to a word"
    if "~~" in before:
        return "it is struck out"
    if line.box == "open":
        return "it stands behind an open box"
    return ""


def _bad_block(message: _Message, line: MarkdownLine, before: str) -> str:
    block = [other for other in message.lines if other.block == line.block and other.kind is LineKind.CODE and other.text]
    if len(block) > 1 or not _is_dressing(before):
        return "it stands among other code"
    if line.info not in _OWN_INFO:
        return f"it stands in a block of {line.info}"
    if any(other.block > line.block for other in message.lines):
        return "it does not stand in the last code block"
    return ""


def _around(message: _Message, line: MarkdownLine) -> tuple[list[Unit], list[Unit]]:
    """The statements before and after, every exact tag in them reduced to a mark."""
    return units_of(message.marked[: line.number - 1]), units_of(message.marked[line.number :])


def _followed(line: MarkdownLine, head: list[Unit], tail: list[Unit], *, alone: bool) -> str:
    """Whether the sentence around the tag goes on behind it."""
    if not tail:
        return ""
    first = tail[0]
    attached = first.number == line.number + 1 and first.kind is LineKind.TEXT
    if first.kind is LineKind.TEXT and _MUST_NOT_FOLLOW.match(first.text):
        return "its sentence goes on behind it"
    open_sentence = bool(head) and head[-1].kind is LineKind.TEXT and not ends_sentence(head[-1].text) and not is_title(head, len(head) - 1)
    if first.kind is LineKind.TEXT and first.text[:1].islower() and (attached or open_sentence):
        return "its sentence goes on behind it"
    if attached and first.indent >= 2 and alone:
        return "it is explained below"
    return ""


def _rivals(message: _Message, number: int) -> str:
    """Another signal of the same kind that stands near: then both belong to a legend."""
    for other in message.near:
        line = message.lines[other - 1]
        found = _OTHER_TAG.search(_fold(line.text)) if abs(other - number) <= 12 else None
        if found and line.kind in {LineKind.TEXT, LineKind.ITEM} and _is_dressing(_fold(line.text)[: found.start()]):
            return "other signals stand beside it"
    return ""
