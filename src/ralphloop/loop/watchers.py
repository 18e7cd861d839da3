"""Views of a loop: several as one, and none."""

from __future__ import annotations

from ralphloop.core.messages import Entry, Event
from ralphloop.core.model import Gate
from ralphloop.core.ports import Watcher
from ralphloop.core.state import LoopState


class Watchers:
    """Several watchers as one (ports.Watcher)."""

    def __init__(self, *watchers: Watcher) -> None:
        self._watchers = watchers

    def entry(self, entry: Entry, state: LoopState) -> None:
        """Tell each."""
        for watcher in self._watchers:
            watcher.entry(entry, state)

    def event(self, event: Event) -> None:
        """Tell each."""
        for watcher in self._watchers:
            watcher.event(event)

    def gate_started(self, gate: Gate) -> None:
        """Tell each."""
        for watcher in self._watchers:
            watcher.gate_started(gate)

    def waiting(self, until: float) -> None:
        """Tell each."""
        for watcher in self._watchers:
            watcher.waiting(until)


class Unwatched:
    """A watcher that shows nothing."""

    def entry(self, entry: Entry, state: LoopState) -> None:
        """Let it pass."""

    def event(self, event: Event) -> None:
        """Let it pass."""

    def gate_started(self, gate: Gate) -> None:
        """Let it pass."""

    def waiting(self, until: float) -> None:
        """Let it pass."""
