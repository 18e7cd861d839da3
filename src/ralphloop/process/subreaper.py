"""A subreaper adopts its orphans: whatever descends from it stays its descendant, whoever else dies (Linux alone has this)."""

from __future__ import annotations

import sys

_PR_SET_CHILD_SUBREAPER = 36


def become_subreaper() -> bool:
    """Have every descendant that loses its parent become a child of this process; whether the system can do that. Not inherited by a fork."""
    if sys.platform != "linux":
        return False
    import ctypes  # noqa: PLC0415 - of no use elsewhere

    number = ctypes.c_ulong
    failed: int = ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, number(1), number(0), number(0), number(0))
    return not failed
