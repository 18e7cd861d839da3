"""What one sentence says: doubt, a withdrawal, a failing run, or nothing but a report."""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import re

from ralphloop.core.claim_clauses import clauses_of, weighed
from ralphloop.core.claim_signals import signals_of, words_of
from ralphloop.core.claim_weight import SETTLING
from ralphloop.core.claim_words import SPACELESS, Signal

QUESTION = re.compile(r"[?？¿؟]")
SAYS_NO = re.compile(
    r"\W*(?:no|nope|non|nein|nee|não|nie|нет|ні|hayır|不|いえ|いや|아니|아니요|todo|to-do|note to self|fixme|next(?: up| steps?)?|oh no|oh dear)\s*[,.:;!—–…，。、-]"
)
_PUNCTUATED = re.compile(r"\W*(?:\w+\W){1,3}?\s*[,:!—–…]|\W*\w+[,:!—–…]")
EXCEPT = re.compile(
    r"\bbut (?:one|two|three|\d+|for|not)\b|\b(?:all|every\w*|each|nothing|none|no one) (?:\w+ )?but (?:the|my|this|that|our)\b|\bnothing (?:left|more)\b.{0,24} (?:without|until|unless|while)\b|\b(?:nothing|none)(?: left| more| else)?(?: (?:for me )?to do)? but\b|\b(?:everything|all|those|things?|parts?) (?:that|which) (?:\w+ )?(?:do|does|did|is|are|was|were|can|could)(?:n't| not)\b|\balles,? was (?:\w+ )?(?:nicht|kein\w*)\b|\b(?:everything|all) but\b|\b(?:except|apart from|aside from|other than|save for|minus the)\b|\bbis auf\b"
)
# "Implemented the remaining stories": the open work is the object of a finished one.
_ONCE_OPEN = re.compile(
    r"\b(?:remaining|outstanding|missing|open|pending|leftover|unfinished|last|offen|verbleib|ausstehend|fehlend|resterend|openstaand|ontbrekend|restant|manquant|"
    r"pendiente|pendente|restante|faltante|rimanent|mancant|pozosta|brakując|осталь|оставш|недоста|решт|kalan|eksik)|剩余|剩下|残り|남은"
)
EVIDENCE = frozenset({Signal.DONE, Signal.WHOLE, Signal.ZERO, Signal.SETTLED, Signal.CURED, Signal.EXCUSED, Signal.OPTIONAL, Signal.THANKS})
_DOUBTFUL = frozenset({Signal.TROUBLE, Signal.OPEN, Signal.STILL, Signal.DENIED, Signal.NEGATED, Signal.LATER, Signal.CONDITION, Signal.TAKEN_BACK})
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'd|me|my|we|our|ich|wir|mein|ik|mij|je|j'|nous|yo|he|eu|io|ho|ja|я|мне|мені|ben)\b|我|私|僕|나는|저는|제가"
)
FAILED_RUN = re.compile(
    r"exit(?:s|ed)?(?: status| code)?(?: with)?(?: code)?:? [1-9]|error [1-9]|(?<![\d.,])[1-9][\d,]* (?:failed|failing|failures?|errors?|errored|broken)\b|^fail(?:ed)?\b(?!\s*[:=]\s*(?:0|none)\b)|--- fail|traceback \(most|^error\b|panicked at"
)
_OVERCOME = re.compile(r"\bto (?:0|zero)\b|\bat first\b|\bfixed\b|\bsolved\b|\bresolved\b|\brepaired\b|-> 0\b")
PASSED_RUN = re.compile(r"\b(?:passed|pass|passing|ok|green|succeeded|success|successful|clean)\b|\b0 (?:failed|failures?|errors?)\b|✅|✓|✔")
# "Next steps: none" is the end of a list, not the start of one.
_NONE_LEFT = re.compile(
    r"\W*(?:next(?: up| steps?)?|todo|to-do|fixme)\s*[:–—-]\s*(?:none|n/a|nothing(?: (?:is |else |more )?(?:required|needed|necessary|left|to do|open|mandatory))?)\W*"
)
_SORRY = re.compile(
    r"\W*(?:sorry|apologies|entschuldigung|pardon|perdón|desculpe|scusa\w*|przepraszam|извините|вибачте)(?: again| for| nochmals?| encore)\b"
)
# "I was about to write that …": what follows is not so.
_RECALLED = re.compile(r"\bwas (?:just |already )?about to (?:write|say|report|answer) (?:that )?")
PAST = re.compile(
    r"\b(?:was|were|had been) (?:still|not)\b|\b(?:previous|earlier|last) (?:\w+ )?(?:iterations?|runs?|answers?|rounds?|sessions?|turns?|messages?|attempts?)\b|précédent|"
    r"vorherig|vorig|anterior|precedente|poprzedni|предыдущ|прошл|попередн|минул|önceki|上一|上次|前回|이전"
)
FOREIGN = re.compile(r"[\u0370-\u03ff\u0530-\u1cff\ua800-\uabff]")
WAITING_EMOJI = re.compile("[❓❔⏳⌛🚧🔴❌🟡🟥⛔🛑]")


