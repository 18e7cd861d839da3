"""The names of gate logs: `guardrail_<iteration>_<slug of the command>.log`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ralphloop.core.model import Gate

SLUG_CHARS = 50

_OTHERS = re.compile(r"[^A-Za-z0-9]+")


def gate_log_names(gates: Sequence[Gate], iteration: int) -> tuple[str, ...]:
    """One name per gate, in order; no two are equal, even where a file system does not tell upper from lower case."""
    taken: set[str] = set()
    return tuple(f"guardrail_{iteration}_{_free(_slug(gate.command), taken)}.log" for gate in gates)


def _slug(command: str) -> str:
    return _OTHERS.sub("_", command).strip("_")[:SLUG_CHARS] or "gate"


def _free(slug: str, taken: set[str]) -> str:
    free, number = slug, 1
    while free.lower() in taken:
        number += 1
        free = f"{slug}_{number}"
    taken.add(free.lower())
    return free
