"""A stream has one writer, and holds what was written, in order."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import ledger_samples as sample
import pytest

from ralphloop import __version__
from ralphloop.core.claims import ClaimReading
from ralphloop.core.messages import AttemptEnded, AttemptLost, AttemptStarted, Entry, LoopEnded
from ralphloop.core.model import EndedBy, Outcome, OutcomeKind, Purpose, RunReport, StreamReport
from ralphloop.core.ports import Journal
from ralphloop.core.rollup import Rollup
from ralphloop.core.state import LoopState
from ralphloop.errors import Fenced, LedgerError
from ralphloop.ledger.codec import UnknownEntry
from ralphloop.ledger.journal import StreamJournal
from ralphloop.ledger.queries import Queries
from ralphloop.ledger.store import Ledger

MONEY_ENTRIES: list[Entry] = [
    AttemptStarted(at=1.0, iteration=1, attempt=1, purpose=Purpose.WORK, run_id="r1"),
    AttemptEnded(
        at=2.0,
        dice=0.5,
        run=RunReport(ended_by=EndedBy.EXIT, exit_code=0),
        stream=StreamReport(),
        claim=ClaimReading(claimed=False, why="no tag"),
        charged_usd=0.01,
        estimated=False,
    ),
    AttemptLost(at=2.0, charged_usd=0.01),
    LoopEnded(at=3.0, outcome=Outcome(kind=OutcomeKind.DONE, reason="all done")),
]


def append(ledger: Ledger, first_seq: int, *entries: Entry) -> None:
    ledger.append("loop-1", first_seq, entries, sample.rollup(), durable=False)


def journal_of(ledger: Ledger) -> StreamJournal[Rollup]:
    return StreamJournal(ledger, "loop-1", 1, lambda state: state)


def test_a_stream_is_read_back_as_it_was_written_however_long_it_is(ledger: Ledger) -> None:
    written = [sample.started(), *(sample.cheap(number) for number in range(2, 1001))]
    append(ledger, 1, *written[:3])
    append(ledger, 4, *written[3:])
    assert list(ledger.read("loop-1")) == written


def test_streams_of_two_loops_do_not_mix(ledger: Ledger) -> None:
    ledger.create_loop(sample.spec("loop-2"), sample.ME, at=2.0)
    append(ledger, 1, sample.started())
    ledger.append("loop-2", 1, [sample.cheap(1)], sample.rollup(), durable=False)
    assert list(ledger.read("loop-1")) == [sample.started()]
    assert list(ledger.read("loop-2")) == [sample.cheap(1)]


def test_reading_a_loop_that_does_not_exist_yields_nothing(ledger: Ledger) -> None:
    assert list(ledger.read("no-such-loop")) == []


def test_the_roll_up_is_written_with_the_entries(ledger: Ledger, queries: Queries) -> None:
    row_before = queries.latest("/projects/demo", "demo")
    ledger.append("loop-1", 1, [sample.started()], sample.rollup(7, status="waiting", task="tie the knot", cost_usd=0.1), durable=True)
    row = queries.latest("/projects/demo", "demo")
    assert row_before is not None
    assert (row_before.last_seq, row_before.status, row_before.max_iterations) == (0, "running", 30)
    assert row is not None
    assert (row.last_seq, row.status, row.iteration, row.task, row.cost_usd, row.step) == (1, "waiting", 7, "tie the knot", 0.1, "run_agent")


def test_of_two_ledgers_only_the_one_that_took_over_writes_from_the_moment_it_did(ledger: Ledger, path: Path) -> None:
    append(ledger, 1, sample.started())
    with Ledger(path) as second:
        second.take_over("loop-1", sample.OTHER, 2)
        with pytest.raises(Fenced, match=r"loop-1 .* process 4712 \(incarnation 2\)"):
            append(ledger, 2, sample.cheap(2))
        append(second, 2, sample.cheap(3))
        assert list(second.read("loop-1")) == [sample.started(), sample.cheap(3)]


@pytest.mark.usefixtures("ledger")
def test_of_two_processes_that_resume_at_once_one_is_refused(path: Path) -> None:
    with Ledger(path) as first, Ledger(path) as second:
        first.take_over("loop-1", sample.OTHER, 2)
        with pytest.raises(Fenced):
            second.take_over("loop-1", sample.ME, 2)


@pytest.mark.parametrize("seq", [1, 3])
def test_a_seq_that_is_not_the_next_one_is_fenced_and_writes_nothing(ledger: Ledger, queries: Queries, seq: int) -> None:
    append(ledger, 1, sample.started())
    with pytest.raises(Fenced):
        ledger.append("loop-1", seq, [sample.cheap(9)], sample.rollup(9), durable=False)
    assert list(ledger.read("loop-1")) == [sample.started()]
    (row,) = queries.loops()
    assert (row.last_seq, row.iteration) == (1, 0)


def test_a_loop_that_was_neither_created_nor_taken_over_cannot_be_written(ledger: Ledger, path: Path) -> None:
    append(ledger, 1, sample.started())
    with Ledger(path) as stranger, pytest.raises(Fenced):
        append(stranger, 2, sample.cheap(2))


def test_appending_to_a_loop_that_does_not_exist_says_so(ledger: Ledger, path: Path) -> None:
    with pytest.raises(LedgerError, match="no loop ghost") as caught:
        ledger.append("ghost", 1, [sample.started()], sample.rollup(), durable=False)
    assert not isinstance(caught.value, Fenced)
    assert str(path) in str(caught.value)


def test_taking_over_makes_an_ended_loop_run_again_as_this_process(ledger: Ledger, queries: Queries) -> None:
    ended = sample.rollup(5, status="failed", outcome="limit", exit_code=1)
    ledger.append("loop-1", 1, [sample.started()], ended, durable=True)
    ledger.take_over("loop-1", sample.OTHER, 2)
    row = queries.find("demo")
    assert row is not None
    assert (row.status, row.outcome, row.exit_code, row.incarnation, row.pid) == ("running", None, None, 2, sample.OTHER.pid)
    assert (row.iteration, row.last_seq) == (5, 1)


def test_creating_a_loop_twice_is_an_error_and_not_a_traceback(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="there is a loop loop-1"):
        ledger.create_loop(sample.spec(), sample.ME, at=2.0)


def test_text_that_is_no_valid_unicode_does_not_stop_the_writer(ledger: Ledger, queries: Queries) -> None:
    ledger.create_loop(sample.spec("loop-2", name="odd", workspace="/projects/\udcff"), sample.ME, at=1.0)
    odd = sample.cheap(1, "\udcff \ud800")
    ledger.append("loop-2", 1, [odd], sample.rollup(task="\udcff"), durable=False)
    assert list(ledger.read("loop-2")) == [odd]
    row = queries.latest("/projects/\udcff", "odd")
    assert row is not None
    assert row.task == "\\udcff"


def test_a_journal_goes_on_from_its_next_seq(ledger: Ledger, queries: Queries) -> None:
    journal = journal_of(ledger)
    journal.append([sample.started(), sample.cheap(2)], sample.rollup(1))
    journal.append([sample.cheap(3)], sample.rollup(2))
    assert [row.seq for row in queries.entries_raw("loop-1")] == [1, 2, 3]
    (row,) = queries.loops()
    assert (row.iteration, row.last_seq) == (2, 3)


def test_a_journal_satisfies_the_port_of_the_loop(ledger: Ledger) -> None:
    def roll_up(state: LoopState) -> Rollup:
        return sample.rollup(state.iteration)

    journal: Journal = StreamJournal(ledger, "loop-1", 1, roll_up)
    journal.append([sample.started()], LoopState(spec=sample.spec(), at=1.0))
    assert list(ledger.read("loop-1")) == [sample.started()]


@pytest.mark.parametrize("entry", MONEY_ENTRIES, ids=lambda entry: type(entry).__name__)
def test_money_is_synced_to_the_disk_even_in_the_middle_of_a_batch(ledger: Ledger, entry: Entry) -> None:
    assert synchronous_during(ledger, lambda: journal_of(ledger).append([sample.cheap(1), entry, sample.cheap(3)], sample.rollup())) == "FULL"


def test_what_costs_nothing_is_not_synced(ledger: Ledger) -> None:
    journal = journal_of(ledger)
    journal.append([MONEY_ENTRIES[0]], sample.rollup())
    assert synchronous_during(ledger, lambda: journal.append([sample.cheap(2)], sample.rollup())) == "NORMAL"


def synchronous_during(ledger: Ledger, act: Callable[[], None]) -> str:
    """The setting that was in force while the act committed, as SQLite itself reports it."""
    seen: list[int] = []
    connection = ledger.database._connection

    def look(statement: str) -> None:
        if statement == "COMMIT":
            connection.set_trace_callback(None)
            seen.extend(connection.execute("PRAGMA synchronous").fetchone())

    connection.set_trace_callback(look)
    act()
    return {1: "NORMAL", 2: "FULL"}[seen[0]]


def test_an_entry_of_a_newer_program_refuses_to_be_resumed_and_names_the_version_but_is_shown_raw(ledger: Ledger, path: Path) -> None:
    append(ledger, 1, sample.started())
    with closing(sqlite3.connect(path, isolation_level=None)) as newer:
        newer.execute("""INSERT INTO entry VALUES ('loop-1', 2, 'MoonLanded', 3, 5.0, '{"at":5.0}')""")
        newer.execute("UPDATE loop SET last_seq = 2, program = '7.3.0'")
    stream = ledger.read("loop-1")
    assert next(stream) == sample.started()
    with pytest.raises(UnknownEntry, match="MoonLanded v3") as caught:
        next(stream)
    assert "7.3.0" in str(caught.value)
    assert __version__ in str(caught.value)
    with Queries(path) as queries:
        assert [(row.seq, row.type, row.v, row.at, row.json) for row in queries.entries_raw("loop-1", since_seq=1)] == [
            (2, "MoonLanded", 3, 5.0, '{"at":5.0}'),
        ]


def test_a_seq_that_is_already_written_is_fenced_and_nothing_of_the_batch_stays(ledger: Ledger, queries: Queries) -> None:
    append(ledger, 1, sample.started())
    with closing(sqlite3.connect(ledger.database.path, isolation_level=None)) as other:
        other.execute("INSERT INTO entry VALUES ('loop-1', 3, 'X', 1, 0, '')")
    with pytest.raises(Fenced):
        ledger.append("loop-1", 2, [sample.cheap(2), sample.cheap(3)], sample.rollup(9), durable=False)
    assert [row.seq for row in queries.entries_raw("loop-1")] == [1, 3]
    (row,) = queries.loops()
    assert (row.last_seq, row.iteration) == (1, 0)
