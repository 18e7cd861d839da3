"""What is asked of a running loop: by signals, and by people through the inbox."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from ralphloop.core.messages import NOW, STOP, RequestSeen
from ralphloop.errors import LedgerError
from ralphloop.ledger.inbox import Inbox
from ralphloop.process.signals import StopFlag


class Wishes:
    """Signals and the inbox, as one stream of requests (ports.Requests)."""

    def __init__(self, stop: StopFlag, inbox: Inbox, loop_id: str, incarnation: int, now: Callable[[], float]) -> None:
        self._stop, self._inbox, self._loop_id, self._incarnation, self._now = stop, inbox, loop_id, incarnation, now
        self._told = False
        self._thread = threading.get_ident()

    def listen(self) -> None:
        """In the middle of an operation: end it if somebody asks for an end now. What asked for it is taken afterwards."""
        author = next((author for author, words in self._stops() if words == NOW), None)
        if author is not None and not self._told:
            self._told = True
            self._stop.request(author)
            self._stop.request(author)

    def stop_is_wanted(self) -> bool:
        """Whether anybody wants the loop to end, soon or now."""
        return self._stop.level > 0 or bool(self._stops())

    def _stops(self) -> list[tuple[str, str]]:
        if threading.get_ident() != self._thread:  # the ledger belongs to the thread of the loop
            return []
        with suppress(LedgerError):  # if that lasts, the next entry says so; it is no reason to end an agent
            return self._inbox.stops(self._loop_id, self._incarnation)
        return []

    def take(self) -> Sequence[RequestSeen]:
        """Every request that was not taken before."""
        self._stop.drain()
        requests = list(self._inbox.take(self._loop_id, self._incarnation))
        if self._stop.level and not self._told:
            self._told = True
            requests.append(RequestSeen(at=self._now(), kind=STOP, author=self._stop.author or "a signal"))
        return requests
