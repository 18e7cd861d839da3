"""Loads the corpus of final messages: files of messages, each under a header line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parent.parent / "corpus" / "claims"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusMessage:
    """One message, and the text that a loop would look for in it."""

    name: str
    category: str
    language: str
    text: str
    words: str


def _options(header: str) -> tuple[str, bool]:
    text = re.search(r"text=(.*?)(?:,\s*crlf)?\s*$", header)
    return (text[1].strip() if text else "COMPLETE"), bool(re.search(r"\bcrlf\b", header))


def load(file: Path) -> list[CorpusMessage]:
    """Read the messages of one file, named by hand, category and number."""
    messages: list[CorpusMessage] = []
    for number, part in enumerate(re.split(r"^%%% ?", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:], start=1):
        header, _, words = part.partition("\n")
        category, language, options = [*(field.strip() for field in header.split("|", 2)), "", ""][:3]
        text, crlf = _options(options)
        words = words.strip("\n")
        name = f"{file.parent.name}/{file.stem}/{number:03d}-{category}"
        messages.append(
            CorpusMessage(name=name, category=category, language=language, text=text, words=words.replace("\n", "\r\n") if crlf else words)
        )
    return messages


def load_all(kind: str) -> list[CorpusMessage]:
    """Read every hand's messages of a kind: `claims` or `not_claims`."""
    return [message for file in sorted(CORPUS.glob(f"*/{kind}.txt")) for message in load(file)]
