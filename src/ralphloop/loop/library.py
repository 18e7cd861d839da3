"""Ralph in another program: `run_loop` with a function as the agent.

The program stays its own: nothing is forked, no signal handler is set, and nobody else's orphans are adopted. So the function ends when it ends, and a
gate is ended with its process group, but not what has left that group. Whoever wants a client supervised starts the ordinary command.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ralphloop.config.environment import current, state_home
from ralphloop.config.layers import explicit_layers
from ralphloop.config.request import RunRequest
from ralphloop.config.resolve import resolve
from ralphloop.core.model import FUNCTION, AgentSpec, Outcome
from ralphloop.errors import ConfigError
from ralphloop.loop.function import AgentFunction
from ralphloop.loop.naming import check_name
from ralphloop.loop.settling import settle_crashed
from ralphloop.loop.start import Wanted, start
from ralphloop.loop.watchers import Unwatched
from ralphloop.loop.wire import House, SweepBy, check_work
from ralphloop.process.signals import StopFlag


class EventFlag(StopFlag):
    """A wish to stop that is somebody else's event, beside those of people; what runs then is ended at once, but for the function itself."""

    def __init__(self, event: threading.Event) -> None:
        super().__init__()
        self._event = event

    @property
    def level(self) -> int:
        """0, 1 or 2."""
        return 2 if self._event.is_set() else super().level

    @property
    def author(self) -> str | None:
        """The program, where no person asked before."""
        return super().author or "the program that runs it"


def run_loop(  # noqa: PLR0913 - options are keyword arguments
    agent: AgentFunction,
    *,
    task_dir: str | Path | None = None,
    task_file: str | None = None,
    prompt: str | None = None,
    workspace: str | Path | None = None,
    name: str | None = None,
    gates: Sequence[str] = (),
    max_restarts: int | None = None,
    restart_delay_s: float | None = None,
    wait_timeout_s: float | None = None,
    poll_interval_s: float | None = None,
    max_minutes: float | None = None,
    max_calls: int | None = None,
    completion_text: str | None = None,
    new: bool = False,
    state: str | Path | None = None,
    stop: threading.Event | None = None,
) -> Outcome:
    """Call `agent(context, attempt)` until the work is done, and say how the loop ended.

    Exactly one of `task_dir`, `task_file` (in the workspace) and `prompt` names the work. An option that is not given has the default that it has on
    the command line; settings files and variables are not read. A loop that crashed, was stopped or waited is gone on with, as `ralph run` does, with
    the options that it began with; `new` begins afresh.
    Raises `ralphloop.errors.ConfigError` where an argument is wrong, before anything is started.
    """
    _check_arguments(agent, name, stop)
    if isinstance(gates, str):
        raise ConfigError(f"gates is one text: write a list of commands, such as [{gates!r}]")
    folder = None if task_dir is None else Path(task_dir).resolve()
    root = Path(workspace or folder or ".").resolve()
    request = RunRequest(
        workspace=root,
        prompt_text=prompt,
        task_file=task_file,
        task_dir=None if folder is None else str(folder),
        gates=tuple(gates) or None,
        iterations=max_restarts,
        calls=max_calls,
        minutes=max_minutes,
        delay_s=restart_delay_s,
        wait_timeout_s=wait_timeout_s,
        poll_interval_s=poll_interval_s,
        completion_text=completion_text,
    )
    resolved = resolve(request, explicit_layers(request.flags()), ())
    called = AgentSpec(type=FUNCTION, command=getattr(agent, "__qualname__", FUNCTION))
    event = stop or threading.Event()
    flag = EventFlag(event)
    environ = current()
    house = House(
        state_home=Path(state or state_home(environ)).resolve(),
        environ=environ,
        stop=flag,
        nap=lambda seconds: _nap(event, seconds),
        watch=lambda _: Unwatched(),
        sweep=SweepBy.NOTHING,
        function=agent,
    )
    wanted = Wanted(
        workspace=root,
        resolved=replace(resolved, agent=called),
        check=lambda: check_work(root, resolved.work),
        name=name,
        new=new,
        again=True,
        raised=request.raised(),
    )
    try:
        settle_crashed(root, house, _unsaid)
        return start(wanted, house, _unsaid)
    finally:
        flag.close()


def _check_arguments(agent: object, name: object, stop: object) -> None:
    """Raise ConfigError for what a type checker would not let pass: a loop that calls it again and again is a bad place to find out."""
    if not callable(agent):
        raise ConfigError(f"the agent is {agent!r}, which cannot be called: give a function of two arguments, (context, attempt)")
    if inspect.iscoroutinefunction(agent) or inspect.isgeneratorfunction(agent) or inspect.isasyncgenfunction(agent):
        raise ConfigError("the agent is a coroutine or a generator function: give one that returns when its attempt is over")
    with suppress(ValueError):  # some built-in functions do not say what they take
        try:
            inspect.signature(agent).bind(None, 0)
        except TypeError as error:
            raise ConfigError(f"the agent cannot be called with two arguments, (context, attempt): {error}") from error
    if name is not None and not isinstance(name, str):
        raise ConfigError(f"the name is {name!r}: give a string")
    if stop is not None and not isinstance(stop, threading.Event):
        raise ConfigError(f"stop is {stop!r}: give a threading.Event")
    check_name(name)


def _nap(event: threading.Event, seconds: float) -> None:
    event.wait(seconds)


def _unsaid(_message: str) -> None:
    """The ledger has it; a library does not print."""
