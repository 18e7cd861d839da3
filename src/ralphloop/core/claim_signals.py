"""Reads the word tables: which signals a text gives, where in it, and in which languages it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ralphloop.core.claim_words import SPACELESS, TABLES, Signal

_ALWAYS = frozenset({"en", "sv", "cs"})
_WORD = re.compile(r"[^\W_]+")


class Mark(NamedTuple):
    """One place in a text, from start to end, that gives a signal."""

    start: int
    end: int
    signal: Signal
    language: str


def words_of(text: str) -> list[str]:
    """The words of a casefolded text, apostrophes and hyphens taken as gaps, as in the tables."""
    return _WORD.findall(text)


def _entries(signal: Signal, language: str) -> list[str]:
    return [entry.strip() for entry in TABLES[signal].get(language, "").split(",") if entry.strip()]


_Phrase = tuple[tuple[str, ...], bool, Signal, str]


def _index() -> dict[str, list[_Phrase]]:
    """Phrases of the spaced languages by their first word, or two where both are whole; a lone stem is kept under `stem*`."""
    index: dict[str, list[_Phrase]] = {}
    for signal, languages in TABLES.items():
        for language in languages.keys() - SPACELESS:
            for entry in _entries(signal, language):
                if entry.startswith("*"):
                    continue
                tokens, open_end = tuple(words_of(entry.casefold())), entry.endswith("*")
                key = tokens[0] + ("*" if open_end and len(tokens) == 1 else "")
                if len(tokens) > 2 or (len(tokens) == 2 and not open_end):
                    key = f"{tokens[0]} {tokens[1]}"
                index.setdefault(key, []).append((tokens, open_end, signal, language))
    return index


_INDEX = _index()
_STEMS = sorted({len(key) - 1 for key in _INDEX if key.endswith("*")})
_ENDINGS = [(entry[1:], signal) for signal in TABLES for entry in _entries(signal, "tr") if entry.startswith("*")]
_SCRIPTS = {
    "zh": re.compile(r"[\u3400-\u9fff]"),
    "ja": re.compile(r"[\u3040-\u30ff]"),
    "ko": re.compile(r"[\uac00-\ud7a3]"),
}
_SUBSTRINGS = {language: [(entry, signal) for signal in TABLES for entry in _entries(signal, language)] for language in SPACELESS}


def languages_of(text: str) -> frozenset[str]:
    """The languages whose small words a casefolded text is full of; empty where that cannot be told."""
    counts: dict[str, int] = {}
    for word in words_of(text):
        for _, _, signal, language in _INDEX.get(word, ()):
            if signal is Signal.KNOWN:
                counts[language] = counts.get(language, 0) + 1
    best = max(counts.values(), default=0)
    found = {language for language, count in counts.items() if best >= 3 and count * 10 >= best * 7}
    found |= {language for language, script in _SCRIPTS.items() if script.search(text)}
    return frozenset(found)


def signals_of(text: str, languages: frozenset[str] = frozenset()) -> frozenset[Signal]:
    """What the words of a casefolded text signal, read in these languages (none given: in all)."""
    return frozenset(mark.signal for mark in marks_of(text, languages, places=False))


def marks_of(text: str, languages: frozenset[str] = frozenset(), *, places: bool = True) -> Iterator[Mark]:
    """Where a casefolded text signals what; without `places`, a signal of a script without spaces is told once."""
    spoken = languages | _ALWAYS if languages else frozenset()
    words = [(found[0], found.start(), found.end()) for found in _WORD.finditer(text)]
    for at, (word, start, end) in enumerate(words):
        pair = f"{word} {words[at + 1][0]}" if at + 1 < len(words) else word
        keys = [word, *([pair] if pair != word else []), *(word[:length] + "*" for length in _STEMS if length <= len(word))]
        for key in keys:
            for tokens, open_end, signal, language in _INDEX.get(key, ()):
                if (not spoken or language in spoken) and _follows(words, at, tokens, open_end=open_end):
                    yield Mark(start, words[at + len(tokens) - 1][2], signal, language)
        if "tr" in languages:
            for ending, signal in _ENDINGS:
                if word.endswith(ending):
                    yield Mark(start, end, signal, "tr")
    yield from _spaceless_marks(text, places=places)


def _spaceless_marks(text: str, *, places: bool) -> Iterator[Mark]:
    """Marks in the scripts that put no spaces between words; kanji beside kana are Japanese."""
    scripts = {language for language, script in _SCRIPTS.items() if script.search(text)}
    for language in sorted(scripts - {"zh"} if "ja" in scripts else scripts):
        for entry, signal in _SUBSTRINGS[language]:
            at = text.find(entry)
            while at >= 0:
                yield Mark(at, at + len(entry), signal, language)
                at = text.find(entry, at + len(entry)) if places else -1


def _follows(words: list[tuple[str, int, int]], at: int, tokens: tuple[str, ...], *, open_end: bool) -> bool:
    """Whether a phrase stands at this word."""
    last = at + len(tokens) - 1
    if last >= len(words) or any(words[at + step][0] != token for step, token in enumerate(tokens[:-1])):
        return False
    return words[last][0].startswith(tokens[-1]) if open_end else words[last][0] == tokens[-1]
