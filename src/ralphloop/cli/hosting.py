"""What the commands that host a loop share: the house, the console, and the messages before the loop speaks for itself."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ralphloop.config.environment import current, state_home
from ralphloop.loop.wire import House
from ralphloop.process.signals import StopFlag, install, reset_sigchld
from ralphloop.views.console import Console
from ralphloop.views.sink import Sink
from ralphloop.views.style import style_for

COLOUR = {"auto": None, "always": True, "never": False}


@contextmanager
def hosted(*, color: str, emoji: bool, stream: bool, verbose: bool) -> Iterator[House]:
    """The house of one loop, with signals in place while it runs."""
    reset_sigchld()
    environ = current()
    style = style_for(sys.stdout, environ, colour=COLOUR[color], emoji=emoji)
    stop = StopFlag()
    with install(stop):
        yield House(
            state_home=Path(state_home(environ)),
            environ=environ,
            stop=stop,
            nap=napper(stop),
            watcher=Console(sys.stdout, sys.stderr, style, stream=stream, verbose=verbose),
        )


def napper(stop: StopFlag) -> Callable[[float], None]:
    """Sleep that a signal cuts short."""

    def nap(seconds: float) -> None:
        select.select([stop], [], [], seconds)
        stop.drain()

    return nap


def say(message: str) -> None:
    """A line for people, before the loop's own; that nobody reads it is no reason to stop."""
    Sink(sys.stdout).write(f"{message}\n")
