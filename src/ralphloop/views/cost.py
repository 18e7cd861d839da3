"""`ralph cost`: charges grouped and added up, as a table and as JSON. Pure."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ralphloop.core.model import Usage
from ralphloop.views.charges import Charge
from ralphloop.views.figures import count, duration, magnitude, money
from ralphloop.views.terminal import paint
from ralphloop.views.text import clip, one_line, pad, width, wrap

HEADINGS = ("CALLS", "COST", "INPUT", "CACHED", "OUTPUT", "TIME")
COST = 2
NARROWEST = 8
FEWEST = 3
GAP = "  "
UNKNOWN = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What some attempts cost together. `unknown` of them have no price, and are not in `cost_usd`."""

    calls: int
    unknown: int
    cost_usd: float
    estimated: bool
    usage: Usage
    duration_s: float

    @property
    def has_no_price(self) -> bool:
        """Whether nobody said anything of any of them."""
        return 0 < self.calls == self.unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Attempts that belong together, with the words for what they have in common."""

    label: str
    charges: tuple[Charge, ...]
    spent: Spending


BY: dict[str, Callable[[Charge], object]] = {
    "loop": attrgetter("id"),
    "task": lambda charge: charge.task and (charge.workspace, charge.work, charge.task),
    "day": attrgetter("day"),
    "agent": attrgetter("agent"),
    "model": attrgetter("model"),
    "iteration": attrgetter("id", "iteration"),
    "attempt": attrgetter("id", "iteration", "attempt", "at"),
}
"""What charges can be grouped by. Tasks of one title in different lists are different tasks."""


def grouped(charges: Iterable[Charge], by: str) -> list[Group]:
    """The charges in groups, that with the latest attempt first."""
    groups: dict[object, list[Charge]] = {}
    for charge in charges:
        groups.setdefault(BY[by](charge), []).append(charge)
    newest_first = sorted(groups.values(), key=lambda group: max(charge.at for charge in group), reverse=True)
    labels = _labels([group[0] for group in newest_first], by)
    return [Group(label=label, charges=tuple(group), spent=added(group)) for label, group in zip(labels, newest_first, strict=True)]


def added(charges: Iterable[Charge]) -> Spending:
    """Their sums."""
    charges = tuple(charges)
    cost = 0.0
    for charge in charges:  # one after the other, as the loop itself adds up: `sum` rounds otherwise from Python 3.12 on
        cost += charge.cost_usd or 0.0
    return Spending(
        calls=len(charges),
        unknown=sum(charge.cost_usd is None for charge in charges),
        cost_usd=cost,
        estimated=any(charge.estimated for charge in charges),
        usage=Usage(**{name: sum(getattr(charge.usage, name) for charge in charges) for name in TOKENS}),
        duration_s=sum(charge.duration_s for charge in charges),
    )


TOKENS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")


# --- labels -----------------------------------------------------------------------------------------------------------


def _labels(firsts: Sequence[Charge], by: str) -> list[str]:
    """What each group is called; where that would be the same for two, more is said."""
    loops = {charge.id: charge.loop for charge in firsts}
    names = Counter(loops.values())
    called = {loop_id: one_line(loop_id if names[name] > 1 else name) for loop_id, name in loops.items()}
    say = _SAY[by]
    labels = [say(charge, called) for charge in firsts]
    again = Counter(labels)
    return [f"{label} ({_place(charge)})" if by == "task" and again[label] > 1 else label for label, charge in zip(labels, firsts, strict=True)]


_SAY: dict[str, Callable[[Charge, Mapping[str, str]], str]] = {
    "loop": lambda charge, called: called[charge.id],
    "task": lambda charge, _: one_line(charge.task or UNKNOWN),
    "day": lambda charge, _: charge.day,
    "agent": lambda charge, _: one_line(charge.agent or UNKNOWN),
    "model": lambda charge, _: one_line(charge.model or UNKNOWN),
    "iteration": lambda charge, called: f"{called[charge.id]} {charge.iteration}",
    "attempt": lambda charge, called: f"{called[charge.id]} {charge.iteration}/{charge.attempt or UNKNOWN}",
}


def _place(charge: Charge) -> str:
    """Where a task stands."""
    return one_line(posixpath.join(posixpath.basename(charge.workspace), charge.work or ""))


# --- the table --------------------------------------------------------------------------------------------------------


def render_cost(groups: Sequence[Group], by: str, *, columns: int = 0, colour: bool = False) -> str:
    """The table with its sum, fitted to that many columns (0: no bound), and what has to be said of it."""
    if not groups:
        return "No attempts yet.\n"
    charges = [charge for group in groups for charge in group.charges]
    rows = [(by.upper(), *HEADINGS), *((group.label, *_figures(group.spent)) for group in groups), ("total", *_figures(added(charges)))]
    widths = _fitted([max(map(width, column)) for column in zip(*rows, strict=True)], columns)
    lines = [_line(row, widths, colour=colour and number > 0) for number, row in enumerate(rows)]
    return "\n".join([*lines, *(paint(line, "dim" if colour else None) for note in _notes(charges) for line in wrap(note, columns))]) + "\n"


def _figures(spent: Spending) -> tuple[str, ...]:
    used = spent.usage
    read = used.input_tokens + used.cache_write_tokens + used.cache_read_tokens  # what went in, as the console says it
    said = [magnitude(number) for number in (read, used.cache_read_tokens, used.output_tokens)] if used.has_tokens else [UNKNOWN] * 3
    cost = UNKNOWN if spent.has_no_price else money(spent.cost_usd, estimated=spent.estimated or spent.unknown > 0)
    return str(spent.calls), cost, *said, duration(spent.duration_s) if spent.duration_s else UNKNOWN


def _notes(charges: Sequence[Charge]) -> Iterable[str]:
    unknown = sum(charge.cost_usd is None for charge in charges)
    if any(charge.estimated and charge.cost_usd is not None for charge in charges):
        yield "~ is an estimate, at least in part."
    if unknown:
        yield f"{count(unknown, 'attempt')} without a price, and in no sum: nobody has said what {'it' if unknown == 1 else 'they'} cost."


def _fitted(natural: list[int], columns: int) -> list[int]:
    """What a row is called gives way first, down to a few letters; then whole columns, from the right; the cost stays."""
    if not columns:
        return natural
    label, *figures = natural
    while len(figures) >= FEWEST and _total([min(label, NARROWEST), *figures]) > columns:
        figures.pop()
    return [min(label, max(columns - _total([0, *figures]), 1)), *figures]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _line(row: Sequence[str], widths: Sequence[int], *, colour: bool) -> str:
    label, *figures = row[: len(widths)]
    cells = [pad(clip(label, widths[0]), widths[0]), *(" " * (size - width(text)) + text for text, size in zip(figures, widths[1:], strict=True))]
    if colour and row[COST][0] in {"~", UNKNOWN}:
        cells[COST] = " " * (widths[COST] - width(row[COST])) + paint(row[COST], "yellow")
    return GAP.join(cells).rstrip()


# --- JSON -------------------------------------------------------------------------------------------------------------


def cost_as_dict(groups: Sequence[Group], by: str, left_out: Mapping[str, int]) -> dict[str, Any]:
    """The same for programs. A row has every fact that is known and the same for all of its attempts, else null."""
    total = added(charge for group in groups for charge in group.charges)
    rows = [_common(group.charges) | _data(group.spent) for group in groups]
    return {"by": by, "rows": rows, "total": _data(total), "left_out": dict(left_out)}


_FACTS = ("loop", "id", "workspace", "work", "task", "day", "agent", "model", "iteration", "attempt", "purpose")


def _common(charges: Sequence[Charge]) -> dict[str, object]:
    facts = {name: {getattr(charge, name) for charge in charges} for name in _FACTS}
    return {name: values.pop() if len(values) == 1 else None for name, values in facts.items()}


def _data(spent: Spending) -> dict[str, Any]:
    return {
        "cost_usd": None if spent.has_no_price else spent.cost_usd,
        "estimated": spent.estimated,
        "unknown": spent.unknown,
        **{name: getattr(spent.usage, name) for name in TOKENS},
        "calls": spent.calls,
        "duration_s": spent.duration_s,
    }
