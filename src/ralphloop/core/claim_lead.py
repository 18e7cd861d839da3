"""What introduces a claim: the sentence, the list or the title directly before it, which must assert that the work is done."""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from ralphloop.core.claim_clauses import NOTHING, clauses_of, weighed
from ralphloop.core.claim_counts import NOT_ALL, QUANTIFIED, names_part, partial_count
from ralphloop.core.claim_sentences import (
    EVIDENCE,
    EXCEPT,
    FOREIGN,
    PAST,
    QUESTION,
    SAYS_NO,
    WAITING_EMOJI,
    doubt_in,
    harmless,
    shows_failure,
    takes_back,
)
from ralphloop.core.claim_signals import languages_of, signals_of, words_of
from ralphloop.core.claim_units import INLINE_HTML, TAG_MARK, Unit, ends_sentence, is_title, plain, sentences
from ralphloop.core.claim_weight import BAD
from ralphloop.core.claim_words import Signal
from ralphloop.core.markdown_lines import LineKind, MarkdownLine

_ROLES = frozenset({"user", "assistant", "system", "human", "codex", "claude", "gemini", "amp", "model", "tool", "agent", "ai"})
_REPORTED = re.compile(
    r"\b(?:reviewer|worker|sub-?agent|agent|tester|he|she|they|script|log|transcript|prüfer|relecteur|revisor|revisore)\b.{0,60}?"
    r"\b(?:wrote|writes|says?|said|reports?|reported|claims?|claimed|states?|stated|meldete|sagte|schrieb|dit|écrit|dice|dijo|diz|disse|detto)\b"
)
_SPEAKER = re.compile(r"\W*(?:user|assistant|system|human|codex|claude|gemini|amp|agent|worker|reviewer|model|tool|sub-?agent)\w*(?:[ -]?\d+)? ?:")
_NAMES_SOMETHING = re.compile(
    r"#|\b(?:front-?end|back-?end|docs?|api|ui|database|server|client|tests?|module|component|the|a|an|with|for|le|la|les|el|los|il|lo|der|die|das|het|de|o|os|as)\b"
)
_SCOPE_WORDS = re.compile(
    r"\b(?:asked for|required|in the (?:spec|prompt|ticket|readme|plan)|docs|documentation|documented|parser|loop|script|log|logs|system|user|read)\b"
)
_THEREFORE = re.compile(
    r"\b(?:therefore|hereby|hence|accordingly|thus|so|now|daher|also|hiermit|donc|ainsi|por tanto|por lo tanto|portanto|quindi|zatem|więc|поэтому|итак|отже|тому|dus|with (?:a )?(?:clear|good) conscience|gladly|happily|proudly|mit gutem gewissen|guten gewissens)\b"
)
_ACCORDING = re.compile(r"\W*(?:according to|laut|gemäß|volgens|selon|d'après|según|segundo|secondo|według|согласно|згідно)\b(?! #)")
_TALK = frozenset({Signal.NEGATION, Signal.LATER, Signal.CONDITION, Signal.EXAMPLE, Signal.SOURCE})
_ONLY_TASK = re.compile(
    r"\b(?:was|is) the (?:one and )?only (?:task|item|ticket|story|issue|point|one)\b(?! (?:that|which|i|we|done|finished|left|complete))"
)
_ONLY_CHANGE = re.compile(r"\bthe only (?:differences?|changes?|diffs?|additions?) (?:is|are|was|were)\b")
_CURED = re.compile(
    r"(?:fixed|solved|resolved|repaired|corrected|behoben|gelöst|repariert|opgelost|corrigé|résolu|corregido|resuelto|arreglado|corrigido|resolvido|"
    r"corretto|risolto|naprawione|poprawione|исправил\w*|исправлено|починил\w*|виправ\w+|düzeltildi|düzelttim)\b(?!.*\b(?:one|two|three|some|most|\d+|by (?:skip|delet|disabl|remov|comment|ignor)\w+)\b)"
)
_ASSERTS_NOTHING = "nothing before it asserts completion"
_GOES_ON = "its sentence goes on into the tag"
_SPOKEN_SOURCE = re.compile(
    r"\b(?:ticket|prompt|instructions?|spec|specification|agents\.md|claude\.md|readme|template|docs|harness|required|asked|requires|by the|from the)\b"
)


