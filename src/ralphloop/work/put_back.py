"""Putting vanished tasks back into a text that somebody has edited since.

A line goes back to where it was as near as the edited text allows: after the task that it followed, else before the one that followed it, under
its own heading if that is still there. Lines are only ever added. As an edit may have opened a fence or a comment just there, each placing is
read again before it is believed: every task of the edited text must still be one, and every line put back must be one. The last resort, the top
of the file with the list closed behind it, is right in every text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from ralphloop.work.matching import Matches
from ralphloop.work.tasklist import BOM, Outline, PlacedTask, indent_of, read_outline

# How many lines of an item are stepped over to find its end.
_LONGEST_ITEM = 1000

_END_OF_LIST = "<!-- the tasks above were put back -->"


def put_back(old: Outline, new: Outline, matches: Matches, vanished: Sequence[PlacedTask]) -> str:
    """The text of `new` with the vanished tasks of `old` in it; `matches` says which tasks of `new` stand for which of `old`."""
    raw = [old.lines[placed.task.line - 1].removeprefix(BOM).rstrip("\r\n") for placed in vanished]
    flush = [line.lstrip(" \t") for line in raw]
    anchors = _anchors(old, new, matches)
    wanted = _count(new) + Counter((placed.text, placed.task.stage) for placed in vanished)
    slots = [list(_slots(new, anchors, vanished, closely=closely)) for closely in (False, True)]
    for lines, places in product((raw, flush), slots):
        text = _insert(new, places, lines)
        if _count(read_outline(text)) == wanted:
            return text
    return _insert(new, [0] * (len(flush) + 1), [*flush, _END_OF_LIST])


def _count(outline: Outline) -> Counter[tuple[str, str]]:
    return Counter((placed.text, placed.task.stage) for placed in outline.tasks)


@dataclass(slots=True, kw_only=True)
class _Anchors:
    """For each old task, by its line: the new tasks that stand for the nearest ones before and after it, if there are any."""

    before: dict[int, PlacedTask] = field(default_factory=dict)
    before_in_section: dict[int, PlacedTask] = field(default_factory=dict)
    after: dict[int, PlacedTask] = field(default_factory=dict)
    after_in_section: dict[int, PlacedTask] = field(default_factory=dict)


def _anchors(old: Outline, new: Outline, matches: Matches) -> _Anchors:
    anchors = _Anchors()
    forward = range(len(old.tasks))
    for order, which, anywhere, in_section in (
        (forward, -1, anchors.before, anchors.before_in_section),
        (reversed(forward), 0, anchors.after, anchors.after_in_section),
    ):
        nearest: PlacedTask | None = None
        of_section: dict[str, PlacedTask] = {}
        for number in order:
            placed = old.tasks[number]
            if number in matches:
                nearest = new.tasks[matches[number][which]]
                if nearest.heading == placed.heading:
                    of_section[placed.heading] = nearest
                continue
            if nearest:
                anywhere[placed.task.line] = nearest
            if placed.heading in of_section:
                in_section[placed.task.line] = of_section[placed.heading]
    return anchors


def _slots(new: Outline, anchors: _Anchors, vanished: Sequence[PlacedTask], *, closely: bool) -> Iterator[int]:
    """For each vanished task the number of lines of the new text that stay before it."""
    places = _Places(new, anchors, closely=closely)
    last_anchor, last_slot = -1, 0
    for placed in vanished:
        anchor, slot = places.of(placed)
        # Tasks that go back to one place keep their order, whatever their indents.
        last_slot = max(slot, last_slot) if anchor == last_anchor else slot
        last_anchor = anchor
        yield last_slot


class _Places:
    """Finds places between the lines of a text: past everything that belongs to an item, or closely behind its first line."""

    def __init__(self, outline: Outline, anchors: _Anchors, *, closely: bool) -> None:
        self._outline = outline
        self._anchors = anchors
        self._closely = closely
        self._known: dict[tuple[int, int], int] = {}
        self._sections: dict[str, tuple[int, int]] = {}
        ends = [number - 1 for number, _ in outline.headings[1:]] + [len(outline.lines)]
        for (number, heading), end in zip(outline.headings, ends, strict=False):
            self._sections.setdefault(heading, (number, end))

    def of(self, placed: PlacedTask) -> tuple[int, int]:
        """The line that the place depends on, and the number of lines before the place."""
        line, anchors = placed.task.line, self._anchors
        if anchor := anchors.before_in_section.get(line):
            return anchor.task.line, self._behind(anchor, placed)
        if anchor := anchors.after_in_section.get(line):
            return anchor.task.line, self._in_front(anchor, placed.indent)
        if placed.heading in self._sections:
            start, end = self._sections[placed.heading]
            return start, start if self._closely else self._without_blanks(start, end)
        if anchor := anchors.before.get(line):
            return anchor.task.line, self._behind(anchor, placed)
        anchor = anchors.after[line]
        return anchor.task.line, self._in_front(anchor, placed.indent)

    def _behind(self, anchor: PlacedTask, placed: PlacedTask) -> int:
        start = anchor.task.line
        if self._closely:
            return start
        if (start, placed.indent) not in self._known:
            end = min(len(self._outline.lines), start + _LONGEST_ITEM)
            successor = self._anchors.after.get(placed.task.line)
            if successor and successor.task.line > start:
                end = min(end, successor.task.line - 1)
            self._known[start, placed.indent] = self._end_of_item(start, end, anchor.indent, placed.indent)
        return self._known[start, placed.indent]

    def _in_front(self, anchor: PlacedTask, indent: int) -> int:
        """Before the anchor, and before the items that it is nested in as far as they are nested deeper than the indent, or as deep."""
        slot, depth = anchor.task.line - 1, anchor.indent
        while not self._closely and depth > indent and slot in self._outline.items:
            above = indent_of(self._outline.lines[slot - 1])
            if not indent <= above < depth:
                break
            slot, depth = slot - 1, above
        return slot

    def _end_of_item(self, start: int, end: int, owner: int, indent: int) -> int:
        slot = start
        for number in range(start, end):
            line = self._outline.lines[number]
            if not line.strip():
                continue
            depth = indent_of(line)
            is_own_text = depth > owner and number + 1 not in self._outline.items
            if depth <= indent and not is_own_text:
                break
            slot = number + 1
        return slot

    def _without_blanks(self, start: int, end: int) -> int:
        while end > start and not self._outline.lines[end - 1].strip():
            end -= 1
        return end


def _insert(outline: Outline, slots: Sequence[int], added: Sequence[str]) -> str:
    at_slot: dict[int, list[str]] = {}
    for slot, line in zip(slots, added, strict=True):
        at_slot.setdefault(slot, []).append(line)
    text = [BOM] if outline.lines[:1] and outline.lines[0].startswith(BOM) else []
    for slot in range(len(outline.lines) + 1):
        end = _line_end(outline, slot)
        if slot in at_slot and slot and not outline.lines[slot - 1].endswith(("\r", "\n")):
            text.append(end)
        text += (f"{line}{end}" for line in at_slot.get(slot, ()))
        if slot < len(outline.lines):
            text.append(outline.lines[slot].removeprefix(BOM) if slot == 0 else outline.lines[slot])
    return "".join(text)


def _line_end(outline: Outline, slot: int) -> str:
    """How the lines around that place end."""
    for line in (*outline.lines[max(0, slot - 1) : slot], *outline.lines[:1]):
        body = line.rstrip("\r\n")
        if len(body) < len(line):
            return line[len(body) :]
    return "\n"
