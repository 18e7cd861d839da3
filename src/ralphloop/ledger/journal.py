"""The stream of one loop, as the loop sees it (ports.Journal)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from ralphloop.core.messages import AttemptEnded, AttemptLost, AttemptStarted, Entry, LoopEnded
from ralphloop.core.rollup import Rollup
from ralphloop.ledger.store import Ledger

State = TypeVar("State")

# What a power cut must not undo: money that is about to flow or has flowed, and the end.
_DURABLE = (AttemptStarted, AttemptEnded, AttemptLost, LoopEnded)


class StreamJournal(Generic[State]):
    """Appends to one stream from `next_seq` on. What the state looks like is the caller's business: `roll_up` makes the columns of it."""

    def __init__(self, ledger: Ledger, loop_id: str, next_seq: int, roll_up: Callable[[State], Rollup]) -> None:
        self._ledger = ledger
        self._loop_id = loop_id
        self._next_seq = next_seq
        self._roll_up = roll_up

    def append(self, entries: Sequence[Entry], state: State) -> None:
        """Write entries durably, in order; `state` is the fold including them."""
        durable = any(isinstance(entry, _DURABLE) for entry in entries)
        self._ledger.append(self._loop_id, self._next_seq, entries, self._roll_up(state), durable=durable)
        self._next_seq += len(entries)
