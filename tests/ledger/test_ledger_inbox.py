"""What people ask reaches the loop once, and reaches the right incarnation."""

from __future__ import annotations

from pathlib import Path

import ledger_samples as sample
import pytest

from ralphloop.core.messages import RequestSeen, RequestTaken
from ralphloop.errors import LedgerError
from ralphloop.ledger.inbox import Inbox
from ralphloop.ledger.store import Ledger


def append_taken(ledger: Ledger, seq: int, request: RequestSeen) -> None:
    taken = RequestTaken(at=9.0, kind=request.kind, author=request.author, text=request.text, request_id=request.request_id)
    ledger.append("loop-1", seq, [taken], sample.rollup(), durable=False)


def texts(inbox: Inbox, incarnation: int = 1) -> list[str]:
    return [request.text for request in inbox.take("loop-1", incarnation)]


@pytest.fixture
def inbox(ledger: Ledger) -> Inbox:
    return Inbox(ledger.database)


def test_a_request_of_another_process_arrives_with_all_that_it_says(ledger: Ledger, inbox: Inbox, path: Path) -> None:
    del ledger
    with Ledger(path) as elsewhere:
        request_id = Inbox(elsewhere.database).put("loop-1", "tell", "use tabs", author="ann", at=5.0)
    assert inbox.take("loop-1", 1) == [
        RequestSeen(request_id=request_id, at=5.0, kind="tell", author="ann", text="use tabs"),
    ]


def test_requests_arrive_in_order_and_each_once(inbox: Inbox) -> None:
    inbox.put("loop-1", "tell", "first", author="ann", at=5.0)
    inbox.put("loop-1", "tell", "second", author="bob", at=4.0)
    assert texts(inbox) == ["first", "second"]
    assert texts(inbox) == []
    inbox.put("loop-1", "tell", "third", author="ann", at=6.0)
    assert texts(inbox) == ["third"]


def test_a_stop_that_was_meant_for_the_last_incarnation_does_not_interrupt_the_next(inbox: Inbox) -> None:
    inbox.put("loop-1", "stop", "now", author="ann", at=5.0)
    assert inbox.stops("loop-1", 1) == [("ann", "now")]
    assert inbox.stops("loop-1", 2) == []


def test_a_request_is_taken_again_after_a_crash_before_its_entry_was_written(ledger: Ledger, inbox: Inbox) -> None:
    inbox.put("loop-1", "tell", "use tabs", author="ann", at=5.0)
    assert texts(inbox) == ["use tabs"]
    assert texts(Inbox(ledger.database)) == ["use tabs"]


def test_a_request_whose_entry_was_written_is_never_taken_again(ledger: Ledger, inbox: Inbox) -> None:
    inbox.put("loop-1", "tell", "use tabs", author="ann", at=5.0)
    inbox.put("loop-1", "tell", "and spaces", author="ann", at=5.0)
    append_taken(ledger, 1, inbox.take("loop-1", 1)[0])
    assert texts(Inbox(ledger.database)) == ["and spaces"]


def test_a_refused_append_does_not_take_the_request(ledger: Ledger, inbox: Inbox) -> None:
    inbox.put("loop-1", "tell", "use tabs", author="ann", at=5.0)
    with pytest.raises(LedgerError):
        append_taken(ledger, 7, inbox.take("loop-1", 1)[0])
    assert texts(Inbox(ledger.database)) == ["use tabs"]


def test_a_new_incarnation_drops_what_was_meant_to_end_the_old_one_and_keeps_what_was_told(ledger: Ledger, inbox: Inbox) -> None:
    inbox.put("loop-1", "stop", "old", author="ann", at=5.0)
    inbox.put("loop-1", "tell", "use tabs", author="ann", at=5.0)
    ledger.take_over("loop-1", sample.OTHER, 2)
    inbox.put("loop-1", "stop", "new", author="ann", at=6.0)
    assert texts(Inbox(ledger.database), incarnation=2) == ["use tabs", "new"]


def test_requests_of_other_loops_are_left_alone(ledger: Ledger, inbox: Inbox) -> None:
    ledger.create_loop(sample.spec("loop-2"), sample.ME, at=2.0)
    inbox.put("loop-2", "stop", "", author="ann", at=5.0)
    assert texts(inbox) == []


def test_a_request_to_a_loop_that_does_not_exist_is_an_error(inbox: Inbox) -> None:
    with pytest.raises(LedgerError, match="no loop ghost"):
        inbox.put("ghost", "stop", "", author="ann", at=5.0)


def test_a_request_that_is_no_valid_unicode_can_be_left(inbox: Inbox) -> None:
    inbox.put("loop-1", "tell", "caf\udce9", author="ann\udcff", at=5.0)
    assert texts(inbox) == ["caf\\udce9"]
