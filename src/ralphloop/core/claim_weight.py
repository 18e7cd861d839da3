"""What is left of the signals of one clause once its negations have found their objects.

"No test fails" and "no test passes" hold the same words but one. So the words of a clause are not counted but aimed: a zero word ("no", "none",
"ohne", "없음") or a negation takes the nearest word of trouble or of success as its object. Trouble that is negated is good news and is dropped;
success that is negated is a denial. What finds no object stays as it is: in doubt a word of trouble is trouble.
"""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from ralphloop.core.claim_signals import Mark, marks_of, words_of
from ralphloop.core.claim_words import Signal

BAD = frozenset({Signal.TROUBLE, Signal.OPEN, Signal.STILL, Signal.TAKEN_BACK, Signal.CHORE})
_BRIGHT = frozenset({Signal.DONE, Signal.SETTLED, Signal.CURED})
_COVERS = _BRIGHT | {Signal.ZERO, Signal.NO_MORE, Signal.EXCUSED, Signal.IDLE, Signal.THANKS, Signal.OPTIONAL}
SETTLING = frozenset({Signal.SETTLED, Signal.CURED})
_ACHIEVED = SETTLING | {Signal.DONE}
# How far a negation reaches, in characters, words and places; bounds keep the reading linear.
_REACH = 60
_WINDOW = 5
_NEAR = 24
_JOINED = 2

_NOT = re.compile(
    r"(?:(?:(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should) )?not|never|cannot|nor|[a-z]+n't|nicht|nie|niemals|niet|nooit|ne|n'|pas|jamais|no|nunca|não|nao|non|mai|не|ні|ani|eivät|inte|ikke|icke)"
)
_NEGATIVE = re.compile(_NOT.pattern + r"\b")
_CONCORD = re.compile(r"(?:nie|не|ne|n|no|não|nao|non|ні)\b")
_PREPOSITION = re.compile(r"(?:without|free of|ohne|zonder|sans|sin|sem|senza|bez|без)")
_WITH = re.compile(r"\b(?:with|mit|met|avec|con|com|z|с|з|for|at)\s*$")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Trouble that is told in the present.
PRESENT = re.compile(
    r"\b(?:is|are|fails?|hangs?|breaks?|throws?|panics|complains?|remains?|still|doesn't|don't|isn't|aren't|cannot|can't|won't|ist|sind|schlägt|"
    r"schlagen|hängt|hängen|scheitert|scheitern|bricht|faalt|falen|zijn|échoue|échouent|plante|est|sont|falla|fallan|está|están|falha|falham|estão|fallisce|"
    r"falliscono|è|sono|pada|padają|jest|są|падает|падают|ломает|падає|падають|ламає|\w+[ıiuü]yor)\b|します|ています|ている|ません|하지|합니다|하고"
)
_NEW = _words(
    "new other neue neuen andere anderen nouvelle nouvelles nouveau autre autres nuevo nuevos nueva nuevas novo novos nova novas nuovi nuove nowych новых нових yeni"
)
_PRONOUN = re.compile(r"(?:none|nothing|nobody|no one|nichts|niemand|niets|rien|personne|nada|nadie|ninguém|niente|nulla|nic|ничего|нічого)")
# Where two negations are two, and not one that is said twice.
_SINGLE = frozenset({"en", "de", "nl"})
_POSTFIX = frozenset({"ja", "ko"})


