"""How an attempt can end: the table of docs/reference/attempt-endings.md, from everything that Ralph sees of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import exited

from ralphloop.core.endings import classify
from ralphloop.core.model import EndedBy, Ending, RunReport, StreamReport, UsageLimit

SAID = StreamReport(final_words="I wrote the parser.")
SILENT = StreamReport()
LIMITED = StreamReport(limit=UsageLimit(resets_at=None, text="you have hit your limit"), error="limit")
ERROR = StreamReport(final_words="half", error="the server is overloaded")
FATAL = StreamReport(fatal="not logged in: run `claude login`", error="401")
BROKEN_OFF = StreamReport(final_words="half", result_seen=False)
ASKED = "the agent asked to wait: for a review"
LEAK = "process 4711 (sleep)"


def ended(by: EndedBy, code: int | None = None, signal: int | None = None) -> RunReport:
    return exited(code, signal=signal, ended_by=by)


TOTAL, IDLE, AFTER, STOPPED = EndedBy.TOTAL_TIMEOUT, EndedBy.IDLE_TIMEOUT, EndedBy.AFTER_RESULT, EndedBy.STOPPED
NOT_STARTED = RunReport(ended_by=EndedBy.NOT_STARTED, start_error="there is no program `agent`")
LEAKED = replace(exited(), leaked=LEAK)

TABLE: list[tuple[RunReport, StreamReport, bool, str, Ending, str]] = [
    # the run, what its stream said, whether anything changed, what asked to wait; the ending, and what its reason says
    (exited(0), SAID, True, "", Ending.OK, ""),
    (exited(0), SAID, False, "", Ending.OK, ""),
    (exited(0), SILENT, True, "", Ending.OK, ""),
    (ended(AFTER, None, 15), SAID, True, "", Ending.OK, ""),
    (ended(AFTER, None, 9), SAID, False, "", Ending.OK, ""),
    (ended(AFTER, 1), SAID, True, "", Ending.OK, ""),
    (exited(0), SILENT, False, "", Ending.EMPTY, "it said nothing and changed nothing"),
    (exited(0), StreamReport(final_words=" \n"), False, "", Ending.EMPTY, "it said nothing"),
    (ended(AFTER, None, 15), SILENT, False, "", Ending.EMPTY, "it said nothing"),
    (exited(1), SAID, True, "", Ending.FAILED, "it ended with exit code 1"),
    (exited(127), SILENT, False, "", Ending.FAILED, "it ended with exit code 127"),
    (replace(exited(2), stderr_tail="a\nno network\n\n"), SAID, True, "", Ending.FAILED, "exit code 2: no network"),
    (exited(None, signal=9), SAID, True, "", Ending.FAILED, "it was killed by signal 9"),
    (exited(None), SAID, True, "", Ending.FAILED, "its exit status could not be obtained"),
    (ended(TOTAL, None, 15), SAID, True, "", Ending.FAILED, "the total time-out"),
    (ended(TOTAL, 0), SAID, True, "", Ending.FAILED, "the total time-out"),
    (ended(IDLE, None, 9), SAID, True, "", Ending.FAILED, "the idle time-out"),
    (exited(0), ERROR, True, "", Ending.FAILED, "the server is overloaded"),
    (ended(AFTER, None, 15), ERROR, True, "", Ending.FAILED, "the server is overloaded"),
    (exited(0), BROKEN_OFF, True, "", Ending.FAILED, "its stream broke off without a result"),
    (exited(0), LIMITED, False, "", Ending.USAGE_LIMIT, "you have hit your limit"),
    (exited(1), LIMITED, True, "", Ending.USAGE_LIMIT, "you have hit your limit"),
    (ended(TOTAL, None, 15), LIMITED, True, "", Ending.USAGE_LIMIT, "you have hit your limit"),
    (exited(42), LIMITED, True, ASKED, Ending.USAGE_LIMIT, "you have hit your limit"),
    (exited(42), SAID, True, "", Ending.WAITING, "exit code 42"),
    (exited(42), SILENT, False, "", Ending.WAITING, "exit code 42"),
    (exited(42), ERROR, True, "", Ending.WAITING, "exit code 42"),
    (exited(42), SAID, True, ASKED, Ending.WAITING, "exit code 42"),
    (exited(0), SAID, True, ASKED, Ending.WAITING, ASKED),
    (exited(0), SILENT, False, ASKED, Ending.WAITING, ASKED),
    (exited(1), ERROR, False, ASKED, Ending.WAITING, ASKED),
    (exited(None, signal=9), SAID, True, ASKED, Ending.WAITING, ASKED),
    (ended(TOTAL, None, 15), SAID, True, ASKED, Ending.WAITING, ASKED),
    (NOT_STARTED, SILENT, False, "", Ending.FATAL, "there is no program `agent`"),
    (NOT_STARTED, SILENT, False, ASKED, Ending.FATAL, "there is no program `agent`"),
    (ended(EndedBy.NOT_STARTED), SILENT, False, "", Ending.FATAL, "the agent could not be started"),
    (exited(0), FATAL, True, "", Ending.FATAL, "not logged in"),
    (exited(1), FATAL, False, "", Ending.FATAL, "not logged in"),
    (exited(42), FATAL, False, ASKED, Ending.FATAL, "not logged in"),
    (LEAKED, SAID, True, "", Ending.FATAL, LEAK),
    (LEAKED, LIMITED, True, ASKED, Ending.FATAL, LEAK),
    (replace(LEAKED, ended_by=STOPPED), SAID, True, "", Ending.FATAL, LEAK),
    (ended(STOPPED, None, 15), SAID, True, "", Ending.INTERRUPTED, "it was stopped"),
    (ended(STOPPED, 0), SAID, True, ASKED, Ending.INTERRUPTED, "it was stopped"),
    (ended(STOPPED, 42), LIMITED, False, ASKED, Ending.INTERRUPTED, "it was stopped"),
]


@pytest.mark.parametrize(("run", "stream", "changed", "waiting", "ending", "reason"), TABLE)
def test_an_attempt_is_classified_by_all_that_was_seen_of_it(
    run: RunReport, stream: StreamReport, waiting: str, ending: Ending, reason: str, *, changed: bool
) -> None:
    said, why = classify(run, stream, changed=changed, waiting=waiting)
    assert said is ending
    assert reason in why


def test_the_table_has_a_row_for_every_ending_that_can_be_seen() -> None:
    """Lost is the one that cannot: there is no report of it."""
    assert {row[4] for row in TABLE} == set(Ending) - {Ending.LOST}


runs = st.builds(
    RunReport,
    ended_by=st.sampled_from(EndedBy),
    exit_code=st.sampled_from([None, 0, 1, 42, 130]),
    signal=st.sampled_from([None, 2, 9, 15]),
    strays=st.integers(0, 3),
    suspended_s=st.sampled_from([0.0, 9000.0]),
)
streams = st.sampled_from([SAID, SILENT, LIMITED, ERROR, FATAL, BROKEN_OFF])


@given(runs, streams, st.booleans(), st.sampled_from(["", ASKED]))
def test_what_was_left_behind_and_what_was_slept_through_classify_nothing(run: RunReport, stream: StreamReport, changed: bool, waiting: str) -> None:
    plain = replace(run, strays=0, suspended_s=0.0)
    assert classify(run, stream, changed=changed, waiting=waiting) == classify(plain, stream, changed=changed, waiting=waiting)


@given(runs, streams, st.booleans(), st.sampled_from(["", ASKED]))
def test_every_ending_but_a_good_one_has_a_reason(run: RunReport, stream: StreamReport, changed: bool, waiting: str) -> None:
    ending, reason = classify(run, stream, changed=changed, waiting=waiting)
    assert bool(reason) is (ending is not Ending.OK)


@given(runs, streams, st.booleans())
def test_a_request_to_wait_makes_no_failure_of_what_was_none_and_hides_no_fatal_one(run: RunReport, stream: StreamReport, changed: bool) -> None:
    without, _ = classify(run, stream, changed=changed)
    asked, _ = classify(run, stream, changed=changed, waiting=ASKED)
    assert asked is (without if without in {Ending.FATAL, Ending.INTERRUPTED, Ending.USAGE_LIMIT} else Ending.WAITING)
