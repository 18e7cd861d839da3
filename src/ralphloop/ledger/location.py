"""How SQLite is told where the file is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/")


def uri(path: Path, mode: str) -> str:
    """The `file:` URI of any path, whatever bytes stand in it. By hand: urllib is too heavy an import for `status`."""
    absolute = os.fsencode(path.absolute())
    quoted = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in absolute)
    return f"file://{quoted}?mode={mode}"
