"""`ralph agents`: the agents there are, and what is installed of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ralphloop.views.style import Style
from ralphloop.views.text import clip, one_line, pad, width

HEADINGS = ("AGENT", "VERSION", "NEEDS", "LOGIN", "PROGRAM")
GAP = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRow:
    """One agent in words. `remark`: what speaks against using it."""

    name: str
    version: str
    needs: str
    login: str
    program: str
    remark: str = ""
    usable: bool = True


def render_agents(rows: Sequence[AgentRow], style: Style) -> str:
    """The table, each remark on a line of its own."""
    cells = [tuple(map(one_line, (row.name, row.version, row.needs, row.login, style.path(row.program)))) for row in rows]
    widths = [max(map(width, column)) for column in zip(HEADINGS, *cells, strict=True)]
    lines = [_line(HEADINGS, widths, style)]
    for row, line in zip(rows, cells, strict=True):
        lines.append(style.paint(_line(line, widths, style), None if row.usable else "dim"))
        if row.remark:
            lines.append(style.paint(clip(f"  {one_line(row.remark)}", style.width), "yellow"))
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int], style: Style) -> str:
    return clip(GAP.join(pad(text, size) for text, size in zip(cells, widths, strict=True)).rstrip(), style.width)
