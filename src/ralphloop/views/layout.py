"""Facts → the lines of a terminal: labels in a column, words wrapped beside it."""

from __future__ import annotations

from typing import assert_never

from ralphloop.views.facts import Closing, Line, Row, Title
from ralphloop.views.style import Style
from ralphloop.views.text import clip, pad, wrap

LABEL = 8
NARROWEST = 20
LONGEST = 1000


def layout(row: Row, style: Style) -> list[str]:
    """The lines that show it."""
    match row:
        case Title():
            return ["", style.rule(row.text)]
        case Closing():
            return ["", *(style.paint(text, row.colour) for text in wrap(clip(row.text, LONGEST), style.width))]
        case Line():
            return _labelled(row, style)
    assert_never(row)


def _labelled(row: Line, style: Style) -> list[str]:
    beside = max(style.width - LABEL, NARROWEST) if style.width else 0
    label = style.paint(row.label, row.colour or "dim") + pad("", LABEL - len(row.label))
    first, *rest = wrap(clip(row.text, LONGEST), beside)
    return [f"{label}{first}".rstrip(), *(" " * LABEL + text for text in rest)]
