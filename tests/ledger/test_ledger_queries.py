"""Views read cheaply: by index, without heavy imports, and without ever creating or changing anything."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import fields
from pathlib import Path

import ledger_samples as sample
import pytest

from ralphloop.core.messages import RequestTaken
from ralphloop.core.rollup import Rollup
from ralphloop.errors import LedgerError
from ralphloop.ledger.inbox import Inbox
from ralphloop.ledger.outbox import Notice, Outbox
from ralphloop.ledger.queries import LoopRow, Queries
from ralphloop.ledger.store import Ledger


def test_no_ledger_means_no_loops_and_none_is_created(path: Path) -> None:
    with Queries(path) as queries:
        assert queries.loops() == []
        assert queries.find("demo") is None
        assert queries.latest("/projects/demo", "demo") is None
        assert list(queries.entries_raw("loop-1")) == []
    assert not path.parent.exists()


def test_an_empty_file_means_no_loops(tmp_path: Path) -> None:
    empty = tmp_path / "ledger.db"
    empty.touch()
    with Queries(empty) as queries:
        assert queries.loops() == []
    assert empty.stat().st_size == 0


def test_a_view_that_was_open_before_the_ledger_existed_sees_the_loops_that_come(path: Path, queries: Queries) -> None:
    assert queries.loops() == []
    with Ledger(path) as ledger:
        ledger.create_loop(sample.spec(), sample.ME, at=1.0)
        assert [row.id for row in queries.loops()] == ["loop-1"]


@pytest.mark.usefixtures("ledger")
def test_a_row_says_who_the_loop_is_and_which_process_runs_it(queries: Queries) -> None:
    (row,) = queries.loops()
    assert (row.id, row.name, row.workspace, row.kind, row.task_file, row.created_at) == (
        "loop-1",
        "demo",
        "/projects/demo",
        "checklist",
        "PRD.md",
        1.0,
    )
    assert (row.boot_id, row.pid, row.started, row.incarnation) == ("boot-1", 4711, "123456", 1)


def test_a_row_has_every_roll_up_column() -> None:
    assert {field.name for field in fields(Rollup)} <= set(LoopRow._fields)


def test_history_stays_and_the_newest_loop_is_found_even_if_the_clock_went_back(ledger: Ledger, queries: Queries) -> None:
    ledger.create_loop(sample.spec("loop-2", workspace="/projects/other"), sample.ME, at=9.0)
    ledger.create_loop(sample.spec("loop-3"), sample.ME, at=0.5)
    ledger.create_loop(sample.spec("loop-4", workspace="/projects/other"), sample.ME, at=0.1)
    ledger.create_loop(sample.spec("loop-5", name="docs"), sample.ME, at=0.2)
    assert [row.id for row in queries.loops()] == ["loop-5", "loop-4", "loop-3", "loop-2", "loop-1"]
    assert found(queries.find("demo")) == "loop-4"
    assert found(queries.find("demo", "/projects/demo")) == "loop-3"
    assert found(queries.latest("/projects/demo", "demo")) == "loop-3"
    assert found(queries.find("demo", "/projects/nowhere")) is None


def found(row: LoopRow | None) -> str | None:
    return row.id if row else None


def test_the_stream_can_be_followed_from_any_entry(ledger: Ledger, queries: Queries) -> None:
    ledger.append("loop-1", 1, [sample.cheap(number) for number in range(1, 601)], sample.rollup(), durable=False)
    assert [row.seq for row in queries.entries_raw("loop-1")] == list(range(1, 601))
    assert [row.seq for row in queries.entries_raw("loop-1", since_seq=598)] == [599, 600]
    ledger.append("loop-1", 601, [sample.cheap(601)], sample.rollup(), durable=False)
    assert [row.seq for row in queries.entries_raw("loop-1", since_seq=600)] == [601]


@pytest.mark.usefixtures("ledger")
def test_the_read_side_cannot_write(queries: Queries) -> None:
    queries.loops()
    assert queries._connection is not None
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        queries._connection.execute("DELETE FROM loop")


@pytest.mark.parametrize("name", ["per%20cent", "who?mode=rw", "sharp#1", "späce é", "a;b&c=d", os.fsdecode(b"latin\xff")])
def test_any_directory_name_can_hold_the_ledger(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "ledger.db"
    with Ledger(path) as ledger, Queries(path) as queries:
        ledger.create_loop(sample.spec(), sample.ME, at=1.0)
        assert len(queries.loops()) == 1
    assert [entry.name for entry in path.parent.iterdir()] == ["ledger.db"]
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_status_loads_nothing_heavy() -> None:
    script = "import sys, click, ralphloop.ledger.queries; print(*sys.modules)"
    loaded = set(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split())
    assert "ralphloop.ledger.queries" in loaded
    assert not loaded & {"json", "dataclasses", "pathlib", "asyncio", "urllib.parse", "subprocess", "tempfile"}
    assert {name for name in loaded if name.startswith("ralphloop.core.")} == {"ralphloop.core.identity"}


@pytest.fixture
def long_ledger(ledger: Ledger) -> Ledger:
    for first in range(1, 20_001, 1000):
        ledger.append("loop-1", first, [sample.cheap(seq) for seq in range(first, first + 1000)], sample.rollup(), durable=False)
    return ledger


def test_no_statement_reads_more_than_it_needs(long_ledger: Ledger, queries: Queries, path: Path) -> None:
    queries.loops()
    statements: list[str] = []
    assert queries._connection is not None
    for connection in (queries._connection, long_ledger.database._connection):
        connection.set_trace_callback(statements.append)
    use_everything(long_ledger, queries)
    seen = {statement for statement in statements if statement.lstrip().startswith(("SELECT", "INSERT", "UPDATE"))}
    assert len(seen) >= 15
    with closing(sqlite3.connect(path)) as connection:
        plans = [(row[3], statement) for statement in seen for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
    (whole,) = [statement for plan, statement in plans if "SCAN" in plan]
    assert whole.endswith("FROM loop ORDER BY n DESC")  # the list of all loops reads all loops; nothing else reads a whole table
    searches = {plan for plan, _ in plans}
    assert {"SEARCH inbox USING INDEX inbox_open (loop_id=? AND id>?)", "SEARCH outbox USING INDEX outbox_due (next_at<?)"} <= searches


def use_everything(ledger: Ledger, queries: Queries) -> None:
    queries.loops()
    queries.find("demo")
    queries.latest("/projects/demo", "demo")
    list(queries.entries_raw("loop-1", since_seq=19_999))
    inbox, outbox = Inbox(ledger.database), Outbox(ledger.database)
    request_id = inbox.put("loop-1", "tell", "hello", author="ann", at=1.0)
    inbox.take("loop-1", 1)
    taken = RequestTaken(at=1.0, kind="tell", author="ann", request_id=request_id)
    notices = [Notice(seq=20_001, kind=kind, json="{}", at=1.0) for kind in ("slack", "discord")]
    ledger.append("loop-1", 20_001, [taken], sample.rollup(), durable=True, notices=notices)
    first, second = outbox.pending(now=2.0)
    outbox.sent(first.id, at=2.0)
    outbox.failed(second.id, next_at=3.0)
    ledger.create_loop(sample.spec("loop-2"), sample.ME, at=1.0)
    ledger.take_over("loop-1", sample.OTHER, 2)
    with pytest.raises(LedgerError):
        ledger.append("loop-1", 1, [], sample.rollup(), durable=False)
    next(ledger.read("loop-1"))
