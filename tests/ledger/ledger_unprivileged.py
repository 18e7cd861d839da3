"""Tries to write and to read a ledger without special rights, and prints what it is told. usage: ledger_unprivileged.py LEDGER"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import ledger_samples as sample

from ralphloop.errors import LedgerError
from ralphloop.ledger.queries import Queries
from ralphloop.ledger.store import Ledger

NOBODY = 65534


def write(path: Path) -> str:
    with Ledger(path) as ledger:
        ledger.create_loop(sample.spec("loop-2"), sample.ME, at=1.0)
    return "written"


def read(path: Path) -> str:
    with Queries(path) as queries:
        return f"{len(queries.loops())} loops"


def told(act: Callable[[Path], str], path: Path) -> str:
    try:
        return act(path)
    except LedgerError as error:
        return f"LedgerError: {error}"


if __name__ == "__main__":
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    for act in (write, read):
        sys.stdout.write(told(act, Path(sys.argv[1])) + "\n")
