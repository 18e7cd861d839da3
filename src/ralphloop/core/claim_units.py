"""The statements of a message: lines joined to paragraphs, folded, and cut into sentences."""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ralphloop.core.claim_signals import words_of
from ralphloop.core.markdown_lines import LineKind, MarkdownLine

TAG_MARK = "\ue000"

INLINE_HTML = re.compile(r"</?(?:b|strong|i|em|u|p|div|center|span|h[1-6]|br|mark|big)(?: [^<>]{0,60})?/?>")
_CODE_SPAN = re.compile(r"(`{1,3})[^`\n]*\1")
_PATH = re.compile(r"(?<![\w./\\@~-])(?:[\w.@~-]+[\\/])+[\w@~.-]*\.[a-z]\w{0,7}\b", re.IGNORECASE)
_TICKED = re.compile(r"\W{0,4}[✅✓✔☑]|.*[✅✓✔☑]\W{0,4}(?:\([^()]{0,40}\))?\W{0,4}$", re.DOTALL)
_LINK = re.compile(r"https?://\S+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]*_]*\s+|(?<=[。！？])")
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
    r"|\b(?:bugs?|issues?|errors?|problems?|failures?|todos?)\.(?:md|txt|json|csv|ya?ml)\b"
    r"|\b(?:size|memory|latency|duration|usage|footprint|bundle|image) dropped\b(?= (?:from|to|by)\b)|\b500 (?=(?:vus?|users?|rows|records|items|requests|lines|files|messages|ms|mb|kb|gb)\b)"
    r"|\berrors?, all (?:of (?:them|which) )?(?:are |were )?(?:expected|intended)\b|\brejected (?=(?:rows|records|lines|entries)\b)|\bties (?:are )?broken\b"
    r"|\b(?:it|run|iteration|session) ha[ds] (?:forgotten|missed|skipped|overlooked)\b|\bre-?running\b(?= .{0,60}?\b(?:changes|gives|yields|produces|leaves)\b)"
    r"|\bopen (?:for|to|source)\b|\bstate of the art\b|\bhope(?:fully)?\b"
)
# "Ne … plus", "non … più", "não … mais": the table of words has it in one piece.
_NO_MORE = re.compile(r"\b(?:non|não|no|ne|n)[ ']((?:\w+ ){1,3}?)(?:più|plus|mais|más)\b")


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
    def ticked(self) -> bool:
        """Whether a ticked box or a tick says that it is done."""
        return self.box not in {"", "open"} or bool(_TICKED.match(self.text))

    @property
    def folded(self) -> str:
        """The text for the word tables: casefolded, code and links taken out, composite numbers as one sign."""
        return plain(self.text)


def plain(text: str) -> str:
    """A text for the word tables: casefolded, code, paths and links taken out."""
    text = _PATH.sub(" # ", _LINK.sub(" # ", _CODE_SPAN.sub(" # ", text))).replace("’", "'").replace("*", "").replace("_", " ").casefold()
    return _HARMLESS.sub("#", _NO_MORE.sub(r" nomore \1", text))


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
            units[-1] = replace(above, text=f"{above.text} {line.text}")
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
    if above.text.endswith((":", "：")) and line.indent > above.indent:
        return False
    return line.text[:1].islower() or (not (ends_sentence(above.text) or above.text.endswith((":", "："))) and len(above.text) > 60)


def ends_sentence(text: str) -> bool:
    """Whether the text ends with an end mark."""
    stripped = text.rstrip()
    bare = stripped.rstrip("".join({char for char in stripped[-8:] if unicodedata.category(char) in {"So", "Sk", "Mn", "Cf"}}) + " ")
    return bool(_ENDS_SENTENCE.search(bare) or _ENDS_WELL.search(stripped))


def sentences(text: str) -> list[str]:
    """The sentences of a folded text."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and any(char.isalnum() or char == TAG_MARK for char in part)]


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
