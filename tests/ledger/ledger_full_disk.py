"""Writes until the disk is full, makes space, and goes on.

usage: ledger_full_disk.py DIRECTORY [ballast]. With `ballast` the directory is a small disk, and space comes from a file that is taken away.
Without, SQLite itself is told to behave as if the disk were full.
"""

from __future__ import annotations

import sys
from pathlib import Path

import ledger_samples as sample

from ralphloop.errors import LedgerError
from ralphloop.ledger.store import Ledger


def main(directory: Path, *, ballast: bool) -> None:
    weight = directory / "ballast"
    with Ledger(directory / "ledger.db") as ledger:
        ledger.create_loop(sample.spec(), sample.ME, at=1.0)
        if ballast:
            weight.write_bytes(b"x" * 1_500_000)
        else:
            ledger.database._connection.execute("PRAGMA max_page_count = 200")
        written = write_until_full(ledger)
        if ballast:
            weight.unlink()
        else:
            ledger.database._connection.execute("PRAGMA max_page_count = 100000")
        append(ledger, written + 1)
        times = [entry.at for entry in ledger.read("loop-1")]
    assert times == [float(seq) for seq in range(1, written + 2)], times
    sys.stdout.write("all kept\n")


def write_until_full(ledger: Ledger) -> int:
    """The number of entries that were acknowledged."""
    written = 0
    try:
        while True:
            append(ledger, written + 1)
            written += 1
    except LedgerError as error:
        assert written > 5, written
        sys.stdout.write(f"LedgerError: {error}\n")
    return written


def append(ledger: Ledger, seq: int) -> None:
    ledger.append("loop-1", seq, [sample.cheap(seq, "x" * 50_000)], sample.rollup(seq), durable=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), ballast="ballast" in sys.argv[2:])