def doubt_in(sentence: str, languages: frozenset[str], *, optional: bool = False, strict: bool = True) -> str:
    """Why a sentence speaks of open work, of trouble or of a withdrawal. Lenient: only of what is open right now."""
    if strict and EXCEPT.search(sentence):
        return "an exception is made"
    clauses = clauses_of(sentence, languages)
    optional = optional or any(Signal.OPTIONAL in clause.signals for clause in clauses)
    past = bool(PAST.search(sentence))
    for clause in clauses:
        found = clause.signals
        if not strict and _RECALLED.search(clause.text):
            continue
        finished = Signal.DONE in found and not found & {Signal.NEGATION, Signal.CONDITION} and bool(_ONCE_OPEN.search(clause.text))
        if Signal.STILL in found and not finished and (strict or not (Signal.CONDITION in found or past)):
            return "something is still open"
        if Signal.DENIED in found and (strict or (not past and found >= {Signal.DONE, Signal.WHOLE} and Signal.NEGATION not in found)):
            return "something is denied"
        if not strict:
            continue
        if Signal.OPEN in found and not optional and not finished:
            return "work is left"
        if found & {Signal.TROUBLE, Signal.NEGATED}:
            return "trouble is reported"
        if Signal.NEGATION in found and found & {Signal.DONE, Signal.MENTION}:
            return "something is denied"
    return ""


def takes_back(sentence: str, languages: frozenset[str], *, listed: bool) -> str:
    """Why a sentence after a claim takes it back."""
    found = weighed(sentence, languages)
    if Signal.TAKEN_BACK in found and not (listed and found & (SETTLING | {Signal.EXCUSED})):
        return "it is taken back"
    if SAYS_NO.match(sentence) and not _NONE_LEFT.fullmatch(sentence):
        return "it is taken back"
    opening = " ".join(words_of(sentence)[:2]) if not SPACELESS & languages else sentence[:12]
    turns = Signal.TURN in signals_of(opening, languages)
    if _SORRY.match(sentence) and Signal.THANKS in found and not found & _DOUBTFUL:
        return ""
    if turns and (not listed or _PUNCTUATED.match(sentence)):
        return "what follows takes a turn"
    if QUESTION.search(sentence) and Signal.OPTIONAL not in found:
        return "a question follows"
    return ""


def shows_failure(folded: str) -> bool:
    """Whether it shows a run that failed, and does not say that this is over."""
    return bool(FAILED_RUN.search(folded)) and not _OVERCOME.search(folded)


def harmless(sentence: str, languages: frozenset[str], evidence: frozenset[Signal] = EVIDENCE) -> bool:
    """Whether something in a sentence says that it only reports: done work, thanks, a wish for later, a fact in figures."""
    if not any(word.isalpha() for word in words_of(sentence)):
        return True
    if FOREIGN.search(sentence):
        return False
    found = weighed(sentence, languages)
    if Signal.VOID in found:
        return bool(found & (evidence - {Signal.WHOLE}))
    if found & evidence:
        return True
    return bool(re.search(r"[#\d:]", sentence)) and not _FIRST_PERSON.search(sentence)
