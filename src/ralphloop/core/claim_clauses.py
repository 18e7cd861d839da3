"""The clauses of a sentence: each weighed by itself, then against its neighbours ("failures: none", "it crashed, fixed now")."""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from ralphloop.core.claim_weight import BAD, PRESENT, weigh
from ralphloop.core.claim_words import Signal

_SHORT = 500
NOTHING = re.compile(
    r"(?:none|nothing|0|zero|nil|no|keine[rs]?|nichts|geen|niets|aucun\w*|rien|ningun\w*|nada|nenhum\w*|nessun\w*|niente|nulla|brak|нет|ничего|немає|нічого|yok|無|无|没有|"
    r"なし|없음)(?: (?:required|needed|necessary|left|open|to do|more|at all|whatsoever|nötig|mehr))?"
)
_OPEN_LABEL = re.compile(r"\W*(?:still )?(?:open|offen|ouvert|abierto|aberto|aperto|otwarte|открыто|відкрито|açık)")
_RELATIVE = re.compile(r"(?:die|der|das|welche\w*|that|which|who|qui|que|che|któr\w+|котор\w+|як\w+|dat)\b")
# "Two tests broke; now all 94 pass."
_NOW = re.compile(r"\b(?:now|jetzt|nun|maintenant|ahora|agora|adesso|teraz|теперь|тепер)\b")
_OTHERS = re.compile(r"\b(?:others?|rest|anderen|autres|otr[oa]s|outr[oa]s|altr[ie])\b")
# "I did not touch X; it never used Y": the reason for what was left alone.
_LEFT_ALONE = re.compile(r"\b(?:i|we) (?:did not|didn't|have not|haven't) (?:touch|chang|modif|alter)\w*")
_NEVER_USED = re.compile(r"(?:it |they )?never (?:imported|used|referenced|depended|needed|included)\b")
# What is wanted of somebody is not excused by having been agreed.
_WANTING = re.compile(r"\b(?:i|we) (?:still )?(?:need|wait|lack|must)|\bstill (?:need|fail|to|has to|have to|must|red|broken|crash)|\bblocked\b")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)+")
_SPLIT = re.compile(
    r"[,;:()、，；：—–=]|(?<=지만)\s|\s->\s|\s-\s|→|\b(?:but|aber|maar|mais|pero|mas|(?<!nie )ma|ale|но|але|ama|and|und|et|y|e|и|ve|while|whereas)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause of a sentence and what it signals; `colon` says that a colon leads into the next one."""

    text: str
    signals: frozenset[Signal]
    colon: bool = False


def clauses_of(sentence: str, languages: frozenset[str]) -> tuple[Clause, ...]:
    """The clauses of a folded sentence, weighed, also against one another."""
    return _remembered(sentence, languages) if len(sentence) <= _SHORT else _clauses(sentence, languages)


@lru_cache(maxsize=256)
def _remembered(sentence: str, languages: frozenset[str]) -> tuple[Clause, ...]:
    """Each sentence is asked about several times by the questions of the rule."""
    return _clauses(sentence, languages)


def _clauses(sentence: str, languages: frozenset[str]) -> tuple[Clause, ...]:
    clauses = [Clause(text=text, signals=weigh(text, languages), colon=colon) for text, colon in _split(_NUMBER.sub("#", sentence))]
    for at, (clause, following) in enumerate(itertools.pairwise(clauses)):
        clauses[at] = replace(clause, signals=_continued(clause, following))
    later = frozenset[Signal]()
    for at in range(len(clauses) - 1, -1, -1):
        own = clauses[at].signals
        if own >= {Signal.DONE, Signal.WHOLE} and not own & BAD and _NOW.search(clauses[at].text) and not _OTHERS.search(clauses[at].text):
            own |= {Signal.CURED}
        clauses[at] = replace(clauses[at], signals=_forgiven(clauses[at], later))
        if Signal.DENIED not in own:
            later |= own
    if len(clauses) > 1 and _LEFT_ALONE.match(clauses[0].text) and _NEVER_USED.match(clauses[-1].text):
        clauses[-1] = replace(clauses[-1], signals=clauses[-1].signals - {Signal.NEGATED, Signal.NEGATION})
    return tuple(clauses)


def _continued(clause: Clause, following: Clause) -> frozenset[Signal]:
    """What a clause signals together with the next one: "Failures:" and "none", "no task" and "that is done"."""
    if clause.colon and NOTHING.fullmatch(following.text.strip(" .!*")):
        return _zeroed(clause.signals)
    if Signal.VOID in clause.signals and Signal.DONE in following.signals and _RELATIVE.match(following.text):
        return clause.signals | {Signal.DENIED}
    if clause.colon and _OPEN_LABEL.fullmatch(clause.text):
        return clause.signals | {Signal.OPEN}
    return clause.signals


def weighed(sentence: str, languages: frozenset[str] = frozenset()) -> frozenset[Signal]:
    """All that a folded sentence signals after its negations."""
    return frozenset[Signal]().union(*(clause.signals for clause in clauses_of(sentence, languages)))


def _split(sentence: str) -> Iterator[tuple[str, bool]]:
    start = 0
    for found in _SPLIT.finditer(sentence):
        if text := sentence[start : found.start()].strip():
            yield text, found[0].strip() in {":", "：", "=", "->", "→"}
        start = found.end()
    if text := sentence[start:].strip():
        yield text, False


def _zeroed(signals: frozenset[Signal]) -> frozenset[Signal]:
    """What "Failures:" signals when "none" follows, and "Passed:" likewise."""
    if signals & BAD:
        return (signals - BAD - {Signal.NEGATION, Signal.NEGATED, Signal.LATER, Signal.PLAN, Signal.DENIED}) | {Signal.ZERO}
    return signals | {Signal.DENIED} if signals & {Signal.DONE, Signal.LACKED} else signals


def _forgiven(clause: Clause, following: frozenset[Signal]) -> frozenset[Signal]:
    """What a clause signals in the light of the clauses that follow it; what fails right now, no cure of something else forgives."""
    signals = clause.signals
    if Signal.CONDITION in signals:
        return signals
    if Signal.CURED in following and not PRESENT.search(clause.text):
        signals -= BAD | {Signal.DENIED, Signal.NEGATED}
    if Signal.EXCUSED in following | signals and Signal.LACKED not in signals and not _WANTING.search(clause.text):
        signals -= {Signal.OPEN, Signal.DENIED, Signal.STILL, Signal.NEGATED, Signal.NEGATION}
    return signals
