"""Reads the word tables: which signals a text gives, where in it, and in which languages it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
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


class _Phrase(NamedTuple):
    """A phrase of the tables, without the words that its key in the index holds already."""

    rest: tuple[str, ...]
    open_end: bool
    signal: Signal
    language: str


_Index = dict[str, tuple[_Phrase, ...]]


@cache
def _index() -> _Index:
    """Phrases of the spaced languages by their first word, or two where both are whole; a lone stem is kept under `stem*`.

    Made when it is first needed; equal values are kept once, since a loop lives for days and most of the thousands are alike.
    """
    index: _Index = {}
    kept: dict[tuple[_Phrase, ...], tuple[_Phrase, ...]] = {}
    for signal, languages in TABLES.items():
        for language in languages.keys() - SPACELESS:
            for entry in _entries(signal, language):
                if entry.startswith("*"):
                    continue
                key, phrase = _keyed(words_of(entry.casefold()), signal, language, open_end=entry.endswith("*"))
                phrases = (*index.get(key, ()), phrase)
                index[key] = kept.setdefault(phrases, phrases)
    return index


def _keyed(words: list[str], signal: Signal, language: str, *, open_end: bool) -> tuple[str, _Phrase]:
    in_key = 2 if len(words) > 2 or (len(words) == 2 and not open_end) else 1
    key = " ".join(words[:in_key]) + "*" * (open_end and len(words) == 1)
    return key, _Phrase(tuple(words[in_key:]), open_end, signal, language)


@cache
def _stems() -> list[int]:
    """The lengths of the lone stems."""
    return sorted({len(key) - 1 for key in _index() if key.endswith("*")})


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
        for phrase in _index().get(word, ()):
            if phrase.signal is Signal.KNOWN:
                counts[phrase.language] = counts.get(phrase.language, 0) + 1
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
    index = _index()
    for at, (word, start, end) in enumerate(words):
        following = at + 1
        keys = [(word, following), *((word[:length] + "*", following) for length in _stems() if length <= len(word))]
        if following < len(words):
            keys.append((f"{word} {words[following][0]}", following + 1))
        for key, after in keys:
            for phrase in index.get(key, ()):
                if (not spoken or phrase.language in spoken) and _follows(words, after, phrase):
                    yield Mark(start, words[after + len(phrase.rest) - 1][2], phrase.signal, phrase.language)
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


def _follows(words: list[tuple[str, int, int]], after: int, phrase: _Phrase) -> bool:
    """Whether the rest of a phrase stands after its key."""
    if not phrase.rest:
        return True
    *whole, last = phrase.rest
    found = [word for word, _, _ in words[after : after + len(phrase.rest)]]
    if len(found) < len(phrase.rest) or found[:-1] != whole:
        return False
    return found[-1].startswith(last) if phrase.open_end else found[-1] == last
