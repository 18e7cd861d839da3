"""`ralph show LOOP`: the facts of a whole loop, from its entries, with the paths of what lies on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ralphloop.core import messages as m
from ralphloop.core.state import LoopState
from ralphloop.views.facts import Closing, Line, Row, facts, moments
from ralphloop.views.figures import count, iso
from ralphloop.views.layout import layout
from ralphloop.views.style import Style
from ralphloop.views.text import one_line, tilde
from ralphloop.views.words import DOT, spent_words

Directory = Callable[[int, int], str]


def render_show(entries: Iterable[m.Entry], directory: Directory, style: Style) -> str:
    """The loop from its first entry on; `directory(iteration, attempt)` is where an attempt's artifacts lie."""
    lines = [line for row in _rows(entries, directory, style.home) for line in layout(row, style)]
    return "\n".join(lines) + "\n"


def _rows(entries: Iterable[m.Entry], directory: Directory, home: str) -> Iterator[Row]:
    last: LoopState | None = None
    for seen in moments(entries):
        yield from facts(seen, home)
        if isinstance(seen.entry, m.LoopStarted):
            yield Line(label="loop", text=f"{one_line(seen.entry.spec.loop_id)}{DOT}started {iso(seen.entry.at)}")
        if isinstance(seen.entry, m.ChangesJudged):
            yield Line(label="files", text=tilde(directory(seen.after.iteration, seen.after.open_turn.attempt), home))
        last = seen.after
    if last is not None and last.outcome is None:
        yield Closing(text=DOT.join(filter(None, ("no outcome yet", count(last.iteration, "iteration"), spent_words(last.spent)))), colour="yellow")
