"""`ralph show LOOP`: the facts of a whole loop, from its entries, with the paths of what lies on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ralphloop.core import messages as m
from ralphloop.views.facts import Closing, Line, Moment, Row, facts, moments, turns
from ralphloop.views.figures import count, iso
from ralphloop.views.layout import layout
from ralphloop.views.style import Style
from ralphloop.views.text import one_line, tilde
from ralphloop.views.words import DOT, spent_words

Directory = Callable[[int, int], str]


def render_show(entries: Iterable[m.Entry], directory: Directory, style: Style) -> str:
    """The loop from its first entry on; `directory(iteration, attempt)` is where an attempt's artifacts lie."""
    history = list(moments(entries))
    return _rendered((*_rows(history, directory, style.home), *_ending(history)), style)


def render_iteration(entries: Iterable[m.Entry], number: int, directory: Directory, style: Style) -> str:
    """One iteration of it; LookupError where the loop has no such one."""
    return _rendered(_rows(iteration_of(list(moments(entries)), number), directory, style.home), style).lstrip("\n")


def iteration_of(history: Sequence[Moment], number: int) -> list[Moment]:
    """What happened in that iteration; LookupError where the loop has no such one."""
    for turn in turns(history):
        if isinstance(turn[0].entry, m.IterationStarted) and turn[0].entry.number == number:
            return turn
    last = history[-1].after
    there = f"it has 1 to {last.iteration}" if last.iteration else "it has had none"
    raise LookupError(f"loop {one_line(last.spec.name)} has no iteration {number}: {there}")


def _rendered(rows: Iterable[Row], style: Style) -> str:
    return "\n".join(line for row in rows for line in layout(row, style)) + "\n"


def _rows(history: Iterable[Moment], directory: Directory, home: str) -> Iterator[Row]:
    for seen in history:
        yield from facts(seen, home)
        if isinstance(seen.entry, m.LoopStarted):
            yield Line(label="loop", text=f"{one_line(seen.entry.spec.loop_id)}{DOT}started {iso(seen.entry.at)}")
        if isinstance(seen.entry, m.ChangesJudged):
            yield Line(label="files", text=tilde(directory(seen.after.iteration, seen.after.open_turn.attempt), home))


def _ending(history: Sequence[Moment]) -> Iterator[Row]:
    last = history[-1].after
    if last.outcome is None:
        yield Closing(text=DOT.join(filter(None, ("no outcome yet", count(last.iteration, "iteration"), spent_words(last.spent)))), colour="yellow")
