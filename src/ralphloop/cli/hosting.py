"""What the commands that host a loop share, in the process of the loop: signals, the console, and the end of all that was started."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ralphloop.cli.guarding import Hosting
from ralphloop.config.environment import current, state_home
from ralphloop.config.resolve import Dress
from ralphloop.core.messages import Entry, Event
from ralphloop.core.model import Gate, LoopSpec
from ralphloop.core.ports import Watcher
from ralphloop.core.state import LoopState
from ralphloop.errors import ConfigError, WorkError
from ralphloop.files.beneath import open_log_beneath
from ralphloop.loop.watchers import Unwatched
from ralphloop.loop.wire import House, SweepBy
from ralphloop.process.guardian import Guarded
from ralphloop.process.patience import AGAIN_S
from ralphloop.process.signals import StopFlag, install
from ralphloop.process.sweep import Sweep
from ralphloop.sessions.detached import Announcer
from ralphloop.views.console import Console
from ralphloop.views.sink import Sink
from ralphloop.views.style import Style, style_for
from ralphloop.workspace.open import ensure_ignore

DEPARTED = "Loop {name} runs, detached. `ralph status` shows it, `ralph stop {name}` ends it. Its words: {log}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the console of a loop looks."""

    dress: Dress = field(default_factory=Dress)
    stream: bool = True
    verbose: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The process of a loop."""

    stop: StopFlag
    environ: dict[str, str]
    hosting: Hosting

    def house(self, look: Look | None = None) -> House:
        """The house of a loop; without a look nothing is shown."""
        return House(
            state_home=Path(state_home(self.environ)),
            environ=self.environ,
            stop=self.stop,
            nap=napper(self.stop),
            watch=lambda spec: Unwatched() if look is None else self._view(spec, look),
            sweep_up=lambda: _sweep_up(self.hosting.guarded),
            sweep=SweepBy.DESCENT if self.hosting.guarded.subreaper else SweepBy.TAG,
        )

    def _view(self, spec: LoopSpec, look: Look) -> Watcher:
        if self.hosting.announcer is None:
            return self._console(look)
        return Departure(spec, self.hosting.announcer, lambda: self._console(look))

    def _console(self, look: Look) -> Console:
        stamped = self.hosting.announcer is not None if look.dress.timestamps is None else look.dress.timestamps
        style = dressed(look.dress, self.environ, timestamps=stamped)
        return Console(sys.stdout, sys.stderr, style, stream=look.stream, verbose=look.verbose)


class Departure:
    """The view of a detached loop: with its first entry it lets go of the terminal, and from then on it is a console that writes to the log."""

    def __init__(self, spec: LoopSpec, announcer: Announcer, console: Callable[[], Console]) -> None:
        self._name, self._announcer, self._console = spec.name, announcer, console
        self._view: Console | None = None
        root, log = Path(spec.workspace), f".ralph/logs/{spec.name}.log"
        try:  # now, while whoever started it can still be told that it cannot be
            ensure_ignore(root)
            self._path, self._log = root / log, open_log_beneath(root, log)
        except WorkError as error:
            raise ConfigError(f"the log of a detached loop: {error}") from error

    def entry(self, entry: Entry, state: LoopState) -> None:
        """Show it in the log."""
        if self._view is None:
            self._announcer.announce(DEPARTED.format(name=self._name, log=self._path), self._log)
            self._view = self._console()
        self._view.entry(entry, state)

    def event(self, event: Event) -> None:
        """Show it in the log."""
        assert self._view is not None, "a loop begins with an entry"
        self._view.event(event)

    def gate_started(self, gate: Gate) -> None:
        """Show it in the log."""
        assert self._view is not None, "a loop begins with an entry"
        self._view.gate_started(gate)

    def waiting(self, until: float) -> None:
        """Show it in the log."""
        assert self._view is not None, "a loop begins with an entry"
        self._view.waiting(until)


@contextmanager
def hosted(hosting: Hosting) -> Iterator[Host]:
    """The host of one loop, with signals in place."""
    stop = StopFlag(hosting.guarded.life_fd)
    with install(stop, patient=hosting.announcer is None, unblock=True):
        yield Host(stop=stop, environ=current(), hosting=hosting)


COLOUR = {"auto": None, "always": True, "never": False}


def dressed(dress: Dress, environ: dict[str, str], *, timestamps: bool) -> Style:
    """The style of standard output."""
    style = style_for(sys.stdout, environ, colour=COLOUR[dress.color], emoji=dress.emoji, timestamps=timestamps)
    return replace(style, max_lines=dress.max_lines, max_chars=dress.max_chars)


def _sweep_up(guarded: Guarded) -> None:
    """Nothing is left by now, unless something went wrong."""
    if guarded.subreaper and (swept := Sweep(patience_s=AGAIN_S).end()).leaked:
        say(f"Left running, because it cannot be ended: {swept.leaked}")


def napper(stop: StopFlag) -> Callable[[float], None]:
    """Sleep that a signal cuts short."""

    def nap(seconds: float) -> None:
        select.select(stop.filenos(), [], [], seconds)
        stop.drain()

    return nap


def say(message: str) -> None:
    """A line for people, before the loop's own; that nobody reads it is no reason to stop."""
    Sink(sys.stdout).write(f"{message}\n")
