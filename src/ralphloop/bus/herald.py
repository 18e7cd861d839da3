"""What the bus of a task says of its loop: a view like any other (ports.Watcher), that writes into a file. It tells, as well as it can, and never steers."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ralphloop.bus.board import PATIENCE_S, PROJECT_BUS, TASK_BUS, Bus
from ralphloop.bus.messages import Message, MessageType
from ralphloop.core import messages as m
from ralphloop.core.evolve import done_overrules
from ralphloop.core.model import Ending, Gate, Outcome, OutcomeKind
from ralphloop.core.state import LoopState
from ralphloop.errors import WorkError

CRASHES = frozenset({Ending.FAILED, Ending.LOST, Ending.FATAL})
COMPLETED = "task completed (DONE marker present, no active children)"
TOO_MANY = "max restarts exceeded"
WAITS = "Wait-without-restart signal detected"


class Herald:
    """Posts the runs and the end of a loop on the bus of its task, and the completion on the project's as well."""

    def __init__(self, task_dir: Path) -> None:
        self._task = Bus(task_dir, TASK_BUS, patience_s=PATIENCE_S)
        self._project = Bus(task_dir.resolve().parent, PROJECT_BUS, patience_s=PATIENCE_S)

    def entry(self, entry: m.Entry, state: LoopState) -> None:
        """Post what others should know of it."""
        match entry:
            case m.AttemptStarted():
                self._post(self._task, MessageType.RUN_START, f"Attempt {state.spent.calls} started ({entry.run_id}).", entry, state)
            case m.ChangesJudged():
                self._post(self._task, *_run_ended(entry, state), entry, state)
            case m.LoopEnded():
                self._post(self._task, *_loop_ended(entry.outcome), entry, state)
                if entry.outcome.kind is OutcomeKind.DONE:
                    self._post(self._project, MessageType.FACT, f"{state.spec.name}: {COMPLETED}, {entry.outcome.strength}", entry, state)
            case _:
                pass

    def event(self, event: m.Event) -> None:
        """What an agent says is not ours to post."""

    def gate_started(self, gate: Gate) -> None:
        """Nobody else needs to know."""

    def waiting(self, until: float) -> None:
        """The entry that began the wait is enough."""

    def _post(self, bus: Bus, kind: MessageType, text: str, entry: m.Entry, state: LoopState) -> None:
        with suppress(WorkError):  # a link in its place, a full disk: the loop does not depend on it
            bus.post(Message(at=entry.at, type=kind, author=f"ralph {state.spec.loop_id}", text=text))


def _run_ended(entry: m.ChangesJudged, state: LoopState) -> tuple[MessageType, str]:
    run = state.open_turn.last.run if state.open_turn.last else None
    code = "" if run is None or run.exit_code is None else f" (exit {run.exit_code})"
    attempt = f"Attempt {state.spent.calls}"
    if entry.ending in CRASHES:
        return MessageType.RUN_CRASH, f"{attempt}: Agent failed{code}{', restarting...' if _goes_on(state) else ''}\n{entry.reason}"
    return MessageType.RUN_STOP, "\n".join(filter(None, (f"{attempt}: Agent ended{code}, {entry.ending}.", entry.reason)))


def _goes_on(state: LoopState) -> bool:
    """Whether nothing that is known yet keeps the agent from being started again."""
    limit = state.spec.limits.iterations
    return state.decided is None and not done_overrules(state) and not (limit and state.iteration >= limit)


def _loop_ended(outcome: Outcome) -> tuple[MessageType, str]:
    match outcome.kind:
        case OutcomeKind.DONE:
            return MessageType.INFO, COMPLETED
        case OutcomeKind.LIMIT | OutcomeKind.FAILED:
            words = f"{TOO_MANY}: {outcome.reason}" if outcome.limit == "iterations" else outcome.reason
            return MessageType.ERROR, words
        case OutcomeKind.WAITING:
            return MessageType.INFO, f"{WAITS}: {outcome.reason}"
        case OutcomeKind.INTERRUPTED:
            return MessageType.INFO, f"{outcome.kind}: {outcome.reason}"
