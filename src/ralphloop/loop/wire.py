"""The rooms meet here: the Ports of one loop, from its pinned spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ralphloop.agents.catalogue import adapter
from ralphloop.checks.gates import GateRunner
from ralphloop.config.environment import agent_environment, tool_environment
from ralphloop.core.messages import STOP, Entry, Event, RequestSeen, RunAgent
from ralphloop.core.model import Gate, Kind, LoopSpec
from ralphloop.core.ports import Ports, Runner, Watcher, Work
from ralphloop.core.rollup import roll_up
from ralphloop.core.state import LoopState
from ralphloop.files.blobs import BlobStore
from ralphloop.files.places import attempt_dir, blobs_dir, loop_dir, make_private
from ralphloop.ledger.inbox import Inbox
from ralphloop.ledger.journal import StreamJournal
from ralphloop.ledger.store import Ledger
from ralphloop.loop.attempt import CliAgent
from ralphloop.loop.clock import SystemClock
from ralphloop.process.leftovers import end_leftovers
from ralphloop.process.signals import StopFlag
from ralphloop.process.supervise import Supervisor
from ralphloop.work.checklist import Checklist
from ralphloop.work.prompt import PromptWork
from ralphloop.workspace.open import ensure_ignore, open_workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What every loop of this process shares."""

    state_home: Path
    environ: dict[str, str]
    stop: StopFlag
    nap: Callable[[float], None]
    watcher: Watcher


class Unwatched:
    """A watcher that shows nothing."""

    def entry(self, entry: Entry, state: LoopState) -> None:
        """Let it pass."""

    def event(self, event: Event) -> None:
        """Let it pass."""

    def gate_started(self, gate: Gate) -> None:
        """Let it pass."""


class Wishes:
    """Signals and the inbox, as one stream of requests (ports.Requests)."""

    def __init__(self, stop: StopFlag, inbox: Inbox, loop_id: str, incarnation: int, now: Callable[[], float]) -> None:
        self._stop, self._inbox, self._loop_id, self._incarnation, self._now = stop, inbox, loop_id, incarnation, now
        self._told = False

    def take(self) -> Sequence[RequestSeen]:
        """Every request that was not taken before."""
        requests = list(self._inbox.take(self._loop_id, self._incarnation))
        if self._stop.level and not self._told:
            self._told = True
            requests.append(RequestSeen(at=self._now(), kind=STOP, author=self._stop.author or "a signal"))
        return requests


def make_work(spec: LoopSpec) -> Work:
    """The room of work that the spec names."""
    root, work = Path(spec.workspace), spec.work
    if work.kind is Kind.CHECKLIST:
        assert work.task_file is not None
        return Checklist(root, work.task_file, work.template)
    return PromptWork(root, text=work.prompt_text, file=work.prompt_file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in its stream a loop begins to write, and as which incarnation."""

    next_seq: int
    incarnation: int


def make_ports(spec: LoopSpec, house: House, ledger: Ledger, place: Place, agent_env: Mapping[str, str]) -> Ports:
    """Everything that one loop needs."""
    runner = Supervisor(house.stop)
    clock = SystemClock(house.nap)
    tools = tool_environment(house.environ)
    context = {"RALPH_STATE_HOME": str(house.state_home), "RALPH_LOOP": spec.name}
    root = Path(spec.workspace)
    logs = loop_dir(house.state_home, spec.loop_id) / "gates"
    make_private(logs)
    if spec.gates:
        ensure_ignore(root)
    return Ports(
        clock=clock,
        journal=StreamJournal(ledger, spec.loop_id, place.next_seq, roll_up),
        requests=Wishes(house.stop, Inbox(ledger.database), spec.loop_id, place.incarnation, clock.now),
        blobs=BlobStore(blobs_dir(house.state_home)),
        work=make_work(spec),
        workspace=open_workspace(root, runner, tools),
        agent=_make_agent(spec, house, runner, clock, {**agent_env, **context}),
        gates=GateRunner(root, runner, {**tools, **context}, truncate_chars=spec.output.truncate_chars, logs=logs),
        watcher=house.watcher,
    )


def _make_agent(spec: LoopSpec, house: House, runner: Runner, clock: SystemClock, env: Mapping[str, str]) -> CliAgent:
    def directory(iteration: int, attempt: int) -> Path:
        path = attempt_dir(house.state_home, spec.loop_id, iteration, attempt)
        make_private(path)
        return path

    def environment(action: RunAgent, of_adapter: Mapping[str, str]) -> Mapping[str, str]:
        turn = {"RALPH_ITERATION": str(action.iteration), "RALPH_RUN_ID": action.run_id}
        return agent_environment(house.environ, {**of_adapter, **env}, turn)

    return CliAgent(
        spec=spec,
        adapter=adapter(spec.agent.type),
        runner=runner,
        clock=clock,
        watcher=house.watcher,
        directory=directory,
        environment=environment,
        end_run=lambda run_id: end_leftovers(run_id, spec.agent.grace_s),
    )
