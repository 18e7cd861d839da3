"""Fields of JSON that nobody vouches for: the wanted type, or its empty value; never an exception."""

from __future__ import annotations

import json
import math
from typing import Any

_LARGEST_COUNT = 10**12
_LARGEST_COST_USD = 1e6
LABEL_CHARS = 200
_WHITE = " \t\r\n"


_DECODER = json.JSONDecoder()


def read_object(line: bytes) -> dict[str, Any] | None:
    """The JSON object on a line, or None where there is no such thing."""
    words = line.decode("utf-8", "replace").strip(_WHITE)
    try:
        found, end = _DECODER.raw_decode(words)  # quicker than json.loads, which looks for the same again
    except (ValueError, RecursionError):  # ValueError: also a number with thousands of digits
        return None
    return found if isinstance(found, dict) and end == len(words) else None


def text(value: Any) -> str:
    """A string that can be written as UTF-8: JSON can spell lone surrogates."""
    if not isinstance(value, str):
        return ""
    if value.isascii():  # known without a look at it
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode()
    return value


def number(value: Any) -> float | None:
    """A finite number: JSON as Python reads it also knows NaN and Infinity."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def count(value: Any) -> int:
    """A number of things, small enough to be stored anywhere."""
    found = number(value)
    return int(found) if found is not None and 0 <= found <= _LARGEST_COUNT else 0


def label(value: Any) -> str:
    """A name or an id, short enough to be kept by the thousand."""
    return text(value)[:LABEL_CHARS]


def dollars(value: Any) -> float | None:
    """What something cost; what no attempt can cost was not said."""
    found = number(value)
    return found if found is not None and 0 <= found <= _LARGEST_COST_USD else None


def mapping(value: Any) -> dict[str, Any]:
    """An object."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """An array."""
    return value if isinstance(value, list) else []