# A zero word reaches over no word of these, a plain negation over these only.
_STOPS = _words(
    "the because when until while if since as that who which for with to after before except but than why how about from of in on der das den "
    "dem weil wenn für mit de la le les el los pour avec que para con com perché per dla потому для чтобы щоб için"
)
_FILLERS = _words(
    "any a an single been be being have had has having find found finding see seen seeing show shows showing contain contains print prints "
    "report reports reported cause causes caused throw throws hit get gets got give gives aware of know known knowing more even longer ever "
    "once again mehr zu ein einen eine einzigen gefunden finden meer een pas plus de d ont est sont y se ha han hay más há mais foi ci sono è "
    "hanno più było był больше були measurably noticeably"
)
_THESE = _words("the this that these those it them my our")
_ABLE = re.compile(
    r"\s*(?:work|pass|compile|build|run|start|load|respond|succeed|boot|exist|finish|match|agree|hold|complete|implement|verify|test|reach|manage)(?:e?d|s|n?ing)?\b"
)
_DOES = re.compile(
    r"\b(?:compiles|builds|runs|works|starts|loads|responds|succeeds|boots|ran|(?:was|were|been|is|are|gets?|got) (?:run|built|tried|written))\b"
)
_ADVERB = re.compile(r"(?:아직|여전히|まだ|henüz|hâlâ|hala|still|yet|ещё|еще|noch|nog|encore|todavía|aún|ainda|ancora|jeszcze|nadal|wciąż|ще|досі)")
_NOWHERE = re.compile(r"\b(?:on|in|by|under) (?:no|none|zero)\b")
_UNDONE = re.compile(r"\w*(?:m[iıuü]yor|m[ae]d[ıi]|m[ae]m[ıi]ş|m[ae]z)\w*")
_BE_ABLE = re.compile(r"(?:\s*\b(?:of it|of them|of this|is|are|was|were|has|have|been|could|can|be|would)\b)*" + _ABLE.pattern)
_ONLY = re.compile(r"\s*(?:only|just|all|every\w*|both|quite|entirely|completely|fully|really)\b")
_PATIENCE = re.compile(
    r"(?:many |vielen )?(?:thanks|thank you|dank|danke|bedankt|merci|gracias|obrigad[oa]|grazie|dzięki|спасибо|дякую)\b.{0,40}\b"
    r"(?:patience|waiting|bearing with|geduld|paciencia|paciência|pazienza|cierpliwość|терпение|терпіння)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A place that a negation can take for its object: all marks of one span."""

    start: int
    end: int
    signals: frozenset[Signal]
    negator: bool
    negative: bool

    @property
    def bad(self) -> bool:
        """Whether it is trouble: good news where it is negated."""
        return not self.negator and bool(self.signals & BAD)

    @property
    def good(self) -> bool:
        """Whether it is success: a denial where it is negated."""
        return not self.bad and Signal.DONE in self.signals


def weigh(clause: str, languages: frozenset[str]) -> frozenset[Signal]:
    """What one folded clause signals after its negations."""
    marks = _outermost(marks_of(clause, languages))
    if "es" not in languages:
        # "No" is a word for none in English, a negation in Spanish.
        marks = [mark for mark in marks if mark.language != "es" or clause[mark.start : mark.end] != "no"]
    scale = _Scale(clause, marks)
    for mark in marks:
        if mark.signal is Signal.NO_MORE:
            scale.no_more(mark)
    for mark in marks:
        if mark.signal is Signal.ZERO:
            scale.zero(mark)
    for target in scale.targets:
        if target.negator:
            scale.negate(target)
    return scale.result()


def _outermost(marks: Iterable[Mark]) -> list[Mark]:
    """Without the marks that lie inside a longer phrase of the other kind: "not needed" is no negation, and in "not done" nothing is done."""
    kept: list[Mark] = []
    reach = {True: (-1, -1), False: (-1, -1)}
    none_until = -1
    for mark in sorted(set(marks), key=lambda mark: (mark.start, -mark.end, mark.signal)):
        dark = mark.signal in BAD or mark.signal is Signal.NEGATION
        over = reach[not dark]
        negates = mark.signal is Signal.ZERO and mark.language in _POSTFIX
        if (dark or negates or mark.signal in _BRIGHT) and mark.end <= over[1] and mark[:2] != over:
            continue
        if mark.signal is Signal.ZERO:
            if mark.end <= none_until:
                continue
            none_until = mark.end
        kept.append(mark)
        if (dark or mark.signal in _COVERS) and mark.end > reach[dark][1]:
            reach[dark] = (mark.start, mark.end)
    return kept


class _Scale:
    """The marks of one clause while its negations take their objects, one after the other."""

    def __init__(self, clause: str, marks: list[Mark]) -> None:
        self.clause = clause
        self.marks = marks
        self.targets = _targets(clause, marks)
        self.starts = [target.start for target in self.targets]
        self.lacking = sorted({(mark.start, mark.end) for mark in marks if mark.signal is Signal.LACKED})
        self.spent: set[tuple[int, int]] = set()
        self.none_until = -2
        self.taken: set[int] = set()
        self.cleared: set[Signal] = set()
        self.denied = False

    def zero(self, mark: Mark) -> None:
        """A word for none takes what follows, else what it follows."""
        if mark.start in self.taken:
            return
        doubled = mark.start - self.none_until <= 1
        self.none_until = mark.end
        if self._achieved_none(mark):
            self.denied = True
            return
        target = None if mark.language in _POSTFIX else self._ahead(mark.end, mark.start, _WINDOW, language=mark.language)
        if target is None:
            target = self._behind(mark)
        preposition = self._prepositional(mark)
        if target and target.bad:
            if self._undone(mark, target):
                self.denied = True
            else:
                self._clear(target, mark)
        elif target and target.good:
            self.denied = self.denied or (not preposition and self._subject(mark, target))
        elif not preposition and (self._lacked(mark) or self._unable(mark) or (not doubled and self._far(mark))):
            self.denied = True
        else:
            self.cleared.add(Signal.VOID)

    def negate(self, negator: _Target) -> None:
        """A plain negation takes the next word, if only small words stand between."""
        if (negator.start, negator.end) in self.spent or _ONLY.match(self.clause, negator.end):
            return
        target = self._ahead(negator.end, negator.start, 4, fillers=True)
        if _ABLE.match(self.clause, negator.end) or (target and not target.bad):
            self.denied = True
        elif target:
            self._clear(target, negator)

    def no_more(self, mark: Mark) -> None:
        """What was, is no more: trouble is over, success is lost."""
        target = self._ahead(mark.end, mark.start, 4)
        if target is None:
            target = next((other for other in self._before(mark.start) if other.end <= mark.start and not other.negator), None)
        if target and target.bad and not _holds_negation(self.clause[target.start : target.end]):
            self._clear(target, mark)
        elif target and _PRONOUN.match(self.clause, target.start):
            # "Nothing is open any more": the phrase has said none already.
            return
        elif target or _ABLE.match(self.clause, mark.end):
            self.denied = True

    def result(self) -> frozenset[Signal]:
        """What is left: trouble that is neither negated nor settled, and what has been found out."""
        left = [mark for mark in self.marks if mark[:2] not in self.spent]
        negators = {(target.start, target.end) for target in self.targets if target.negator}
        kinds = {mark.signal for mark in left}
        if _NOWHERE.search(self.clause) and Signal.DONE in kinds:
            self.denied = True
        cured = (Signal.CURED in kinds or (Signal.STILL not in kinds and bool(_PATIENCE.match(self.clause)))) and not self.denied
        settled = min((mark.start for mark in left if mark.signal in SETTLING and not self.denied), default=len(self.clause))
        found = set(self.cleared)
        for mark in left:
            if mark.signal is Signal.ZERO or (mark.signal in BAD and self._settled(mark, settled, cured=cured)):
                continue
            found.add(Signal.NEGATED if mark.signal is Signal.TROUBLE and mark[:2] in negators else mark.signal)
        if self.denied:
            found = (found - SETTLING) | {Signal.DENIED}
        return frozenset(found)

    def _settled(self, mark: Mark, settled: int, *, cured: bool) -> bool:
        """Whether a trouble is over or dealt with; not if it goes on, as in "added a test that fails"."""
        goes_on = bool(PRESENT.fullmatch(self.clause, mark.start, mark.end))
        if settled < mark.start:
            gap = self.clause[max(settled, mark.start - _REACH) : mark.start]
            return not (goes_on and {"that", "which", "because", "since", "weil", "porque", "perché", "omdat"} & set(words_of(gap)))
        return cured and not goes_on

    def _from(self, start: int) -> list[_Target]:
        at = bisect_left(self.starts, start)
        return self.targets[at : at + _NEAR]

    def _before(self, end: int) -> list[_Target]:
        at = bisect_left(self.starts, end)
        return self.targets[max(0, at - _NEAR) : at][::-1]

    def _ahead(self, end: int, start: int, window: int, *, fillers: bool = False, language: str = "") -> _Target | None:
        for target in self._from(end):
            if target.start == start:
                continue
            if target.start - end > _REACH:
                return None
            gap = words_of(self.clause[end : target.start])
            if target.negative and not target.negator and not fillers and language in _SINGLE and gap[:1] != ["that"]:
                return None
            if gap[:1] == ["of"] and set(gap[1:2]) <= _THESE:
                gap = gap[2:]
            elif gap[:1] == ["that"]:
                gap = gap[1:]
            if len(gap) > window or (not fillers and _STOPS & set(gap)) or (fillers and not set(gap) <= _FILLERS):
                return None
            if Signal.TROUBLE in target.signals and _NEW & set(gap):
                return None
            if not target.negator and (target.bad or target.good or fillers):
                return target
        return None

    def _behind(self, mark: Mark) -> _Target | None:
        rest = words_of(self.clause[mark.end : mark.end + _REACH])
        small = set(rest) <= _FILLERS | {"left", "now", "found", "yet", "more"} or mark.language != "en"
        if mark.language not in _POSTFIX and (len(rest) > 2 or not small):
            return None
        for target in self._before(mark.start):
            if target.end > mark.start or not (target.bad or target.good):
                continue
            gap = words_of(self.clause[target.end : mark.start]) if mark.start - target.end <= _REACH else []
            far = mark.start - target.end > _REACH or len(gap) > (2 if mark.language not in _POSTFIX else 3)
            return None if far or (mark.language == "en" and set(gap) - {"is", "are", "found", "of", "count", "on"}) else target
        return None

    def _subject(self, mark: Mark, target: _Target) -> bool:
        """Whether the zero word is what the success is said of: at the start of the clause, next to it, or a pronoun."""
        first = self._leads(mark)
        near = len(words_of(self.clause[mark.end : target.start])) <= 1
        return first or near or bool(_PRONOUN.fullmatch(self.clause[mark.start : mark.end])) or target.end <= mark.start

    def _prepositional(self, mark: Mark) -> bool:
        """Whether it is "without", or "no" after "with": nothing is denied by it."""
        alone = _PREPOSITION.fullmatch(self.clause, mark.start, mark.end)
        return bool(alone or _WITH.search(self.clause, max(0, mark.start - 12), mark.start))

    def _leads(self, mark: Mark) -> bool:
        return mark.start <= _REACH and len(words_of(self.clause[: mark.start])) <= 2

    def _undone(self, mark: Mark, target: _Target) -> bool:
        """Whether the object is itself a negation, in a language where two of them are one."""
        text = self.clause[target.start : target.end]
        if mark.language == "tr":
            return bool(_UNDONE.fullmatch(text))
        return bool(_CONCORD.match(text)) and mark.language not in _SINGLE

    def _unable(self, mark: Mark) -> bool:
        """Whether it goes on as in "nothing was run" or "none of it compiles"."""
        pronoun = _PRONOUN.fullmatch(self.clause, mark.start, mark.end)
        return bool(pronoun and _BE_ABLE.match(self.clause, mark.end))

    def _achieved_none(self, mark: Mark) -> bool:
        """Whether it is the object of a success right before it, as in "I fixed none of them"."""
        if not _PRONOUN.fullmatch(self.clause, mark.start, mark.end):
            return False
        return any(
            not (target.negator or target.negative) and target.signals & _ACHIEVED and 0 < mark.start - target.end <= 1
            for target in self._before(mark.start)
        )

    def _far(self, mark: Mark) -> bool:
        """Whether a success is said of it farther on: "not a single box in the plan is ticked"."""
        phrase = mark.language != "en" and " " in self.clause[mark.start : mark.end]
        if phrase or not self._leads(mark) or mark.language in _POSTFIX:
            return False
        ahead = (target for target in self._from(mark.end) if target.start - mark.end <= _REACH and target.start != mark.start)
        return any(target.good for target in ahead) or bool(_DOES.search(self.clause, mark.end, mark.end + _REACH))

    def _lacked(self, mark: Mark) -> bool:
        at = bisect_left(self.lacking, (mark.start - _REACH, 0))
        for other in self.lacking[at : at + _NEAR]:
            after = other[0] >= mark.end and not words_of(self.clause[mark.end : other[0]][:_REACH])
            before = other[1] <= mark.start and mark.start - other[1] <= 2 and not words_of(self.clause[mark.end : mark.end + _REACH])
            if after or before:
                return True
        return False

    def _clear(self, target: _Target, by: Mark | _Target) -> None:
        """Spend a trouble, the negation that met it, and whatever is joined to it."""
        high, low = max(target.end, by.end), target.start
        for other in self._before(target.start):
            if other.bad and (other.end > target.start or 0 <= low - other.end <= _JOINED):
                self.spent.add((other.start, other.end))
                low = other.start
        for other in self._from(min(target.start, by.start)):
            beyond = other.start >= high
            if beyond and (
                other.good
                or (other.negative and not _CONCORD.match(self.clause, other.start))
                or other.start > high + _REACH
                or _STOPS & set(words_of(self.clause[high : other.start]))
            ):
                break
            if other.bad or (other.negator and (not beyond or _CONCORD.match(self.clause, other.start))):
                self.spent.add((other.start, other.end))
                high = max(high, other.end)
        self.spent.add((by.start, by.end))
        self.taken.add(by.start)
        self.cleared.add(Signal.ZERO if target.signals & (BAD - {Signal.CHORE}) else Signal.IDLE)


def _holds_negation(text: str) -> bool:
    return any(_NOT.fullmatch(word) for word in text.replace("'t", "'t ").split())


def _targets(clause: str, marks: list[Mark]) -> list[_Target]:
    """The places of weight of a clause, in order."""
    spans: dict[tuple[int, int], set[Signal]] = {}
    for mark in marks:
        if mark.signal in BAD | SETTLING | {Signal.DONE, Signal.NEGATION} and not _ADVERB.fullmatch(clause, mark.start, mark.end):
            spans.setdefault((mark.start, mark.end), set()).add(mark.signal)
    return [
        _Target(
            start=start,
            end=end,
            signals=frozenset(signals),
            negator=bool(_NOT.fullmatch(clause[start:end])) or signals == {Signal.NEGATION},
            negative=bool(_NEGATIVE.match(clause, start, end)),
        )
        for (start, end), signals in sorted(spans.items())
    ]