def introduced(line: MarkdownLine, head: list[Unit], before: str, *, alone: bool) -> str:
    """Why what stands directly before a claim does not introduce it as one."""
    if not alone:
        return _ends_sentence(line, head, before)
    if line.kind is LineKind.ITEM:
        return _listed(head)
    if not head:
        return ""
    lead = head[-1]
    if lead.text.casefold().strip(" *:#_") in _ROLES:
        return "it is attributed"
    if lead.kind is LineKind.HEADING:
        return _titled(lead)
    if lead.kind is LineKind.ITEM:
        nested = line.indent >= 2
        reason = _listed(head) if lead.ticked else bad_introduction(lead.text, flows=nested or lead.text.endswith((":", "：")), tight=False)
        if reason == _ASSERTS_NOTHING and not nested and _reports(head):
            reason = ""
        return reason or _section(head)
    if lead.kind is LineKind.TEXT and len(head) > 1 and NOTHING.fullmatch(lead.folded.strip(" .!")):
        return "" if weighed(head[-2].folded) & BAD else "it says that there is nothing"
    if lead.kind is LineKind.TEXT:
        return _below_text(head) or _announced_as_other(head)
    return _section(head)


def _below_text(head: list[Unit]) -> str:
    """What speaks against a paragraph above a claim; where it says only what was left alone, the claim rests on what stands above it."""
    lead = head[-1]
    flows = not ends_sentence(lead.text) and (TAG_MARK not in lead.text)
    reason = bad_introduction(lead.text, flows=flows, tight=False)
    if flows or not _leaves_alone(lead):
        return reason
    return ("" if reason == _ASSERTS_NOTHING and _opens_with_claim(head) else reason) or _doubt_above(head)


def _titled(lead: Unit) -> str:
    found = signals_of(lead.folded)
    if found & {Signal.EXAMPLE, Signal.PLAN, Signal.SOURCE, Signal.NEGATION, Signal.CONDITION, Signal.LATER} - _benign(found):
        return "its heading introduces something else"
    if names_part(lead.folded):
        return "its heading names a part"
    return "" if found & {Signal.LABEL, Signal.DONE} else "its heading does not speak of completion"


def _benign(found: frozenset[Signal]) -> set[Signal]:
    return {Signal.PLAN, Signal.SOURCE} if Signal.DONE in found else set()


def _ends_sentence(line: MarkdownLine, head: list[Unit], before: str) -> str:
    text = INLINE_HTML.sub("", before).rstrip(" \t*_`~")
    if TAG_MARK in text or "<promise>" in text or "<response>" in text:
        return "another tag stands on its line"
    if head and line.text[:1].islower() and head[-1].kind in {LineKind.TEXT, LineKind.ITEM} and not ends_sentence(head[-1].text):
        text = f"{head[-1].text} {text}"
    flows = not ends_sentence(text)
    return (
        bad_introduction(text, flows=flows, tight=True)
        or _announced_as_other([*head, head[-1]] if head else [])
        or (_listed(head) if line.kind is LineKind.ITEM else "")
    )


def _announced_as_other(head: list[Unit]) -> str:
    """Whether a line that ends in a colon announces the lead, and with it the tag, as an example, a draft or somebody's words."""
    if len(head) < 2 or not head[-2].text.rstrip(" *_").endswith((":", "：")):
        return ""
    found = signals_of(head[-2].folded)
    other = found & {Signal.EXAMPLE, Signal.LATER, Signal.CONDITION, Signal.SOURCE}
    return f"line {head[-2].number} announces something else" if other and Signal.DONE not in found else ""


def _listed(head: list[Unit]) -> str:
    """A tag as a list item: the list must report, not plan."""
    items = list(itertools.takewhile(lambda unit: unit.kind is LineKind.ITEM, reversed(head)))
    done = ticked = 0
    for unit in items:
        if WAITING_EMOJI.search(unit.text):
            return "an item of its list is open"
        if EXCEPT.search(unit.folded):
            return "an exception is made"
        if unit.ticked:
            ticked += 1
            continue
        if (reason := bad_introduction(unit.text, flows=False, tight=False)) and reason != _ASSERTS_NOTHING:
            return reason
        done += bool(weighed(unit.folded) & {Signal.DONE, Signal.SETTLED, Signal.CURED}) or "`" in unit.text
    if ticked and ticked + done < len(items):
        return "an item of its list is not ticked"
    if (done + ticked) * 2 < len(items):
        return "it is a step of a plan"
    return _section(head)


def _reports(head: list[Unit]) -> bool:
    """Whether a sentence that asserts completion introduces the list that ends here."""
    above = next((unit for unit in reversed(head) if unit.kind is not LineKind.ITEM), None)
    if above is None or above.kind is not LineKind.TEXT:
        return False
    return _asserts(above.folded, frozenset()) and not doubt_in(above.folded, languages_of(above.folded))


def _opens_with_claim(head: list[Unit]) -> bool:
    """Whether the report opens with a sentence that the whole is done, and ends in one that says nothing else."""
    opening = next((unit for unit in head if unit.kind is not LineKind.HEADING), None)
    if opening is None or opening is head[-1] or opening.kind is not LineKind.TEXT:
        return False
    first = sentences(opening.folded)[:1]
    languages = languages_of(" ".join(unit.folded for unit in head if unit.kind is LineKind.TEXT))
    if not first or doubt_in(first[0], languages) or NOT_ALL.search(first[0]) or names_part(first[0]) or partial_count(first[0]):
        return False
    found = weighed(first[0], languages)
    return found >= {Signal.DONE, Signal.WHOLE} and not found & (_TALK | {Signal.MENTION, Signal.PART})


