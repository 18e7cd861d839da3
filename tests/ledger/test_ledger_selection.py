"""Who adds up what loops cost reads the few entries that tell of it, in pieces, however long the streams are."""

from __future__ import annotations

import ledger_samples as sample
import pytest

from ralphloop.ledger import queries as module
from ralphloop.ledger.queries import Queries
from ralphloop.ledger.store import Ledger

pytest_plugins = ["ledger_fixtures"]


def seqs(queries: Queries, *types: str) -> list[int]:
    (row,) = queries.loops()
    return [entry.seq for entry in queries.entries_without(row, types)]


@pytest.mark.parametrize(("page", "stretch"), [(256, 4096), (2, 3), (1, 1), (3, 7)])
def test_all_but_those_types_are_read_once_and_in_order(
    ledger: Ledger, queries: Queries, page: int, stretch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAGE", page)
    monkeypatch.setattr(module, "_STRETCH", stretch)
    entries = [sample.money(seq) if seq % 5 == 0 or 30 < seq < 40 else sample.cheap(seq) for seq in range(1, 61)]
    ledger.append("loop-1", 1, entries, sample.rollup(), durable=False)
    wanted = [seq for seq in range(1, 61) if seq % 5 == 0 or 30 < seq < 40]
    assert seqs(queries, "WaitStarted", "WaitEnded") == wanted
    assert seqs(queries, "AttemptLost") == [seq for seq in range(1, 61) if seq not in wanted]
    assert seqs(queries, "WaitStarted", "AttemptLost") == []


@pytest.mark.usefixtures("ledger")
def test_a_loop_without_entries_has_none(queries: Queries) -> None:
    assert seqs(queries, "WaitStarted") == []


def test_the_stream_is_read_as_far_as_the_row_knows_it(ledger: Ledger, queries: Queries) -> None:
    ledger.append("loop-1", 1, [sample.money(1)], sample.rollup(), durable=False)
    (row,) = queries.loops()
    ledger.append("loop-1", 2, [sample.money(2)], sample.rollup(), durable=False)
    assert [entry.seq for entry in queries.entries_without(row, ["WaitStarted"])] == [1]


def test_a_writer_goes_on_while_somebody_is_in_the_middle_of_reading(ledger: Ledger, queries: Queries) -> None:
    ledger.append("loop-1", 1, [sample.money(seq) for seq in range(1, 601)], sample.rollup(), durable=False)
    (row,) = queries.loops()
    reading = queries.entries_without(row, ["WaitStarted"])
    next(reading)
    ledger.append("loop-1", 601, [sample.money(601)], sample.rollup(), durable=True)
    assert queries._connection is not None
    assert not queries._connection.in_transaction
    assert len(list(reading)) == 599


def test_it_is_found_by_the_key_of_the_table(ledger: Ledger, queries: Queries) -> None:
    ledger.append("loop-1", 1, [sample.money(1)], sample.rollup(), durable=False)
    statements: list[str] = []
    (row,) = queries.loops()
    assert queries._connection is not None
    queries._connection.set_trace_callback(statements.append)
    list(queries.entries_without(row, ["WaitStarted"]))
    plans = [plan[3] for statement in statements for plan in queries._connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert any("SEARCH entry USING PRIMARY KEY (loop_id=? AND seq>? AND seq<?)" in plan for plan in plans)
    assert not any("SCAN" in plan or "TEMP B-TREE" in plan for plan in plans)
