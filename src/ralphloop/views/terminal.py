"""What an output stream can do, and the colours. Cheap to import: `ralph status` is a fast path."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


def paint(text: str, colour: str | None) -> str:
    """The text in that colour; None leaves it as it is."""
    return f"\x1b[{CODES[colour]}m{text}\x1b[0m" if colour and text else text


def is_terminal(out: TextIO) -> bool:
    """Whether a person sees this stream; a closed one shows nothing to anybody."""
    try:
        return out.isatty()
    except ValueError:
        return False


def wants_colour(out: TextIO, environment: Mapping[str, str], setting: bool | None = None) -> bool:
    """Whether to colour this stream: as the setting says, else on a terminal that has colours and where NO_COLOR does not forbid it."""
    if setting is not None:
        return setting
    return is_terminal(out) and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def columns(out: TextIO) -> int:
    """The width of the terminal; 0 where there is none."""
    try:
        return os.get_terminal_size(out.fileno()).columns
    except (OSError, ValueError):
        return 0
