"""The rooms meet here: the Ports of one loop, from its pinned spec."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from ralphloop.agents.catalogue import adapter
from ralphloop.bus.herald import Herald
from ralphloop.bus.waiting import TaskBoard
from ralphloop.checks.gates import GateRunner
from ralphloop.config.environment import RUN_ID, TASK_FOLDER, agent_environment, tool_environment
from ralphloop.core.identity import ProcessIdentity
from ralphloop.core.messages import RunAgent
from ralphloop.core.model import AgentSpec, Kind, LoopSpec, WorkSpec
from ralphloop.core.ports import Agent, Launch, Order, Ports, Runner, Watcher, Work
from ralphloop.core.rollup import roll_up
from ralphloop.core.state import LoopState
from ralphloop.errors import ConfigError, WorkError
from ralphloop.files.artifacts import read_artifact
from ralphloop.files.blobs import BlobStore
from ralphloop.files.children import enlisted
from ralphloop.files.places import attempt_dir, blobs_dir, loop_dir, make_private
from ralphloop.ledger.inbox import Inbox
from ralphloop.ledger.journal import StreamJournal
from ralphloop.ledger.store import Ledger
from ralphloop.loop.attempt import PROCESS, CliAgent
from ralphloop.loop.clock import SystemClock
from ralphloop.loop.function import AgentFunction, FunctionAgent
from ralphloop.loop.watchers import Watchers
from ralphloop.loop.wishes import Wishes
from ralphloop.process.identity import is_alive, read_back
from ralphloop.process.kinship import is_below
from ralphloop.process.leftovers import TagBroom
from ralphloop.process.signals import StopFlag
from ralphloop.process.supervise import Broom, Supervisor
from ralphloop.process.sweep import Sweep
from ralphloop.work.checklist import Checklist, check_task_file, check_template
from ralphloop.work.folder import Folder, check_task_dir
from ralphloop.work.prompt import PromptWork, check_prompt_file
from ralphloop.workspace.open import ensure_ignore, open_workspace


class SweepBy(StrEnum):
    """How what a run left behind is found."""

    DESCENT = "this process is a subreaper, and owns whatever descends from it"
    TAG = "the environment of a process names the run"
    NOTHING = "this process is somebody else's, and so may be its children"


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What every loop of this process shares. `watch` opens the view of a loop that begins to run; `function` runs in place of a client.

    `sweep_up` ends whatever a loop that is over has left.
    """

    state_home: Path
    environ: dict[str, str]
    stop: StopFlag
    nap: Callable[[float], None]
    watch: Callable[[LoopSpec], Watcher]
    sweep: SweepBy
    sweep_up: Callable[[], None] = lambda: None
    function: AgentFunction | None = None


def make_work(spec: LoopSpec, children: Callable[[], int] = lambda: 0) -> Work:
    """The room of work that the spec names; `children` counts the child loops that run."""
    root, work = Path(spec.workspace), spec.work
    match work.kind:
        case Kind.CHECKLIST:
            assert work.task_file is not None
            return Checklist(root, work.task_file, work.template)
        case Kind.PROMPT:
            return PromptWork(root, text=work.prompt_text, file=work.prompt_file)
        case Kind.FOLDER:
            assert work.task_dir is not None
            return Folder(root, work.task_dir, TaskBoard(root / work.task_dir), children)
    assert_never(work.kind)


def check_work(directory: Path, work: WorkSpec) -> None:
    """Raise ConfigError where the work cannot be read now: nothing has been started or written yet."""
    if work.kind is Kind.CHECKLIST:
        assert work.task_file is not None
        check_task_file(directory, work.task_file)
        if work.template:
            check_template(directory, work.template)
    elif work.task_dir:
        check_task_dir(directory / work.task_dir)
    elif work.prompt_file:
        check_prompt_file(directory, work.prompt_file)


def check_start(directory: Path, work: WorkSpec, agent: AgentSpec) -> None:
    """Raise ConfigError where a loop could not begin: its work cannot be read, or its agent cannot be told what the settings say."""
    check_work(directory, work)
    adapter(agent.type).invocation(agent, Order(prompt="", prompt_file=Path()))


