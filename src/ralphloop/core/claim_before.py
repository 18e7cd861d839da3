"""What stands anywhere before a claim: does any of it say that work is open right now."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from ralphloop.core.claim_clauses import NOTHING, weighed
from ralphloop.core.claim_counts import partial_count
from ralphloop.core.claim_sentences import FAILED_RUN, PASSED_RUN, WAITING_EMOJI, doubt_in, harmless
from ralphloop.core.claim_signals import languages_of, signals_of
from ralphloop.core.claim_tables import open_row
from ralphloop.core.claim_units import Unit, is_title, sentences
from ralphloop.core.claim_weight import SETTLING
from ralphloop.core.claim_words import Signal
from ralphloop.core.markdown_lines import LineKind

_SELF_CHECK = re.compile(r"^\W*(?:double|final|last|re|self|sanity|quick)[ -]?check(?:s|ing|list)?\b")
_RESULT = re.compile(r"(?:→|->|=>|:) *\S")
_UNDECIDED = re.compile(r"\b(?:running|pending|waiting|queued|in progress|todo|tbd|unknown|skipped|later|soon)\b")
_NONE = re.compile(r"\W*" + NOTHING.pattern + r"(?!\w)")


def contradiction(units: Sequence[Unit]) -> str:
    """Why what stands anywhere before a claim says that work is open."""
    red = 0
    languages = languages_of(" ".join(unit.folded for unit in units if unit.kind in {LineKind.TEXT, LineKind.ITEM}))
    optional = False
    if row := open_row(units):
        return f"a table shows open work in line {row}"
    for at, unit in enumerate(units):
        folded = unit.folded
        if is_title(units, at):
            optional = Signal.OPTIONAL in signals_of(folded, languages)
            if _open_title(units, at, languages):
                return f"line {unit.number} lists open work"
        if FAILED_RUN.search(folded) and not _settled(folded, languages):
            red = unit.number
        elif PASSED_RUN.search(folded) or _settled(folded, languages):
            red = 0
        if reason := _contradicts(unit, folded, languages, optional=optional):
            return f"{reason} in line {unit.number}"
    return f"the last test run before it failed in line {red}" if red else ""


def _settled(folded: str, languages: frozenset[str]) -> bool:
    return bool(SETTLING & weighed(folded, languages))


def _open_title(units: Sequence[Unit], at: int, languages: frozenset[str]) -> bool:
    found = weighed(units[at].folded, languages)
    listed = list(itertools.takewhile(lambda unit: unit.kind is LineKind.ITEM, units[at + 1 : at + 51]))
    if listed and _SELF_CHECK.match(units[at].folded):
        return not all(_checked(unit, languages) for unit in listed)
    if not found & {Signal.OPEN, Signal.STILL} or found & {Signal.OPTIONAL, Signal.ZERO, Signal.DONE, Signal.SETTLED, Signal.CURED, Signal.EXCUSED}:
        return False
    content = units[at + 1] if at + 1 < len(units) else None
    if content is None or _NONE.match(content.folded):
        return False
    states = [weighed(unit.folded, languages) for unit in listed]
    return not states or not all(Signal.DONE in state and Signal.DENIED not in state for state in states)


def _checked(unit: Unit, languages: frozenset[str]) -> bool:
    """Whether an item of a self-check tells a result, and no trouble."""
    told = unit.ticked or bool(_RESULT.search(unit.text)) or harmless(unit.folded, languages)
    return (
        told
        and unit.box != "open"
        and not doubt_in(unit.folded, languages)
        and not (FAILED_RUN.search(unit.folded) or _UNDECIDED.search(unit.folded))
    )


def _contradicts(unit: Unit, folded: str, languages: frozenset[str], *, optional: bool) -> str:
    if unit.box == "open" and not optional:
        return "an open box stands"
    if unit.kind not in {LineKind.TEXT, LineKind.ITEM, LineKind.HEADING} or optional:
        return ""
    if WAITING_EMOJI.match(unit.text):
        return "work is left"
    if unit.ticked:
        return ""
    if partial_count(folded) and signals_of(folded, languages) & {Signal.DONE, Signal.PART} and not _settled(folded, languages):
        return "only a part is counted"
    for sentence in sentences(folded):
        if reason := doubt_in(sentence, languages, strict=False):
            return reason
    return ""
