"""A scripted agent, and a loop in memory that runs it: the true engine, without a process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ralphloop.core.claims import detect_claim
from ralphloop.core.evolve import fold
from ralphloop.core.messages import AttemptSeen, Entry, LoopResumed, LoopStarted, RunAgent
from ralphloop.core.model import EndedBy, LoopSpec, Outcome, RunReport, StreamReport, Usage
from ralphloop.core.ports import Ports
from ralphloop.core.state import LoopState
from ralphloop.loop.engine import record, reopen, run
from ralphloop.testing.memory import FakeClock, MemoryWorkspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one run of the scripted agent does and says."""

    says: str = "I worked on it."
    does: Callable[[MemoryWorkspace], None] | None = None
    stream: StreamReport | None = None
    run: RunReport = field(default_factory=lambda: RunReport(ended_by=EndedBy.EXIT, exit_code=0, duration_s=60.0))
    cost_usd: float | None = 0.01


@dataclass(slots=True)
class ScriptedAgent:
    """Runs the turns in order; the last one repeats. `prompts` are what it was given."""

    clock: FakeClock
    workspace: MemoryWorkspace
    turns: Sequence[Turn]
    text: str
    prompts: list[str] = field(default_factory=list)

    def attempt(self, action: RunAgent, prompt: str) -> AttemptSeen:  # noqa: ARG002 - the port's signature
        """Run one turn."""
        turn = self.turns[min(len(self.prompts), len(self.turns) - 1)]
        self.prompts.append(prompt)
        if turn.does:
            turn.does(self.workspace)
        stream = turn.stream or StreamReport(final_words=turn.says, usage=Usage(cost_usd=turn.cost_usd))
        self.clock.at += turn.run.duration_s
        claim = detect_claim(stream.final_words, self.text)
        return AttemptSeen(at=self.clock.now(), dice=self.clock.dice(), run=turn.run, stream=stream, claim=claim)


def start_loop(spec: LoopSpec, ports: Ports) -> LoopState:
    """The state of a new loop, its first entry written."""
    first = LoopStarted(at=ports.clock.now(), spec=spec)
    return record(LoopState(spec=spec, at=first.at), [first], ports)


def run_new(spec: LoopSpec, ports: Ports) -> Outcome:
    """Run a new loop to its outcome."""
    return run(start_loop(spec, ports), ports)


def run_again(entries: Sequence[Entry], ports: Ports, spec: LoopSpec | None = None) -> Outcome:
    """Resume a loop from its entries and run it to its outcome."""
    state = fold(entries)
    resumed = LoopResumed(at=ports.clock.now(), spec=spec or state.spec, incarnation=state.incarnation + 1)
    return run(reopen(state, resumed, ports), ports)