def live_children(house: House, loop_id: str) -> frozenset[ProcessIdentity]:
    """The guardians of the child loops that run. Agents can write the list: where orphans come back to this process, who is not below it is no child."""
    known = map(read_back, enlisted(str(house.state_home), loop_id))
    alive = (identity for identity in known if identity is not None and is_alive(identity))
    return frozenset(identity for identity in alive if house.sweep is not SweepBy.DESCENT or is_below(identity.pid, os.getpid()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in its stream a loop begins to write, and as which incarnation."""

    next_seq: int
    incarnation: int


def make_ports(spec: LoopSpec, house: House, ledger: Ledger, place: Place, agent_env: Mapping[str, str]) -> Ports:
    """Everything that one loop needs."""
    clock = SystemClock(house.nap)
    requests = Wishes(house.stop, Inbox(ledger.database), spec.loop_id, place.incarnation, clock.now)
    runner = Supervisor(house.stop, broom=_broom(spec, house), beat=requests.listen)
    watcher = _watcher(spec, house)
    tools = tool_environment(house.environ)
    context = {"RALPH_STATE_HOME": str(house.state_home), "RALPH_LOOP": spec.name} | _of_folder(spec)
    root = Path(spec.workspace)
    work = make_work(spec, lambda: len(live_children(house, spec.loop_id)))
    logs = loop_dir(house.state_home, spec.loop_id) / "gates"
    make_private(logs)
    if spec.gates:
        ensure_ignore(root)
    return Ports(
        clock=clock,
        journal=StreamJournal(ledger, spec.loop_id, place.next_seq, roll_up),
        requests=requests,
        blobs=BlobStore(blobs_dir(house.state_home)),
        work=work,
        workspace=open_workspace(root, runner, tools, frozenset(path for path in work.files() if Path(path).is_absolute())),
        agent=_make_agent(spec, house, runner, clock, requests, watcher, {**agent_env, **context}),
        gates=GateRunner(root, runner, {**tools, **context}, truncate_chars=spec.output.truncate_chars, logs=logs),
        watcher=watcher,
    )


def _broom(spec: LoopSpec, house: House) -> Callable[[Launch], Broom] | None:
    match house.sweep:
        case SweepBy.DESCENT:
            return lambda _: Sweep(lambda: live_children(house, spec.loop_id))
        case SweepBy.TAG:
            return lambda launch: TagBroom(launch.env[RUN_ID])
        case SweepBy.NOTHING:
            return None
    assert_never(house.sweep)


def _watcher(spec: LoopSpec, house: House) -> Watcher:
    """The view, and for folder work the bus as well."""
    view = house.watch(spec)
    if spec.work.task_dir is None:
        return view
    return Watchers(view, Herald(Path(spec.workspace, spec.work.task_dir)))


def _of_folder(spec: LoopSpec) -> dict[str, str]:
    """What agents and gates of folder work are told beside the rest."""
    return {} if spec.work.task_dir is None else {TASK_FOLDER: os.path.normpath(Path(spec.workspace, spec.work.task_dir))}


def leaders(state: LoopState, state_home: Path) -> tuple[ProcessIdentity, ...]:
    """The agent that ran last, as it was written down when it started."""
    if state.turn is None or not state.turn.attempt:
        return ()
    path = attempt_dir(state_home, state.spec.loop_id, state.iteration, state.turn.attempt) / PROCESS
    identity = read_back(read_artifact(path))
    return () if identity is None else (identity,)


def _make_agent(  # noqa: PLR0913, PLR0917 - all that an attempt needs
    spec: LoopSpec, house: House, runner: Runner, clock: SystemClock, requests: Wishes, watcher: Watcher, env: Mapping[str, str]
) -> Agent:
    def directory(iteration: int, attempt: int) -> Path:
        path = attempt_dir(house.state_home, spec.loop_id, iteration, attempt)
        try:
            make_private(path)
        except ConfigError as error:  # in the middle of a loop it is one more thing that goes wrong out there
            raise WorkError(str(error)) from error
        return path

    def environment(action: RunAgent, of_adapter: Mapping[str, str]) -> Mapping[str, str]:
        folder = attempt_dir(house.state_home, spec.loop_id, action.iteration, action.attempt)
        # PWD: opencode goes by it, and not by the directory that it is started in (seen in 1.18.33).
        turn = {"RALPH_ITERATION": str(action.iteration), RUN_ID: action.run_id, "RUN_FOLDER": str(folder), "PWD": spec.workspace}
        return agent_environment(house.environ, {**of_adapter, **env}, turn)

    if house.function is not None:
        return FunctionAgent(
            spec=spec,
            function=house.function,
            clock=clock,
            directory=directory,
            environment=lambda action: environment(action, {}),
            cancelled=requests.stop_is_wanted,
        )
    return CliAgent(
        spec=spec,
        adapter=adapter(spec.agent.type),
        runner=runner,
        clock=clock,
        watcher=watcher,
        directory=directory,
        environment=environment,
    )
