"""A notice is queued with its entry, once, and stays due until it was sent."""

from __future__ import annotations

from pathlib import Path

import ledger_samples as sample
import pytest

from ralphloop.errors import Fenced
from ralphloop.ledger.outbox import Notice, Outbox
from ralphloop.ledger.store import Ledger


def append(ledger: Ledger, seq: int, *notices: Notice) -> None:
    ledger.append("loop-1", seq, [sample.cheap(seq)], sample.rollup(), durable=False, notices=notices)


def notice(seq: int, kind: str = "slack", text: str = "{}") -> Notice:
    return Notice(seq=seq, kind=kind, json=text, at=float(seq))


@pytest.fixture
def outbox(ledger: Ledger) -> Outbox:
    return Outbox(ledger.database)


def test_notices_are_due_at_once_and_in_order(ledger: Ledger, outbox: Outbox) -> None:
    append(ledger, 1, notice(1))
    append(ledger, 2, notice(2, "slack"), notice(2, "discord"))
    assert [(one.loop_id, one.attempts, one.notice) for one in outbox.pending(now=2.0)] == [
        ("loop-1", 0, notice(1)),
        ("loop-1", 0, notice(2, "slack")),
        ("loop-1", 0, notice(2, "discord")),
    ]
    assert len(outbox.pending(now=2.0, limit=2)) == 2


def test_a_second_notice_of_one_kind_about_one_entry_is_not_queued(ledger: Ledger, outbox: Outbox) -> None:
    append(ledger, 1, notice(1, text='"first"'), notice(1, text='"again"'))
    append(ledger, 2, notice(1, text='"later"'))
    assert [one.notice.json for one in outbox.pending(now=9.0)] == ['"first"']


def test_what_was_sent_is_never_due_again_and_never_queued_again(ledger: Ledger, outbox: Outbox) -> None:
    append(ledger, 1, notice(1))
    (due,) = outbox.pending(now=9.0)
    outbox.sent(due.id, at=9.0)
    append(ledger, 2, notice(1))
    assert outbox.pending(now=1e12) == []


def test_what_could_not_be_sent_is_due_again_later(ledger: Ledger, outbox: Outbox) -> None:
    append(ledger, 1, notice(1))
    (due,) = outbox.pending(now=1.0)
    outbox.failed(due.id, next_at=60.0)
    assert outbox.pending(now=59.0) == []
    (again,) = outbox.pending(now=60.0)
    assert (again.id, again.attempts) == (due.id, 1)


def test_a_refused_append_queues_nothing(ledger: Ledger, outbox: Outbox) -> None:
    with pytest.raises(Fenced):
        append(ledger, 5, notice(5))
    assert outbox.pending(now=9.0) == []


def test_row_notifications_go_on_from_the_outbox_after_a_crash(path: Path, ledger: Ledger) -> None:
    append(ledger, 1, notice(1), notice(1, "discord"))
    (first, _) = Outbox(ledger.database).pending(now=9.0)
    Outbox(ledger.database).sent(first.id, at=9.0)
    ledger.close()  # all that a crash leaves is the file
    with Ledger(path) as again:
        again.take_over("loop-1", sample.ME, 2)
        assert [one.notice for one in Outbox(again.database).pending(now=9.0)] == [notice(1, "discord")]
