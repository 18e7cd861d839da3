"""How one stream is written to: colours, symbols, width and the amount of detail. Fixed when the stream is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from ralphloop.views import terminal
from ralphloop.views.text import clip, tilde
from ralphloop.views.text import width as text_width

SYMBOLS = {
    "tool": ("⏺", "*"),
    "ok": ("✅", "[OK]"),
    "error": ("❌", "[ERR]"),
    "todo": ("📋", "[TODO]"),
    "done": ("✅", "[x]"),
    "active": ("🔄", "[>]"),
    "pending": ("⏸️", "[ ]"),
    "progress": ("📊", "[..]"),
}
WIDEST_RULE = 100
STAMP, STAMP_COLUMNS = "[%H:%M:%S] ", 11


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The plain style is the default: no colour, no emoji, no bound on the width (0), nothing that moves.

    `live` lets a line stand only until there is something to tell. `width` is what text may take: a time stamp stands outside of it.
    `max_lines` and `max_chars` are shown of what a tool put out.
    """

    colour: bool = False
    emoji: bool = False
    live: bool = False
    width: int = 0
    home: str = ""
    timestamps: bool = False
    max_lines: int = 3
    max_chars: int = 400

    def paint(self, text: str, colour: str | None) -> str:
        """The text in that colour, where there are colours."""
        return terminal.paint(text, colour) if self.colour else text

    def symbol(self, name: str) -> str:
        """The emoji of that name, or the text that stands for it."""
        return SYMBOLS[name][0 if self.emoji else 1]

    def path(self, path: str) -> str:
        """A path, harmless, with `~` for home."""
        return tilde(path, self.home)

    def rule(self, title: str) -> str:
        """A line with a title, drawn across the terminal."""
        if not self.width:
            return self.paint(f"── {title}", "bold")
        columns = min(self.width, WIDEST_RULE)
        title = clip(title, max(columns - 4, 1))
        rest = columns - 4 - text_width(title)
        return self.paint(f"── {title} ", "bold") + self.paint("─" * rest, "dim")


def style_for(out: TextIO, environment: Mapping[str, str], *, colour: bool | None = None, emoji: bool = True, timestamps: bool = False) -> Style:
    """The style that fits this stream; what is not a terminal gets plain text."""
    seen = terminal.is_terminal(out)
    columns = terminal.columns(out) if seen else 0
    return Style(
        colour=terminal.wants_colour(out, environment, colour),
        emoji=emoji and seen,
        live=columns > 0 and environment.get("TERM") != "dumb",
        width=max(columns - STAMP_COLUMNS, 1) if columns and timestamps else columns,
        home=environment.get("HOME", ""),
        timestamps=timestamps,
    )
