"""Text on a terminal: made harmless, measured in columns, cut and wrapped. Cheap to import: `ralph status` is a fast path.

A column count of 0 means that there is no bound: what is not a terminal gets whole lines.
"""

from __future__ import annotations

from unicodedata import category, east_asian_width

ELLIPSIS = "…"
EMOJI_SELECTOR = "\ufe0f"


def clean(text: str) -> str:
    """The text without anything that a terminal would obey; newlines and tabs stay."""
    if text.isprintable():
        return text
    from ralphloop.views.disarm import disarm  # noqa: PLC0415 - keeps `re` off the fast path

    return disarm(text)


def one_line(text: str) -> str:
    """The text made harmless, on one line, with single spaces."""
    return " ".join(clean(text).split())


def width(text: str) -> int:
    """How many columns the text takes on a terminal (at most)."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if char.isascii() or char == EMOJI_SELECTOR:
        return 1
    if category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if east_asian_width(char) in {"W", "F"} else 1


def _fitting_end(text: str, start: int, columns: int) -> int:
    """The end of the longest piece from `start` that fits; at least one character, so that everybody who asks gets on."""
    used, end = 0, start
    while end < len(text):
        used += _cells(text[end])
        if used > columns and end > start:
            break
        end += 1
    return end


def clip(text: str, columns: int) -> str:
    """The text, cut at its end where it does not fit."""
    if not columns or width(text) <= columns:
        return text
    return text[: _fitting_end(text, 0, columns - 1)].rstrip() + ELLIPSIS if columns > 1 else ELLIPSIS


def clip_start(text: str, columns: int) -> str:
    """The text, cut at its beginning where it does not fit: of a path, the end tells more."""
    if not columns or width(text) <= columns:
        return text
    turned = text[::-1]
    return ELLIPSIS + turned[: _fitting_end(turned, 0, columns - 1)][::-1] if columns > 1 else ELLIPSIS


def pad(text: str, columns: int) -> str:
    """The text, filled with spaces to that many columns."""
    return text + " " * (columns - width(text))


def wrap(text: str, columns: int) -> list[str]:
    """The lines of the text, broken at spaces where they do not fit, their indentation kept."""
    lines = [line.expandtabs(4).rstrip() for line in text.split("\n")]
    return [piece for line in lines for piece in _broken(line, columns)]


def _broken(line: str, columns: int) -> list[str]:
    if not columns or width(line) <= columns:
        return [line]
    indent = min(len(line) - len(line.lstrip(" ")), columns // 2)
    pieces, start = [], len(line) - len(line.lstrip(" "))
    while start < len(line):
        end = _fitting_end(line, start, columns - indent)
        space = line.rfind(" ", start, end + 1)
        if end < len(line) and space > start:
            end = space
        pieces.append(" " * indent + line[start:end].rstrip())
        start = end
        while start < len(line) and line[start] == " ":
            start += 1
    return pieces


def tilde(path: str, home: str) -> str:
    """The path as a person would write it: `~` for home."""
    home = home.rstrip("/")
    if home and (path == home or path.startswith(home + "/")):
        path = "~" + path[len(home) :]
    return one_line(path)
