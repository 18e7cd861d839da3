"""What the text around a claim says of it: does it introduce, limit, contradict or withdraw it.

Every function answers with a reason, or with an empty string where nothing speaks against the claim. All of them err on the side of doubt.
"""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ralphloop.core.claim_words import SPACELESS, Signal, languages_of, signals_of, words_of
from ralphloop.core.markdown_lines import LineKind, MarkdownLine

TAG_MARK = "\ue000"

_CODE_SPAN = re.compile(r"(`{1,3})[^`\n]*\1")
_LINK = re.compile(r"https?://\S+")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]*_]*\s+|(?<=[。！？])")
_CLAUSE = re.compile(r"[,;:()、，；：—–]|\s->\s|\s-\s|\b(?:but|aber|maar|mais|pero|mas|ma|ale|но|але|ama|and|while|whereas)\b")
_QUESTION = re.compile(r"[?？¿؟]")
_SAYS_NO = re.compile(
    r"\W*(?:no|nope|non|nein|nee|não|nie|нет|ні|hayır|不|いえ|いや|아니|아니요|todo|to-do|note to self|fixme|next(?: up| steps?)?|oh no|oh dear)\s*[,.:;!—–…，。、-]"
)
_PUNCTUATED = re.compile(r"\W*(?:\w+\W){1,3}?\s*[,:!—–…]|\W*\w+[,:!—–…]")
_COUNT = re.compile(
    r"(?<![\d/.-])(\d{1,4})\s*(?:/|(?:out )?of(?: the)?|von|van(?: de)?|sur|de(?: las| los)?|di|su|z|ze|из|з|із)\s*(\d{1,4})(?![\d/.%-]*\d)"
)
_SPELT = {word: n for n, word in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"))}
_SPELT_COUNT = re.compile(r"\b(" + "|".join(_SPELT) + r") (?:out )?of (?:the )?(" + "|".join(_SPELT) + r")\b")
_COUNTS_RUNS = re.compile(r"(?:iteration|run|attempt|session|turn|round|loop|try|page|itération|iteración|iteração|итерац\w*|ітерац\w*)\W*$")
_NUMBERED_PART = re.compile(
    r"\b(?:phase|part|stage|step|story|task|item|milestone|section|sprint|chapter|point|teil|schritt|aufgabe|étape|partie|tâche|fase|etapa|paso|"
    r"tarea|tarefa|passo|parte|etap|krok|zadanie|этап|шаг|часть|пункт|фаза|крок|етап|aşama|adım|görev|us|stap|taak|deel)\W{0,2}(?:\d+|[a-e]\b)"
    r"|第[一二三四五\d]+(?:阶段|步|部分|段階|フェーズ)|\d+단계|フェーズ\s*\d"
)
_NOTHING = re.compile(
    r"none|nothing|0|zero|nil|no|keine[rs]?|nichts|geen|niets|aucun\w*|rien|ningun\w*|nada|nenhum\w*|nessun\w*|niente|nulla|brak|нет|ничего|немає|нічого|yok|无|無|没有|なし|없음"
)
_QUANTIFIED = re.compile(
    r"\b(?:all|every\w*|each|both|last|final|remaining|to|through|alle|letzte\w*|sämtliche|laatste|tous|toutes|derni[eè]re?s?|todos|todas|últim\w*|tutt[ie]|ultim\w*|"
    r"wszystkie|ostatni\w*|все|последн\w*|усі|всі|останн\w*|tüm|bütün|son)\b|所有|全部|最后|すべて|全て|最後|모든|마지막|\d ?[-–] ?\d"
)
_NOT_ALL = re.compile(
    r"\b(?:probably|i think|i believe|i guess|maybe|perhaps|seems?|wahrscheinlich|vermutlich|waarschijnlijk|probablement|probablemente|provavelmente|probabilmente|"
    r"prawdopodobnie|вероятно|наверное|мабуть|ймовірно|muhtemelen|so far|almost|nearly|mostly|partly|partial\w*|half|only|most of|some of|teilweise|nur|bisher|bislang|fast|bijna|alleen|slechts|presque|seulement|partiel\w*|casi|solo|"
    r"sólo|solamente|quase|apenas|somente|quasi|soltanto|solamente|prawie|tylko|częściowo|почти|только|частично|лишь|майже|лише|тільки|частково|neredeyse|sadece|yalnızca)\b"
    r"|可能|大概|おそらく|たぶん|아마|几乎|部分|仅|ほぼ|だけ|のみ|거의|일부"
)
_NAMES_SOMETHING = re.compile(
    r"#|\b(?:front-?end|back-?end|docs?|api|ui|database|server|client|tests?|module|component|the|a|an|with|for|le|la|les|el|los|il|lo|der|die|das|het|de|o|os|as)\b"
)
_REFERS_BACK = re.compile(
    r"\b(?:above|the tag|that tag|this tag|the line|the promise|oben|ci-dessus|arriba|acima|sopra|powyż\w*|выше|вище|yukarıda\w*)\b|以上|上面|上記|위의?\b|^(?:that|this|it) (?:is|was|would|only|covers|applies|holds|assumes|means)\b"
)
_REPORTED = re.compile(
    r"\b(?:reviewer|worker|sub-?agent|agent|tester|he|she|they|script|log|transcript|prüfer|relecteur|revisor|revisore)\b.{0,60}?"
    r"\b(?:wrote|writes|says?|said|reports?|reported|claims?|claimed|states?|stated|meldete|sagte|schrieb|dit|écrit|dice|dijo|diz|disse|detto)\b"
)
_SPEAKER = re.compile(r"\W*(?:user|assistant|system|human|codex|claude|gemini|amp|agent|worker|reviewer|model|tool|sub-?agent)\w*(?:[ -]?\d+)? ?:")
_EXCEPT = re.compile(
    r"\bbut (?:one|two|three|\d+|for|not)\b|\b(?:everything|all) but\b|\b(?:except|apart from|aside from|other than|save for|minus the)\b|\bbis auf\b"
)
# "Implemented the remaining stories": the open work is the object of a finished one.
_ONCE_OPEN = re.compile(
    r"\b(?:remaining|outstanding|missing|open|pending|leftover|unfinished|last|offen|verbleib|ausstehend|fehlend|resterend|openstaand|ontbrekend|restant|manquant|"
    r"pendiente|pendente|restante|faltante|rimanent|mancant|pozosta|brakując|осталь|оставш|недоста|решт|kalan|eksik)|剩余|剩下|残り|남은"
)
_EVIDENCE = frozenset({Signal.DONE, Signal.WHOLE, Signal.ZERO, Signal.SETTLED, Signal.OPTIONAL, Signal.THANKS})
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'd|me|my|we|our|ich|wir|mein|ik|mij|je|j'|nous|yo|he|eu|io|ho|ja|я|мне|мені|ben)\b|我|私|僕|나는|저는|제가"
)
_FULL_COUNT = re.compile(r"\b(\d+) ?(?:of|/|von|van|sur|de|di|su|z|из|з) ?\1\b")
_FAILED_RUN = re.compile(
    r"exit(?:s|ed)?(?: status| code)?(?: with)?(?: code)?:? [1-9]|error [1-9]|(?<![\d.,])[1-9][\d,]* (?:failed|failing|failures?|errors?|errored|broken)\b|^fail(?:ed)?\b|--- fail|traceback \(most|^error\b|panicked at"
)
_OVERCOME = re.compile(r"\bto (?:0|zero)\b|\bat first\b|\bfixed\b|\bsolved\b|\bresolved\b|\brepaired\b|-> 0\b")
_PASSED_RUN = re.compile(r"\b(?:passed|pass|passing|ok|green|succeeded|success|successful|clean)\b|\b0 (?:failed|failures?|errors?)\b|✅|✓|✔")
_BAD_CELL = frozenset(
    [
        "fail",
        "failed",
        "failing",
        "fails",
        "red",
        "open",
        "todo",
        "pending",
        "wip",
        "blocked",
        "missing",
        "running",
        "queued",
        "no",
        "none-yet",
        "partial",
        "❌",
        "✗",
        "✘",
        "⏳",
        "🔴",
        "🟡",
        "🚧",
        "⬜",
        "☐",
        "⚠️",
        "⚠",
        "error",
        "errored",
        "unknown",
    ]
) | {
    "in progress",
    "not started",
    "to do",
    "not done",
    "offen",
    "en cours",
    "pendiente",
    "pendente",
    "in corso",
    "в работе",
    "进行中",
    "未完成",
    "未完了",
}
_ENDS_SENTENCE = re.compile(r"[.!?…。！？][\"')\]*_`»”]*$")
_ENDS_WELL = re.compile("[✅✓✔☑🎉👍]$")
# Words of trouble that name a feature, not a trouble.
_HARMLESS = re.compile(
    r"\b(?:regression|failover|crash|stress) (?:suites?|tests?)\b|\b(?:error|failure|exception|crash|conflict|bug|issue|regression|leak|problem|timeout|empty)[- ]"
    r"(?:messages?|codes?|handling|handlers?|pages?|paths?|boundar\w+|states?|types?|class\w*|responses?|reports?|reporting|cases?|trackers?|"
    r"banners?|screens?|toasts?|texts?|resolution|rates?|budgets?|budget|limits?|values?|mode)\b"
    r"|\berrors (?:are (?:reported|returned|shown|logged|mapped)|return|become)\b|passed,.{0,40}?\d+ (?:skipped|xfailed|deselected|warnings?)\b"
    r"|gestion des erreurs|messages? d'erreurs?|manejo de errores|mensajes? de error|tratamento de erros|mensage\w+ de erro|gestione degli errori|"
    r"messaggi\w* di errore|obsług\w+ błędów|komunikat\w* o błęd\w+|обработк\w+ ошиб\w+|сообщени\w+ об ошиб\w+|обробк\w+ помил\w+|"
    r"hata (?:yönetimi|mesaj\w*)|错误(?:处理|信息|码)|エラー(?:処理|メッセージ|コード)|오류 ?(?:처리|메시지|코드)|fehler(?:behandlung|meldung)\w*|foutafhandeling|foutmelding\w*"
    r"|\bopen (?:for|to|source)\b|\bstate of the art\b|\bhope(?:fully)?\b"
)
_NO_MORE = re.compile(r"\b(?:non|ne|n)[ '](?:\w+ ){1,3}(?:più|plus)\b|\bn'(?:\w+ ){1,3}plus\b")
_LISTED_FEATURE = re.compile(
    r"\b(?:errors?|empty|invalid|conflicts?|exceptions?|time-?outs?|stale|rejected|refused|denied|deadlocks?|panics?|duplicates?|issues?|missing|crash|crashes|failures?)\b"
)
_LISTED_FACT = re.compile(r"\d|\b(?:is|are|was|were|has|have|gets?|got|throws?|gives?|returns?|still|on|in|fails?|known|with)\b")
_PAST = re.compile(
    r"\b(?:was|were|had been) (?:still|not)\b|\b(?:previous|earlier|last) (?:\w+ )?(?:iterations?|runs?|answers?|rounds?|sessions?|turns?|messages?|attempts?)\b|précédent|"
    r"vorherig|vorig|anterior|precedente|poprzedni|предыдущ|прошл|попередн|минул|önceki|上一|上次|前回|이전"
)
_FOREIGN = re.compile(r"[\u0370-\u03ff\u0530-\u1cff\ua800-\uabff]")
_WAITING_EMOJI = re.compile("[⏳⌛🚧🔴❌🟡🟥⛔🛑]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One statement of a message: a paragraph line with its continuations, a list item, a heading, a table row, a line of code."""

    kind: LineKind
    text: str
    number: int
    after_blank: bool
    box: str = ""
    indent: int = 0
    ordered: bool = False

    @property
    def folded(self) -> str:
        """The text for the word tables: casefolded, code and links taken out, composite numbers as one sign."""
        return _plain(self.text)


def _plain(text: str) -> str:
    text = _LINK.sub(" # ", _CODE_SPAN.sub(" # ", text)).replace("’", "'").replace("*", "").replace("_", " ").casefold()
    return _HARMLESS.sub("#", _NO_MORE.sub(" zero ", text))


def units_of(lines: Sequence[MarkdownLine]) -> list[Unit]:
    """Join the lines of a message into statements."""
    units: list[Unit] = []
    blank = True
    for line in lines:
        if line.kind in {LineKind.BLANK, LineKind.RULE, LineKind.FENCE}:
            blank = True
            continue
        above = units[-1] if units else None
        if above and not blank and _continues(above, line):
            units[-1] = Unit(
                kind=above.kind,
                text=f"{above.text} {line.text}",
                number=above.number,
                after_blank=above.after_blank,
                box=above.box,
                indent=above.indent,
                ordered=above.ordered,
            )
        else:
            units.append(
                Unit(
                    kind=line.kind,
                    text=line.text,
                    number=line.number,
                    after_blank=blank,
                    box=line.box,
                    indent=line.indent,
                    ordered=line.ordered,
                )
            )
        blank = False
    return units


def _continues(above: Unit, line: MarkdownLine) -> bool:
    if above.kind not in {LineKind.TEXT, LineKind.ITEM} or line.kind is not LineKind.TEXT or len(above.text) > 4000:
        return False
    return line.text[:1].islower() or (not (ends_sentence(above.text) or above.text.endswith((":", "："))) and len(above.text) > 60)


def ends_sentence(text: str) -> bool:
    """Whether the text ends with an end mark."""
    stripped = text.rstrip()
    bare = stripped.rstrip("".join({char for char in stripped[-8:] if unicodedata.category(char) in {"So", "Sk", "Mn", "Cf"}}) + " ")
    return bool(_ENDS_SENTENCE.search(bare) or _ENDS_WELL.search(stripped))


def sentences(text: str) -> list[str]:
    """The sentences of a folded text."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip(" .!?…。！？#*_-")]


def partial_count(text: str) -> bool:
    """Whether it speaks of some out of more."""
    for found in _COUNT.finditer(text):
        few, many = int(found[1]), int(found[2])
        if few < many and not _COUNTS_RUNS.search(text[max(0, found.start() - 24) : found.start()]):
            return True
    return any(_SPELT[found[1]] < _SPELT[found[2]] for found in _SPELT_COUNT.finditer(text))


def names_part(text: str) -> bool:
    """Whether it names a numbered part of something."""
    return bool(_NUMBERED_PART.search(_FULL_COUNT.sub("#", text)))


def is_title(units: Sequence[Unit], at: int) -> bool:
    """Whether a statement is the title of what follows it."""
    unit = units[at]
    if unit.kind is LineKind.HEADING:
        return True
    if unit.kind is not LineKind.TEXT:
        return False
    text = unit.text.rstrip(" *_")
    if text.endswith((":", "：")) or (unit.text.startswith("**") and unit.text.endswith("**")):
        return len(text) < 160
    listed = at + 1 < len(units) and units[at + 1].kind in {LineKind.ITEM, LineKind.TABLE, LineKind.CODE}
    return listed and not ends_sentence(text) and len(words_of(text.casefold())) <= 8


# --- Sentences --------------------------------------------------------------------------------------------------------


def _clauses(sentence: str) -> Iterator[str]:
    for clause in _CLAUSE.split(_NUMBER.sub("#", sentence)):
        if clause and clause.strip():
            yield clause.strip()


def doubt_in(sentence: str, languages: frozenset[str], *, optional: bool = False, strict: bool = True) -> str:
    """Why a sentence speaks of open work, of trouble or of a withdrawal. Lenient: only of what is open right now."""
    clauses = list(_clauses(sentence))
    signals = [signals_of(clause, languages) for clause in clauses]
    if strict and _EXCEPT.search(sentence):
        return "an exception is made"
    optional = optional or any(Signal.OPTIONAL in found for found in signals)
    past = bool(_PAST.search(sentence))
    for at, found in enumerate(signals):
        later = signals[at + 1 :]
        none = Signal.ZERO in found or (len(clauses) == 2 and bool(later) and bool(_NOTHING.fullmatch(clauses[1].strip(" .!"))))
        settled = Signal.SETTLED in found or any(Signal.SETTLED in other for other in later)
        settled = settled and Signal.CONDITION not in found
        finished = Signal.DONE in found and not found & {Signal.NEGATION, Signal.CONDITION} and bool(_ONCE_OPEN.search(clauses[at]))
        if Signal.STILL in found and not none and not settled and not finished and (strict or not (Signal.CONDITION in found or past)):
            return "something is still open"
        if not strict:
            continue
        if Signal.OPEN in found and not none and not optional and not finished and not settled:
            return "work is left"
        if Signal.TROUBLE in found and not none and not settled:
            return "trouble is reported"
        if Signal.NEGATION in found and found & {Signal.DONE, Signal.MENTION} and not none and not settled:
            return "something is denied"
    return ""


def takes_back(sentence: str, languages: frozenset[str], *, listed: bool) -> str:
    """Why a sentence after a claim takes it back."""
    found = signals_of(sentence, languages)
    if Signal.TAKEN_BACK in found and not (listed and Signal.SETTLED in found):
        return "it is taken back"
    if _SAYS_NO.match(sentence):
        return "it is taken back"
    opening = " ".join(words_of(sentence)[:2]) if not SPACELESS & languages else sentence[:12]
    turns = Signal.TURN in signals_of(opening, languages)
    if turns and (not listed or _PUNCTUATED.match(sentence)):
        return "what follows takes a turn"
    if _QUESTION.search(sentence) and Signal.OPTIONAL not in found:
        return "a question follows"
    return ""


def _bad_row(text: str) -> bool:
    cells = [cell.strip(" *_`") for cell in text.casefold().strip("| ").split("|")]
    if any("<promise" in cell or "<response" in cell or TAG_MARK in cell for cell in cells):
        return False
    return bool(cells) and (cells[-1] in _BAD_CELL or bool(_WAITING_EMOJI.match(cells[-1])) or _any_word(cells[-1]))


def _any_word(cell: str) -> bool:
    return cell.split(" ", maxsplit=1)[0].strip(":,") in _BAD_CELL and not cell.startswith(("no ", "none"))


# --- After the claim --------------------------------------------------------------------------------------------------


def withdrawal(units: Sequence[Unit]) -> str:
    """Why what follows a claim takes it back, or leaves a doubt."""
    prose = " ".join(unit.folded for unit in units if unit.kind not in {LineKind.CODE, LineKind.TABLE})
    languages = languages_of(prose)
    optional = False
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
        return "a failing run is shown" if _FAILED_RUN.search(folded) or "missing" in folded else ""
    if unit.kind is LineKind.TABLE:
        return "a table shows open work" if _bad_row(unit.text) else ""
    if unit.box == "open" and not optional:
        return "an open box stands"
    if _WAITING_EMOJI.search(unit.text) or (partial_count(folded) and not optional):
        return "work is left"
    return "a failing run is shown" if shows_failure(folded) else ""


def _withdraws(unit: Unit, languages: frozenset[str], *, optional: bool, titled: bool) -> str:
    folded = unit.folded
    reason = _bad_unit(unit, folded, optional=optional)
    ticked = unit.box not in {"", "open"} or unit.text.startswith(("✅", "✓", "✔", "☑"))
    if reason or ticked or unit.kind in {LineKind.CODE, LineKind.HIDDEN, LineKind.TABLE}:
        return reason
    listed = unit.kind in {LineKind.ITEM, LineKind.HEADING}
    if listed and not _LISTED_FACT.search(folded):
        folded = _LISTED_FEATURE.sub("#", folded)
    doubts = (_sentence_withdraws(sentence, languages, listed=listed, optional=optional, titled=titled) for sentence in sentences(folded))
    return next((reason for reason in doubts if reason), "")


def _sentence_withdraws(sentence: str, languages: frozenset[str], *, listed: bool, optional: bool, titled: bool) -> str:
    if reason := takes_back(sentence, languages, listed=listed) or doubt_in(sentence, languages, optional=optional):
        return reason
    if titled and not optional and Signal.PLAN in signals_of(sentence, languages):
        return "a plan follows"
    if listed:
        return ""
    if reason := _refers_back(sentence, languages):
        return reason
    return "" if titled or harmless(sentence, languages) else "what follows may take it back"


def _refers_back(sentence: str, languages: frozenset[str]) -> str:
    """Whether it speaks of the claim itself, other than to confirm it."""
    if names_part(sentence) and _NOT_ALL.search(sentence):
        return "it is limited to a part"
    found = signals_of(sentence, languages)
    confirmed = found & {Signal.DONE, Signal.THANKS, Signal.ZERO} and not found & {Signal.EXAMPLE, Signal.CONDITION, Signal.NEGATION}
    return "the claim is spoken of again" if _REFERS_BACK.search(sentence) and not confirmed else ""


def shows_failure(folded: str) -> bool:
    """Whether it shows a run that failed, and does not say that this is over."""
    return bool(_FAILED_RUN.search(folded)) and not _OVERCOME.search(folded)


def harmless(sentence: str, languages: frozenset[str]) -> bool:
    """Whether something in a sentence says that it only reports: done work, thanks, a wish for later, a fact in figures."""
    if not any(word.isalpha() for word in words_of(sentence)):
        return True
    if _FOREIGN.search(sentence):
        return False
    found = signals_of(sentence, languages)
    if found & (_EVIDENCE - {Signal.ZERO}) or (Signal.ZERO in found and found & {Signal.TROUBLE, Signal.OPEN, Signal.STILL}):
        return True
    return bool(re.search(r"[#\d:]", sentence)) and not _FIRST_PERSON.search(sentence)


# --- Before the claim -------------------------------------------------------------------------------------------------


def contradiction(units: Sequence[Unit]) -> str:
    """Why what stands anywhere before a claim says that work is open."""
    red = 0
    languages = languages_of(" ".join(unit.folded for unit in units if unit.kind in {LineKind.TEXT, LineKind.ITEM}))
    optional = False
    for at, unit in enumerate(units):
        folded = unit.folded
        if is_title(units, at):
            optional = Signal.OPTIONAL in signals_of(folded, languages)
            if _open_title(units, at, languages):
                return f"line {unit.number} lists open work"
        if _FAILED_RUN.search(folded) and not _settled(folded, languages):
            red = unit.number
        elif _PASSED_RUN.search(folded) or _settled(folded, languages):
            red = 0
        if reason := _contradicts(unit, folded, languages, optional=optional):
            return f"{reason} in line {unit.number}"
    return f"the last test run before it failed in line {red}" if red else ""


def _settled(folded: str, languages: frozenset[str]) -> bool:
    return Signal.SETTLED in signals_of(folded, languages)


def _open_title(units: Sequence[Unit], at: int, languages: frozenset[str]) -> bool:
    found = signals_of(units[at].folded, languages)
    if not found & {Signal.OPEN, Signal.STILL} or found & {Signal.OPTIONAL, Signal.ZERO, Signal.DONE, Signal.SETTLED}:
        return False
    content = units[at + 1] if at + 1 < len(units) else None
    return content is not None and Signal.ZERO not in signals_of(content.folded, languages)


def _contradicts(unit: Unit, folded: str, languages: frozenset[str], *, optional: bool) -> str:
    if unit.box == "open" and not optional:
        return "an open box stands"
    if unit.kind is LineKind.TABLE:
        return "a table shows open work" if _bad_row(unit.text) else ""
    if unit.kind not in {LineKind.TEXT, LineKind.ITEM, LineKind.HEADING} or optional:
        return ""
    if _WAITING_EMOJI.match(unit.text):
        return "work is left"
    if partial_count(folded) and signals_of(folded, languages) & {Signal.DONE, Signal.PART} and not _settled(folded, languages):
        return "only a part is counted"
    for sentence in sentences(folded):
        if reason := doubt_in(sentence, languages, strict=False):
            return reason
    return ""


_SCOPE_WORDS = re.compile(
    r"\b(?:asked for|required|in the (?:spec|prompt|ticket|readme|plan)|docs|documentation|documented|parser|loop|script|log|logs|system|user|read)\b"
)
_THEREFORE = re.compile(
    r"\b(?:therefore|hereby|hence|accordingly|thus|so|now|daher|also|hiermit|donc|ainsi|por tanto|por lo tanto|portanto|quindi|zatem|więc|поэтому|итак|отже|тому|dus)\b"
)


def bad_introduction(text: str, *, flows: bool, tight: bool) -> str:
    """Why the text directly before a claim does not assert completion.

    `flows`: its sentence goes on into the tag; `tight`: they share a line, so that a complete assertion is asked for.
    """
    folded = _plain(text)
    parts = sentences(folded)
    if not parts:
        return "" if not (flows or tight) else "nothing before it asserts completion"
    languages = languages_of(folded)
    last = _SCOPE_WORDS.sub("#", parts[-1])
    found = signals_of(_NUMBER.sub("#", last), languages)
    if reason := _bad_sentences(parts, last, languages, tight=tight):
        return reason
    if found >= {Signal.DONE, Signal.WHOLE, Signal.SOURCE}:
        last = _SPOKEN_SOURCE.sub("#", last)
        found = signals_of(_NUMBER.sub("#", last), languages)
    if flows or tight:
        reason = _bad_flow(last, found, flows=flows, tight=tight)
        return "" if reason in {_ASSERTS_NOTHING, _GOES_ON} and _announced(parts, found, languages) else reason
    return _bad_lead(parts, last, found, languages)


def _bad_sentences(parts: Sequence[str], last: str, languages: frozenset[str], *, tight: bool) -> str:
    """What speaks against a claim whether the text goes on into it or not."""
    if _QUESTION.search(last):
        return "it is asked"
    if any(_SPEAKER.match(sentence) for sentence in parts) or _REPORTED.search(last):
        return "it is attributed"
    if shows_failure(last):
        return "the sentence before it shows a failing run"
    doubts = (doubt_in(sentence, languages) for sentence in (parts if tight else parts[-1:]))
    return next((reason for reason in doubts if reason), "")


def _bad_lead(parts: Sequence[str], last: str, found: frozenset[Signal], languages: frozenset[str]) -> str:
    """What speaks against a finished sentence above a claim."""
    negated = Signal.NEGATION in found and Signal.ZERO not in found
    if Signal.MENTION in found and (negated or found & {Signal.LATER, Signal.CONDITION, Signal.EXAMPLE}) and Signal.DONE not in found:
        return "the sentence before it speaks of the tag"
    past = bool(_PAST.search(last))
    turned = takes_back(last, languages, listed=False)
    if turned and not past and not (found & _EVIDENCE and Signal.TAKEN_BACK not in found and not _SAYS_NO.match(last)):
        return "the sentence before it takes something back"
    if not any(harmless(sentence, languages) or _FOREIGN.search(sentence) for sentence in parts):
        return "nothing before it asserts completion"
    if (names_part(last) and not _QUANTIFIED.search(last)) or partial_count(last) or (_NOT_ALL.search(last) and Signal.DONE in found):
        return "it is about a part"
    return ""


def _announced(parts: Sequence[str], found: frozenset[Signal], languages: frozenset[str]) -> bool:
    """Whether a short announcement ("I am happy to report:") follows a sentence that asserts completion."""
    if len(parts) < 2 or len(words_of(parts[-1])) > 12 or found & {Signal.SOURCE, Signal.EXAMPLE, Signal.LATER, Signal.CONDITION}:
        return False
    before = signals_of(_NUMBER.sub("#", parts[-2]), languages)
    asserted = Signal.DONE in before and Signal.WHOLE in before and not before & {Signal.NEGATION, Signal.CONDITION, Signal.LATER}
    return asserted and not doubt_in(parts[-2], languages) and (Signal.MENTION not in found or bool(_THEREFORE.search(parts[-1])))


_ASSERTS_NOTHING = "nothing before it asserts completion"
_GOES_ON = "its sentence goes on into the tag"
_SPOKEN_SOURCE = re.compile(
    r"\b(?:ticket|prompt|instructions?|spec|specification|agents\.md|claude\.md|readme|template|docs|harness|required|asked|requires|by the|from the)\b"
)


def _bad_flow(last: str, found: frozenset[Signal], *, flows: bool, tight: bool) -> str:
    """What speaks against a sentence that goes on into a claim, or shares its line."""
    spoken = Signal.MENTION in found and Signal.DONE not in found
    colon = last.endswith((":", "：", "→", "->", "-", "–", "—", ","))
    reasons = (
        (Signal.NEGATION in found and Signal.ZERO not in found, "it is negated"),
        (Signal.LATER in found, "it is postponed"),
        (Signal.CONDITION in found, "it is conditional"),
        (Signal.EXAMPLE in found, "it is an example"),
        (names_part(last) and not _QUANTIFIED.search(last), "it is about a part"),
        (partial_count(last), "it is about a part"),
        (bool(_NOT_ALL.search(last)) or (Signal.PART in found and not _QUANTIFIED.search(last)), "it is about a part"),
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
