"""A writing process of its own: appends to one loop and says on standard output which entry is committed.

usage: ledger_writer.py LEDGER LOOP_ID COUNT. A loop that exists is taken over. COUNT 0: until killed.
"""

from __future__ import annotations

import os
import sys
from itertools import count
from pathlib import Path

import ledger_samples as sample

from ralphloop.ledger.inbox import Inbox
from ralphloop.ledger.queries import Queries
from ralphloop.ledger.store import Ledger


def main(path: Path, loop_id: str, wanted: int) -> None:
    with Ledger(path) as ledger, Queries(path) as queries:
        row = queries.find(loop_id)
        if row is None:
            ledger.create_loop(sample.spec(loop_id, name=loop_id), sample.ME, at=1.0)
        else:
            ledger.take_over(loop_id, sample.ME, row.incarnation + 1)
        first = 1 + (row.last_seq if row else 0)
        for seq in count(first) if wanted == 0 else range(first, first + wanted):
            entry = sample.money(seq) if seq % 5 == 0 else sample.cheap(seq)
            ledger.append(loop_id, seq, [entry], sample.rollup(seq), durable=seq % 5 == 0)
            os.write(1, b"%d\n" % seq)
            if seq % 10 == 0:
                Inbox(ledger.database).put(loop_id, "tell", "hello", author="ann", at=1.0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
