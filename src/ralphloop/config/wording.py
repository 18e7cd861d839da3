"""How error messages quote what a person wrote, and suggest what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST_QUOTE = 60


def shortened(text: str) -> str:
    """The text, cut where it is too long for a message."""
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def printable(text: str) -> str:
    """The text on one line, without control codes: a settings file cannot write to the terminal."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def quoted(text: str) -> str:
    """The text in double quotes, printable and shortened."""
    return f'"{printable(shortened(text))}"'


def listed(words: Iterable[str], last: str = "or") -> str:
    """`a, b or c`."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    by_folded = {name.casefold(): name for name in sorted(known)}
    close = difflib.get_close_matches(word.casefold(), by_folded, n=1)
    return by_folded[close[0]] if close else None


def suggestion(word: str, known: Iterable[str]) -> str:
    """The end of an error message on an unknown word: the nearest known one, or all of them."""
    words = sorted(known)
    close = nearest(word, words)
    return f"did you mean {quoted(close)}?" if close else f"known here: {listed(words, 'and')}"
