"""The loop. What is about to be done is written down, done, looked at, and what follows from it is written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ralphloop.core.decide import begin, close_open, decide, next_action
from ralphloop.core.evolve import evolve
from ralphloop.core.messages import Entry, Judge, LoopResumed, Restore, Stop
from ralphloop.core.model import Outcome, OutcomeKind
from ralphloop.core.ports import Ports
from ralphloop.core.state import LoopState
from ralphloop.loop.perform import look_again, perform


def run(state: LoopState, ports: Ports) -> Outcome:
    """Turn until the loop has an outcome."""
    while True:
        for request in ports.requests.take():
            state = record(state, decide(state, request), ports)
        action = next_action(state)
        state = record(state, begin(state, action, ports.clock.now()), ports)
        if isinstance(action, Stop):
            return action.outcome
        seen = perform(action, state, ports)
        state = record(state, decide(state, seen), ports)


def reopen(state: LoopState, resumed: LoopResumed, ports: Ports) -> LoopState:
    """The state of a loop that is taken up again: what a person changed meanwhile is seen, and what was open when it died is closed."""
    if state.outcome is not None and state.outcome.kind is OutcomeKind.WAITING:
        ports.work.consume()
    state = record(state, [replace(resumed, look=look_again(state, ports))], ports)
    return record(state, list(close_open(state, resumed.at)), ports)


def settle(state: LoopState, ports: Ports) -> LoopState:
    """Judge what a lost attempt left and put it right, and do no more: nothing else may look at the disk before."""
    while isinstance(action := next_action(state), Judge | Restore):
        state = record(state, begin(state, action, ports.clock.now()), ports)
        state = record(state, decide(state, perform(action, state, ports)), ports)
    return state


def record(state: LoopState, entries: Sequence[Entry], ports: Ports) -> LoopState:
    """Write entries down, all or none, then tell the views. The one place where a loop's state changes."""
    states = [state]
    for entry in entries:
        states.append(evolve(states[-1], entry))
    if entries:
        ports.journal.append(entries, states[-1])
    for entry, after in zip(entries, states[1:], strict=True):
        ports.watcher.entry(entry, after)
    return states[-1]