def _doubt_above(head: list[Unit]) -> str:
    """What speaks against the sentence that a claim rests on when the one below it says only what was not touched."""
    above = next((unit for unit in reversed(head[:-1]) if unit.kind is LineKind.TEXT), None)
    last = sentences(above.folded)[-1:] if above and above is head[-2] else []
    if not last:
        return ""
    languages = languages_of(last[0])
    if NOT_ALL.search(last[0]) or (names_part(last[0]) and not QUANTIFIED.search(last[0])):
        return "it is about a part"
    postponed = weighed(last[0], languages) & {Signal.LATER, Signal.CONDITION}
    reason = "it is postponed" if postponed else doubt_in(last[0], languages)
    # Trouble in a report is left to the question whether it was the last word on it.
    return "" if reason == "trouble is reported" else reason


def _leaves_alone(lead: Unit) -> bool:
    """Whether a statement only says what was not touched, or not needed."""
    found = weighed(lead.folded, languages_of(lead.folded))
    quiet = not found & ({Signal.DONE} | _TALK | BAD | {Signal.MENTION, Signal.DENIED, Signal.NEGATED, Signal.PART, Signal.PLAN})
    return quiet and bool(found & {Signal.ZERO, Signal.IDLE, Signal.EXCUSED, Signal.SETTLED})


def _section(head: list[Unit]) -> str:
    """What the nearest title above a list or block announces."""
    for at in range(len(head) - 1, -1, -1):
        unit = head[at]
        if is_title(head, at):
            return _announces_other(unit)
        if unit.kind is LineKind.TEXT and unit.after_blank and at < len(head) - 1:
            return ""
    return ""


def _announces_other(title: Unit) -> str:
    """Whether a title announces a plan, a part, an example or somebody's words."""
    if _REPORTED.search(title.folded):
        return "it is attributed"
    if len(words_of(title.folded)) > 12:
        return ""
    found = signals_of(title.folded)
    planned = found & {Signal.PLAN, Signal.EXAMPLE, Signal.OPEN, Signal.LATER, Signal.CONDITION}
    excused = found & {Signal.DONE, Signal.LABEL, Signal.ZERO, Signal.OPTIONAL}
    postponed = signals_of(title.folded, languages_of(title.folded) | {"en"}) & {Signal.LATER, Signal.CONDITION}
    if postponed or NOT_ALL.search(title.folded) or (planned and not excused):
        return f"it stands in a section of something else (line {title.number})"
    return ""


def bad_introduction(text: str, *, flows: bool, tight: bool) -> str:
    """Why the text directly before a claim does not assert completion.

    `flows`: its sentence goes on into the tag; `tight`: they share a line, so that a complete assertion is asked for.
    """
    folded = plain(text)
    parts = sentences(folded)
    if not parts:
        return "" if not (flows or tight) else _ASSERTS_NOTHING
    languages = languages_of(folded)
    last = _ONLY_CHANGE.sub("#", _ONLY_TASK.sub("#", _SCOPE_WORDS.sub("#", parts[-1])))
    found = weighed(last, languages)
    if reason := _bad_sentences(parts, last, languages, tight=tight):
        return reason
    if found >= {Signal.DONE, Signal.WHOLE, Signal.SOURCE}:
        last = _SPOKEN_SOURCE.sub("#", last)
        found = weighed(last, languages)
    if flows or tight:
        reason = _bad_flow(last, found, flows=flows, tight=tight)
        if reason == _ASSERTS_NOTHING and tight and found & {Signal.ZERO} and _follows_up(parts, found, languages):
            return ""
        return "" if reason in {_ASSERTS_NOTHING, _GOES_ON} and _announced(parts, found, languages) else reason
    return _bad_lead(parts, last, found, languages)


def _bad_sentences(parts: Sequence[str], last: str, languages: frozenset[str], *, tight: bool) -> str:
    """What speaks against a claim whether the text goes on into it or not."""
    if QUESTION.search(last):
        return "it is asked"
    if any(_SPEAKER.match(sentence) for sentence in parts) or _REPORTED.search(last) or _ACCORDING.match(last):
        return "it is attributed"
    if shows_failure(last):
        return "the sentence before it shows a failing run"
    recovered = [at for at, sentence in enumerate(parts) if _CURED.match(sentence) and not doubt_in(sentence, languages)]
    for at, sentence in enumerate(parts if tight else []):
        reason = doubt_in(sentence, languages)
        if reason and not (reason == "trouble is reported" and recovered and at < recovered[-1]):
            return reason
    if not tight and any(Signal.DENIED in weighed(sentence, languages) and not PAST.search(sentence) for sentence in parts[:-1]):
        return "something is denied"
    return "" if tight else doubt_in(parts[-1], languages)


