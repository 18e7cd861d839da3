"""Is it the same task in other words, or another one.

A rule on words, because nothing else can be proved later. What a task asks for is in its *significant* words: not its articles, not the verb that
every task begins with (unless too little is left). Words may be added freely. A word may be replaced where enough others stand, never merely
dropped: dropping is how a task gets weaker. Numbers, negations and quantifiers stand for themselves.

| | significant words that may be replaced |
|---|---|
| the task stays open | one in four |
| it is ticked as well | one in eight, and nothing is added that takes the tick back ("skipped", "partly", …) |
| it is split into several | none; the parts together carry every word, the verb too |

In doubt the answer is no: then the old line comes back beside the new one, which costs a tick, while a yes would move the goalposts unseen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Scripts written without spaces are compared sign by sign.
_SIGNS = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_SIGNS}]|[^\W_{_SIGNS}]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SILENT = _set("a an the this that these those it its of for to in on at by from with into via as is are be and or so then when our your")
_VERBS = _set(
    "add build change configure create define develop enable ensure extend fix handle implement improve include introduce make "
    "prepare provide refactor rewrite set setup support up update use write"
)
_FILLERS = _set("basic code feature function functionality method new proper simple")
_FIRM = _set("all any both each every must never no not only without")
_REVERSALS = _set("avoid cancel delete disable drop ignore omit postpone remove revert skip undo")
_EXCUSES = _set(
    "blocked cancelled deferred except excluding incomplete later mocked never no not omitted only partial partially partly placeholder "
    "postponed skip skipped stub stubbed tbd todo unless unnecessary without wontfix"
)

MAX_WORDS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The words of a task, or of the parts of a split one. `leads` are the words that they begin with."""

    words: frozenset[str]
    significant: frozenset[str]
    leads: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Distance:
    """How far a recognised wording is from the old one: less is nearer."""

    lost: int
    gained: int


def read_wording(text: str) -> Wording:
    """The words of a task's normalised text."""
    words = _WORD.findall(text)
    told = frozenset(words)
    spoken = told - _SILENT
    strong = spoken - _VERBS - _FILLERS
    return Wording(words=told, significant=strong if len(strong) >= 2 else spoken or told, leads=frozenset(words[:1]))


def joined(parts: Sequence[Wording]) -> Wording:
    """Several wordings taken together."""
    return Wording(
        words=frozenset().union(*(part.words for part in parts)),
        significant=frozenset().union(*(part.significant for part in parts)),
        leads=frozenset().union(*(part.leads for part in parts)),
    )


def rewording(old: Wording, new: Wording, *, ticked: bool) -> Distance | None:
    """How far the new wording is from the old, or None where it is not recognisably the same task."""
    if not _is_comparable(old, new):
        return None
    lost = _missing(old.significant, new.words)
    gained = _missing(new.significant, old.words)
    expendable = len(old.significant) // (8 if ticked else 4)
    if len(lost) > min(expendable, len(gained)) or any(_is_firm(word) for word in lost):
        return None
    if _turns_round(old, new) or (ticked and (new.words - old.words) & _EXCUSES):
        return None
    return Distance(lost=len(lost), gained=len(gained))


def is_split(old: Wording, parts: Sequence[Wording], *, ticked: bool) -> bool:
    """Whether the parts together ask for everything that the old task asked for."""
    new = joined(parts)
    if not _is_comparable(old, new) or _missing(old.words - _SILENT, new.words) or _turns_round(old, new):
        return False
    return not (ticked and (new.words - old.words) & _EXCUSES)


def carried(old: Wording, new: Wording) -> frozenset[str]:
    """The words of the old wording that the new one carries."""
    spoken = old.words - _SILENT
    return spoken - _missing(spoken, new.words)


def stem(word: str) -> str:
    """A key that words which count as the same have in common."""
    return word[:3]


def _is_comparable(old: Wording, new: Wording) -> bool:
    return bool(old.words) and max(len(old.words), len(new.words)) <= MAX_WORDS


def _turns_round(old: Wording, new: Wording) -> bool:
    return bool((new.leads - old.words) & _REVERSALS)


def _is_firm(word: str) -> bool:
    return word in _FIRM or any(sign.isdigit() for sign in word)


def _missing(words: frozenset[str], there: frozenset[str]) -> frozenset[str]:
    rest = words - there
    if not rest:
        return rest
    alike: dict[str, list[str]] = {}
    for word in there:
        alike.setdefault(stem(word), []).append(word)
    return frozenset(word for word in rest if not any(_is_same(word, other) for other in alike.get(stem(word), ())))


def _is_same(one: str, other: str) -> bool:
    """Equal but for an ending (test, tests; validate, validation) or an abbreviation (auth, authentication)."""
    if one == other:
        return True
    if _is_firm(one) or _is_firm(other):
        return False
    short, long = sorted((one, other), key=len)
    if long == f"{short}s":
        return True
    common = next((at for at, (left, right) in enumerate(zip(short, long, strict=False)) if left != right), len(short))
    return common >= 4 and (common == len(short) or (common >= 5 and 3 * common >= 2 * len(long)))
