"""Which task of one list stands for which task of another.

First the tasks whose text is the same are paired: under their old heading and parent if they can be, and those that are still as open as they
were before others. Of what is left, an open task may have been reworded or split; `wording.py` has the rule. Each new line is used once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from ralphloop.work.tasklist import PlacedTask
from ralphloop.work.wording import Wording, carried, is_split, read_wording, rewording, stem

Matches = Mapping[int, tuple[int, ...]]  # by their numbers in the two lists: the old task, and the new ones that stand for it

# The nearest lines that share a word are looked at, so that a list rewritten from end to end is judged in bounded time.
_NEAREST = 8

MOST_TASKS = 10_000
"""In longer lists a task is known by its text alone: nobody waits for minutes to learn which of them was reworded."""

_IDENTITIES: tuple[Callable[[PlacedTask], Hashable], ...] = (
    lambda placed: (placed.task.key, placed.heading, placed.parent, placed.task.stage),
    lambda placed: (placed.text, placed.heading, placed.parent, placed.task.stage),
    lambda placed: (placed.text, placed.heading, placed.parent),
    lambda placed: (placed.text, placed.task.stage),
    lambda placed: placed.text,
)


class Matcher:
    """Pairs the tasks of two outlines."""

    def __init__(self, before: Sequence[PlacedTask], after: Sequence[PlacedTask]) -> None:
        self._before = before
        self._after = after
        self._matches: dict[int, tuple[int, ...]] = {}
        self._free = dict.fromkeys(range(len(after)))

    def matches(self) -> Matches:
        """Every pairing, in the order of the old list."""
        for identity in _IDENTITIES:
            self._pair_unchanged(identity)
        lost = [number for number, placed in enumerate(self._before) if placed.task.is_open and number not in self._matches]
        if lost and self._free and len(self._before) + len(self._after) <= MOST_TASKS:
            self._recognise(lost)
        return dict(sorted(self._matches.items()))

    def _pair_unchanged(self, identity: Callable[[PlacedTask], Hashable]) -> None:
        pool: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        for number in self._free:
            pool[identity(self._after[number])].append(number)
        for number, placed in enumerate(self._before):
            if number not in self._matches and (alike := pool.get(identity(placed))):
                self._take(number, alike.popleft())

    def _take(self, number: int, *others: int) -> None:
        self._matches[number] = tuple(sorted((*self._matches.get(number, ()), *others)))
        for other in others:
            del self._free[other]

    def _recognise(self, lost: list[int]) -> None:
        self._new = {number: read_wording(self._after[number].text) for number in self._free}
        self._carriers: defaultdict[str, list[int]] = defaultdict(list)
        for number, wording in self._new.items():
            for key in _keys(wording.words):
                self._carriers[key].append(number)
        places = dict(self._places())
        old = {number: read_wording(self._before[number].text) for number in lost}
        near = {number: self._candidates(old[number], places[number]) for number in lost}
        self._recognise_reworded(old, near)
        for number in lost:
            if number not in self._matches:
                self._recognise_split(number, old[number], near[number])
        for number in lost:
            if number in self._matches:
                self._add_parts(number, old[number], near[number])

    def _places(self) -> Iterator[tuple[int, int]]:
        """Where each old task would stand among the new ones: right after the one before it."""
        place = -1
        for number in range(len(self._before)):
            place = self._matches[number][-1] if number in self._matches else place + 1
            yield number, place

    def _candidates(self, wording: Wording, place: int) -> list[int]:
        """New tasks that share words with the old one: those that share the rarest first, and the nearest of them."""
        shared: defaultdict[int, float] = defaultdict(float)
        for key in sorted(_keys(wording.significant)):  # in one order, so that the sums are the same in every process
            carriers = self._carriers.get(key, [])
            middle = bisect_left(carriers, place)
            for number in carriers[max(0, middle - _NEAREST) : middle + _NEAREST]:
                shared[number] += 1 / len(carriers)
        return sorted(shared, key=lambda number: (-shared[number], abs(number - place), number))[: 2 * _NEAREST]

    def _recognise_reworded(self, old: Mapping[int, Wording], near: Mapping[int, list[int]]) -> None:
        pairs = sorted(
            (distance, rank, number, other)
            for number, others in near.items()
            for rank, other in enumerate(others)
            if (distance := rewording(old[number], self._new[other], ticked=self._is_done(other))) is not None
        )
        for _, _, number, other in pairs:
            if number not in self._matches and other in self._free:
                self._take(number, other)

    def _recognise_split(self, number: int, old: Wording, near: list[int]) -> None:
        parts: list[int] = []
        told: frozenset[str] = frozenset()
        for other in near:
            if other in self._free and (more := carried(old, self._new[other]) - told):
                parts.append(other)
                told |= more
        if parts and is_split(old, [self._new[part] for part in parts], ticked=all(map(self._is_done, parts))):
            self._take(number, *parts)

    def _add_parts(self, number: int, old: Wording, near: list[int]) -> None:
        """A task that is recognised in several new lines was split into them."""
        for other in near:
            if other in self._free and rewording(old, self._new[other], ticked=self._is_done(other)) is not None:
                self._take(number, other)

    def _is_done(self, number: int) -> bool:
        return not self._after[number].task.is_open


def _keys(words: frozenset[str]) -> set[str]:
    """What to look a wording up by: its words, which may be rare, and their stems, which words of the same meaning share."""
    return {*words, *map(stem, words)}
