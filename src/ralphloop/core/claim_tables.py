"""Tables: does a row of one say that something is open."""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import re
from collections.abc import Sequence

from ralphloop.core.claim_clauses import weighed
from ralphloop.core.claim_counts import SPELT
from ralphloop.core.claim_sentences import WAITING_EMOJI
from ralphloop.core.claim_units import TAG_MARK, Unit
from ralphloop.core.claim_words import Signal
from ralphloop.core.markdown_lines import LineKind

_TROUBLES = frozenset({Signal.TROUBLE, Signal.OPEN, Signal.STILL})
_REFUSED = frozenset({Signal.STILL, Signal.DENIED, Signal.NEGATED})
_COLUMN = _TROUBLES | {Signal.DONE}

_BAD_CELL = frozenset(
    [
        "fail",
        "failed",
        "failing",
        "fails",
        "red",
        "open",
        "todo",
        "pending",
        "wip",
        "blocked",
        "missing",
        "running",
        "queued",
        "no",
        "none-yet",
        "partial",
        "❌",
        "✗",
        "✘",
        "⏳",
        "🔴",
        "🟡",
        "🚧",
        "⬜",
        "☐",
        "⚠️",
        "⚠",
        "error",
        "errored",
        "unknown",
    ]
) | {
    "in progress",
    "not started",
    "to do",
    "not done",
    "offen",
    "en cours",
    "pendiente",
    "pendente",
    "in corso",
    "в работе",
    "进行中",
    "未完成",
    "未完了",
}


_SEPARATOR = re.compile(r"[|\s:=-]*-[|\s:=-]*")
_COUNTED = re.compile(r"(\d+)\s*%?")
_BEFORE = re.compile(r"\b(?:before|was|old|vorher|alt|avant|antes|prima|przed|до|önce|voor)\b|之前|以前|이전")
_FORESEEN = re.compile(r"\b(?:expected|intended|by design|erwartet|attendus?|esperad[oa]s?|attesi)\b")
_NAMED = {
    **dict.fromkeys(["open", "offen", "todo", "to do", "pending", "missing", "ouvert", "abierto", "aberto"], frozenset({Signal.OPEN})),
    **dict.fromkeys(["ok", "okay"], frozenset({Signal.DONE})),
}
_SOME = frozenset(SPELT) - {"zero"} | {"some", "many", "several", "a few"}
_YES = frozenset({"yes", "ja", "oui", "sí", "sim", "sì", "tak", "да", "так", "evet", "是", "はい", "예", "x"})
_NO = frozenset({"no", "none", "nein", "nee", "non", "não", "nie", "нет", "ні", "hayır", "否", "いいえ", "아니요", "-", "–", "—", "0"})


def open_row(units: Sequence[Unit]) -> int:
    """The line of the first table row that says that something is open; 0 if none does."""
    columns: list[frozenset[Signal]] = []
    for at, unit in enumerate(units):
        if unit.kind is not LineKind.TABLE:
            columns = []
            continue
        cells = _cells(unit.text)
        titled = at + 1 < len(units) and units[at + 1].kind is LineKind.TABLE and bool(_SEPARATOR.fullmatch(units[at + 1].text))
        if titled:
            columns = [_heading(cell) for cell in cells]
        elif not _SEPARATOR.fullmatch(unit.text) and _open_cells(cells, columns):
            return unit.number
    return 0


def _cells(text: str) -> list[str]:
    return [cell.strip(" *_`") for cell in text.casefold().strip().removeprefix("|").removesuffix("|").split("|")]


def _heading(cell: str) -> frozenset[Signal]:
    """What a column counts: troubles, successes, or neither."""
    if _BEFORE.search(cell) or _FORESEEN.search(cell):
        return frozenset()
    return weighed(cell) & _COLUMN | _NAMED.get(cell, frozenset())


def _open_cells(cells: list[str], columns: list[frozenset[Signal]]) -> bool:
    if any("<promise" in cell or "<response" in cell or TAG_MARK in cell for cell in cells):
        return False
    if any(_contradicts(cell, column) for cell, column in zip(cells, columns, strict=False)):
        return True
    last, column = cells[-1], columns[len(cells) - 1] if len(columns) >= len(cells) else frozenset[Signal]()
    if column & _TROUBLES and last in _NO:
        return False
    return last in _BAD_CELL or bool(WAITING_EMOJI.match(last)) or _any_word(last) or (len(last.split()) <= 4 and bool(weighed(last) & _REFUSED))


def _contradicts(cell: str, column: frozenset[Signal]) -> bool:
    """A trouble that is counted, or a success of which there is none."""
    counted = _COUNTED.fullmatch(cell)
    if column & _TROUBLES and (cell in _YES or cell in _SOME or (counted and int(counted[1][:9]))):
        return True
    if column and not column & {Signal.TROUBLE, Signal.DONE}:
        return not counted and cell not in _NO | {"", "n/a"}
    return Signal.DONE in column and (not cell or (counted is not None and not int(counted[1][:9])) or cell in _NO - {"-", "–", "—"})


def _any_word(cell: str) -> bool:
    return cell.split(" ", maxsplit=1)[0].strip(":,") in _BAD_CELL and not cell.startswith(("no ", "none"))
