"""A settings document as every reader gives it (JSON today): values that know their lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One value. `line` is where it begins, `key_line` where the key that names it stands; None: it has no line."""

    value: Scalar | tuple[Node, ...] | dict[str, Node]
    line: int | None = None
    key_line: int | None = None


def node_of(value: Any) -> Node:
    """The tree of a plain value that stands in no file."""
    if isinstance(value, dict):
        return Node(value={name: node_of(member) for name, member in value.items()})
    if isinstance(value, list | tuple):
        return Node(value=tuple(node_of(item) for item in value))
    return Node(value=value)
