"""Counts and parts: "3 of 5", "phase 2", "almost all"."""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import re

_COUNT = re.compile(
    r"(?<![\d/.-])(\d{1,4})\s*(?:/|(?:out )?of(?: the)?|von|van(?: de)?|sur|de(?: las| los)?|di|su|z|ze|из|з|із)\s*(\d{1,4})(?![\d/.%-]*\d)"
)
SPELT = {word: n for n, word in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"))}
_SPELT_COUNT = re.compile(r"\b(" + "|".join(SPELT) + r") (?:out )?of (?:the )?(" + "|".join(SPELT) + r")\b")
_COUNTS_RUNS = re.compile(r"(?:iteration|run|attempt|session|turn|round|loop|try|page|itération|iteración|iteração|итерац\w*|ітерац\w*)\W*$")
_NUMBERED_PART = re.compile(
    r"\b(?:phase|part|stage|step|story|task|item|milestone|section|sprint|chapter|point|teil|schritt|aufgabe|étape|partie|tâche|fase|etapa|paso|"
    r"tarea|tarefa|passo|parte|etap|krok|zadanie|этап|шаг|часть|пункт|фаза|крок|етап|aşama|adım|görev|us|stap|taak|deel)\W{0,2}(?:\d+|[a-e]\b)"
    r"|第[一二三四五\d]+(?:阶段|步|部分|段階|フェーズ)|\d+단계|フェーズ\s*\d"
)
_FULL_COUNT = re.compile(r"\b(\d+) ?(?:of|/|von|van|sur|de|di|su|z|из|з) ?\1\b")
QUANTIFIED = re.compile(
    r"\b(?:all|every\w*|each|both|last|final|remaining|to|through|alle|letzte\w*|sämtliche|laatste|tous|toutes|derni[eè]re?s?|todos|todas|últim\w*|tutt[ie]|ultim\w*|"
    r"wszystkie|ostatni\w*|все|последн\w*|усі|всі|останн\w*|tüm|bütün|son)\b|所有|全部|最后|すべて|全て|最後|모든|마지막|\d ?[-–] ?\d"
)
NOT_ALL = re.compile(
    r"\b(?:probably|i think|i believe|i guess|maybe|perhaps|seems?|supposedly|allegedly|apparently|presumably|reportedly|angeblich|offenbar|anscheinend|blijkbaar|apparemment|supuestamente|aparentemente|presumibilmente|apparentemente|podobno|якобы|вроде|похоже|начебто|güya|wahrscheinlich|vermutlich|waarschijnlijk|probablement|probablemente|provavelmente|probabilmente|"
    r"prawdopodobnie|вероятно|наверное|мабуть|ймовірно|muhtemelen|so far|almost|nearly|mostly|partly|partial\w*|half|only|most of|some of|teilweise|nur|bisher|bislang|fast|bijna|alleen|slechts|presque|seulement|partiel\w*|casi|solo|"
    r"sólo|solamente|quase|apenas|somente|quasi|soltanto|solamente|prawie|tylko|częściowo|почти|только|частично|лишь|майже|лише|тільки|частково|neredeyse|sadece|yalnızca)\b"
    r"|可能|大概|据说|似乎|らしい|ようです|것 같|おそらく|たぶん|아마|几乎|部分|仅|ほぼ|だけ|のみ|거의|일부"
)
_OPEN_COUNT = re.compile(
    r"\b[1-9]\d* (?:still )?(?:open|pending|remaining|left|todo|offen\w*|ouvert\w*|abiert\w*|abert\w*|apert\w*|otwart\w*|открыт\w*|відкрит\w*|açık)"
    r"(?:\W*$|[,;.)]| (?:tasks?|items?|stories|boxes|issues|points|punkte|aufgaben)\b)"
)


def partial_count(text: str) -> bool:
    """Whether it speaks of some out of more."""
    for found in _COUNT.finditer(text):
        few, many = int(found[1]), int(found[2])
        if few < many and not _COUNTS_RUNS.search(text[max(0, found.start() - 24) : found.start()]):
            return True
    if _OPEN_COUNT.search(text):
        return True
    return any(SPELT[found[1]] < SPELT[found[2]] for found in _SPELT_COUNT.finditer(text))


def names_part(text: str) -> bool:
    """Whether it names a numbered part of something."""
    return bool(_NUMBERED_PART.search(_FULL_COUNT.sub("#", text)))