def _asserts(sentence: str, languages: frozenset[str]) -> bool:
    """Whether a clause of its own says that work is done."""
    clauses = clauses_of(sentence, languages)
    return any(clause.signals & {Signal.DONE, Signal.ZERO} and not clause.signals & (_TALK | {Signal.MENTION}) for clause in clauses)


def _bad_lead(parts: Sequence[str], last: str, found: frozenset[Signal], languages: frozenset[str]) -> str:
    """What speaks against a finished sentence above a claim."""
    if Signal.MENTION in found and found & _TALK and not _asserts(last, languages):
        return "the sentence before it speaks of the tag"
    past = bool(PAST.search(last))
    turned = takes_back(last, languages, listed=False)
    if turned and not past and not (found & EVIDENCE and Signal.TAKEN_BACK not in found and not SAYS_NO.match(last)):
        return "the sentence before it takes something back"
    if not any(_evident(sentence, languages) for sentence in parts):
        return _ASSERTS_NOTHING
    if (names_part(last) and not QUANTIFIED.search(last)) or partial_count(last) or (NOT_ALL.search(last) and found & {Signal.DONE, Signal.ZERO}):
        return "it is about a part"
    return ""


def _follows_up(parts: Sequence[str], found: frozenset[Signal], languages: frozenset[str]) -> bool:
    """Whether a sentence that only says what is not wrong follows one that says that it is done."""
    quiet = not found & (BAD | _TALK | {Signal.MENTION, Signal.PART})
    return quiet and any(Signal.DONE in weighed(sentence, languages) for sentence in parts[:-1])


def _evident(sentence: str, languages: frozenset[str]) -> bool:
    """Whether a sentence reports something that was achieved, not merely that something is not there."""
    if QUESTION.search(sentence):
        return False
    clauses = [clause.signals for clause in clauses_of(sentence, languages)]
    if any(Signal.CONDITION in signals for signals in clauses):
        return any(signals & (EVIDENCE - {Signal.WHOLE}) and Signal.CONDITION not in signals for signals in clauses)
    return bool(FOREIGN.search(sentence)) or harmless(sentence, languages)


def _announced(parts: Sequence[str], found: frozenset[Signal], languages: frozenset[str]) -> bool:
    """Whether a short announcement ("I am happy to report:") follows a sentence that asserts completion."""
    if len(parts) < 2 or len(words_of(parts[-1])) > 12 or found & {Signal.SOURCE, Signal.EXAMPLE, Signal.LATER, Signal.CONDITION}:
        return False
    before = weighed(parts[-2], languages)
    asserted = Signal.DONE in before and Signal.WHOLE in before and not before & {Signal.NEGATION, Signal.CONDITION, Signal.LATER}
    return asserted and not doubt_in(parts[-2], languages) and (Signal.MENTION not in found or bool(_THEREFORE.search(parts[-1])))


def _bad_flow(last: str, found: frozenset[Signal], *, flows: bool, tight: bool) -> str:
    """What speaks against a sentence that goes on into a claim, or shares its line."""
    spoken = Signal.MENTION in found and Signal.DONE not in found
    colon = last.endswith((":", "：", "→", "->", "-", "–", "—", ","))
    reasons = (
        (Signal.NEGATION in found and Signal.ZERO not in found, "it is negated"),
        (Signal.LATER in found, "it is postponed"),
        (Signal.CONDITION in found, "it is conditional"),
        (Signal.EXAMPLE in found, "it is an example"),
        (names_part(last) and not QUANTIFIED.search(last), "it is about a part"),
        (partial_count(last), "it is about a part"),
        (bool(NOT_ALL.search(last)) or (Signal.PART in found and not QUANTIFIED.search(last)), "it is about a part"),
        (flows and Signal.SOURCE in found, "it is attributed"),
    )
    for holds, reason in reasons:
        if holds:
            return reason
    if Signal.DONE in found and (Signal.WHOLE in found or (len(words_of(last)) <= 5 and not _NAMES_SOMETHING.search(last)) or not tight):
        return ""
    if not tight and not flows:
        return ""
    short_label = not tight and Signal.LABEL in found and len(words_of(last)) <= 3 and colon
    emitting = Signal.MENTION in found and bool(_THEREFORE.search(last))
    if short_label or emitting:
        return ""
    if spoken or colon or tight:
        return _ASSERTS_NOTHING
    dangling = Signal.KNOWN in signals_of(" ".join(words_of(last)[-1:])) or not re.search(r"[\d#]", last)
    return _GOES_ON if dangling else ""
