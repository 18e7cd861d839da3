"""The live view of a loop: what happens, as it happens, for a person who glances at a terminal now and then."""

from __future__ import annotations

import time
from typing import TextIO

from ralphloop.core import messages as m
from ralphloop.core.model import Gate
from ralphloop.core.state import LoopState
from ralphloop.views.events import EventLines
from ralphloop.views.facts import Line, Moment, facts
from ralphloop.views.figures import duration, moment
from ralphloop.views.layout import LONGEST, layout
from ralphloop.views.sink import Sink
from ralphloop.views.style import STAMP, Style
from ralphloop.views.text import clip, one_line
from ralphloop.views.verbose import verbose_lines
from ralphloop.views.words import way_back

ERASE_LINE = "\r\x1b[K"


class Console:
    """Satisfies ports.Watcher: prints to `out`, and with `verbose` to `err` too; it never raises and never steers."""

    def __init__(self, out: TextIO, err: TextIO, style: Style, *, stream: bool = True, verbose: bool = False) -> None:
        self._out, self._err = Sink(out), Sink(err)
        self._style, self._stream, self._verbose = style, stream, verbose
        self._events = EventLines(style)
        self._before: LoopState | None = None
        self._passing = False

    def entry(self, entry: m.Entry, state: LoopState) -> None:
        """An entry was written: say what it means."""
        seen = Moment(entry=entry, before=self._before or state, after=state)
        self._before = state
        for line in verbose_lines(seen):
            self.debug(line)
        rows = facts(seen, self._style.home)
        if isinstance(entry, m.LoopEnded):
            rows.append(Line(label="next", text=way_back(state.spec)))
        for row in rows:
            for line in layout(row, self._style):
                self._line(line)
        if isinstance(entry, m.AttemptStarted):
            self._events = EventLines(self._style)
            if not self._stream:
                self._pass(f"agent   at work since {moment(entry.at, entry.at)} …")

    def event(self, event: m.Event) -> None:
        """The agent's stream said something: show it, if the stream is wanted. How the turn ended is told by its entry."""
        if self._stream and not isinstance(event, m.FinalResult):
            for line in self._events.lines(event):
                self._line(line)

    def gate_started(self, gate: Gate) -> None:
        """A gate is about to run."""
        self.debug(f"Running guardrail: {one_line(gate.command)}")
        self._pass(f"gate    {one_line(gate.command)} …")

    def waiting(self, until: float) -> None:
        """The loop waits: on a terminal, how long it still will."""
        left = until - time.time()
        if self._style.live and left > 0:
            self._pass(f"wait    {duration(left)} left, until {moment(until, time.time())} …")

    def debug(self, text: str) -> None:
        """Say a thing that only `--verbose` wants to know."""
        if self._verbose:
            self._erase()
            self._err.write(f"[ralph] {clip(one_line(text), LONGEST)}\n")

    def _line(self, text: str) -> None:
        self._erase()
        self._out.write(f"{self._stamp(text)}\n")

    def _pass(self, text: str) -> None:
        """Show what is going on: on a terminal only until there is something to tell, elsewhere as a line."""
        if not self._style.live:
            self._line(clip(text, self._style.width))
            return
        self._erase()
        self._out.write(self._style.paint(clip(self._stamp(text), self._style.width - 1), "dim"))
        self._passing = True

    def _erase(self) -> None:
        if self._passing:
            self._out.write(ERASE_LINE)
            self._passing = False

    def _stamp(self, text: str) -> str:
        return time.strftime(STAMP) + text if self._style.timestamps and text else text
