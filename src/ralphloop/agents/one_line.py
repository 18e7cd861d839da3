"""Long things in few words, for a view that has one line for them."""

from __future__ import annotations

from typing import Any

from ralphloop.agents.fields import text

WIDTH = 120

# The first of these that a tool was given tells a reader most about what it does.
_TELLING = (
    "file_path",
    "filePath",
    "notebook_path",
    "path",
    "command",
    "cmd",
    "dir_path",
    "pattern",
    "url",
    "query",
    "skill",
    "subject",
    "taskId",
    "description",
    "prompt",
)


def one_line(words: str, width: int = WIDTH) -> str:
    """The words on one line, cut where they are too long. Only the beginning is looked at: the words may be megabytes."""
    line = " ".join(words[: 8 * width].split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def tool_summary(name: str, given: dict[str, Any]) -> str:
    """`Read /path/to/file.go`: a tool and its most telling input."""
    telling = next((text(given[key]) for key in _TELLING if text(given.get(key))), "")
    return one_line(f"{name} {telling}")
