"""Values on their way into SQL."""

from __future__ import annotations

from collections.abc import Iterable


def bindable(values: Iterable[object]) -> tuple[object, ...]:
    r"""The values, with lone surrogates in text (a path or an argument that was no UTF-8) as `\udcff`: SQLite stores valid Unicode only."""
    return tuple(_valid(value) if isinstance(value, str) else value for value in values)


def _valid(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
