"""What follows a claim: a report that leaves it standing, or words and facts that take it back."""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import re
from collections.abc import Sequence

from ralphloop.core.claim_clauses import weighed
from ralphloop.core.claim_counts import NOT_ALL, names_part, partial_count
from ralphloop.core.claim_sentences import EVIDENCE, FAILED_RUN, QUESTION, WAITING_EMOJI, doubt_in, harmless, shows_failure, takes_back
from ralphloop.core.claim_signals import languages_of, signals_of
from ralphloop.core.claim_tables import open_row
from ralphloop.core.claim_units import TAG_MARK, Unit, is_title, sentences
from ralphloop.core.claim_words import Signal
from ralphloop.core.markdown_lines import LineKind

_REFERS_BACK = re.compile(
    r"\b(?:above|the tag|that tag|this tag|the line|the promise|oben|ci-dessus|arriba|acima|sopra|powyż\w*|выше|вище|yukarıda\w*)\b|以上|上面|上記|위의?\b|^(?:that|this|it) (?:is|was|would|only|covers|applies|holds|assumes|means)\b"
)
_LISTED_FEATURE = re.compile(
    r"\b(?:errors?|empty|invalid|conflicts?|exceptions?|time-?outs?|stale|rejected|refused|denied|deadlocks?|panics?|duplicates?|issues?|missing|crash|crashes|failures?)\b"
)
_LISTED_FACT = re.compile(r"\d|\b(?:is|are|was|were|has|have|gets?|got|throws?|gives?|returns?|still|on|in|fails?|known|with)\b")


# After a claim it is also harmless to say what was left alone.
_REPORTS = EVIDENCE | {Signal.IDLE, Signal.EXCUSED}
_LABEL = re.compile(r"\*\*[^*\n]{1,40}[.:]\*\*\s|\*\*[^*\n]{1,40}\*\*:\s")
_ASKED = re.compile(r"\s*(?:\*\*|q: ?)[^*\n]{1,200}\?", re.IGNORECASE)
_YES = re.compile(r"\W*(?:yes|ja|oui|sí|sim|sì|tak|да|так|evet)\b")
_NO = re.compile(r"\W*(?:no|none|nothing|nein|keine|nee|non|aucun|não|nie|нет|ні|hayır)\b[^,;]{0,20}$")
_WHAT_IF = re.compile(r"\W*(?:what if|why|how|was, wenn|warum|wie|et si|pourquoi|comment|y si|por qué|cómo)\b")
_MANUAL = re.compile(
    r"\W*(?:usage|(?:usage )?examples?|sample (?:usage|output|session)|how to (?:use|run|try|install)(?: it)?|instructions|procedure|format)\W*"
)
_REFRESHED = re.compile(r"\b(?:was|were|(?:has|have) been) (?:re(?:generated|freshed|built|written|named|formatted|ordered)|updated|translated)\b")
_TALK = frozenset({Signal.NEGATION, Signal.LATER, Signal.CONDITION, Signal.EXAMPLE, Signal.SOURCE, Signal.MENTION})
_BAD = frozenset({Signal.TROUBLE, Signal.OPEN, Signal.STILL, Signal.DENIED, Signal.NEGATED, Signal.TAKEN_BACK})


def withdrawal(units: Sequence[Unit]) -> str:
    """Why what follows a claim takes it back, or leaves a doubt."""
    prose = " ".join(unit.folded for unit in units if unit.kind not in {LineKind.CODE, LineKind.TABLE})
    languages = languages_of(prose)
    optional = False
    if row := open_row(units):
        return f"a table shows open work in line {row}"
    for at, unit in enumerate(units):
        titled = is_title(units, at)
        if titled:
            optional = Signal.OPTIONAL in signals_of(unit.folded, languages)
        if reason := _withdraws(unit, languages, optional=optional, titled=titled):
            return f"{reason} in line {unit.number}"
    return ""


def _bad_unit(unit: Unit, folded: str, *, optional: bool) -> str:
    """What the form of a statement says, before its sentences are read."""
    if TAG_MARK in unit.text:
        return "the tag is spoken of again"
    if unit.kind in {LineKind.CODE, LineKind.HIDDEN}:
        return "a failing run is shown" if FAILED_RUN.search(folded) or "missing" in folded else ""
    if unit.kind is LineKind.TABLE:
        return ""
    if unit.box == "open" and not optional:
        return "an open box stands"
    if WAITING_EMOJI.search(unit.text) or (partial_count(folded) and not optional):
        return "work is left"
    return "a failing run is shown" if shows_failure(folded) else ""


def _withdraws(unit: Unit, languages: frozenset[str], *, optional: bool, titled: bool) -> str:
    folded = unit.folded
    reason = _bad_unit(unit, folded, optional=optional)
    if reason or unit.kind in {LineKind.CODE, LineKind.HIDDEN, LineKind.TABLE}:
        return reason
    if unit.ticked:
        return doubt_in(folded, languages, strict=False)
    listed = unit.kind in {LineKind.ITEM, LineKind.HEADING} or bool(_LABEL.match(unit.text))
    if listed and not _LISTED_FACT.search(folded):
        folded = _LISTED_FEATURE.sub("#", folded)
    doubts = (
        _sentence_withdraws(sentence, languages, listed=listed, optional=optional, titled=titled) for sentence in _statements(unit, folded, languages)
    )
    return next((reason for reason in doubts if reason), "")


def _statements(unit: Unit, folded: str, languages: frozenset[str]) -> list[str]:
    """The sentences of a statement; a question that it answers itself is left out."""
    parts = sentences(folded)
    if len(parts) < 2 or not _ASKED.match(unit.text) or not QUESTION.search(parts[0]):
        return parts
    bad = weighed(parts[0], languages) & _BAD
    if bad and _NO.match(parts[1]):
        return parts[2:]
    answered = _YES.match(parts[1]) or _WHAT_IF.match(parts[0]) or not _NO.match(parts[1])
    return parts[1:] if answered and (not bad or _WHAT_IF.match(parts[0])) else parts


def _sentence_withdraws(sentence: str, languages: frozenset[str], *, listed: bool, optional: bool, titled: bool) -> str:
    if reason := takes_back(sentence, languages, listed=listed) or doubt_in(sentence, languages, optional=optional):
        return reason
    if titled and not optional and Signal.PLAN in signals_of(sentence, languages) and not _MANUAL.fullmatch(sentence):
        return "a plan follows"
    if listed:
        return ""
    if reason := _refers_back(sentence, languages):
        return reason
    if _REFRESHED.search(sentence) and not weighed(sentence, languages) & _TALK:
        return ""
    return "" if titled or harmless(sentence, languages, _REPORTS) else "what follows may take it back"


def _refers_back(sentence: str, languages: frozenset[str]) -> str:
    """Whether it speaks of the claim itself, other than to confirm it."""
    if names_part(sentence) and NOT_ALL.search(sentence):
        return "it is limited to a part"
    found = weighed(sentence, languages)
    confirmed = found & {Signal.DONE, Signal.THANKS, Signal.ZERO} and not found & {Signal.EXAMPLE, Signal.CONDITION, Signal.NEGATION}
    return "the claim is spoken of again" if _REFERS_BACK.search(sentence) and not confirmed else ""
