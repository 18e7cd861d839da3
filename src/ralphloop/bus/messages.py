"""Messages as Markdown: pleasant for people who read the file, and unambiguous for programs.

    ## 2026-11-18T19:32:16.123Z FACT planner
    The parser is in src/parse.py.
    (blank line)

A message ends where the next heading begins; of what stands between, one blank line at the end is ours. A line of a text that could be taken
for a heading gets a backslash in front, which Markdown does not show; one that has backslashes there already gets one more, so that nothing is
lost when one is taken off. People write into the file as well: what stands before the first heading is a message of nobody, at no time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

MAX_TEXT_BYTES = 64 * 1024
MAX_AUTHOR = 80

_CUT = f"\n… (cut here: longer than {MAX_TEXT_BYTES // 1024} KiB)"
_LIKE_A_HEADING = re.compile(r"^(?=\\*## [0-9]{4}-)", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(?=\\*## [0-9]{4}-)", re.MULTILINE)
_HEADING = re.compile(
    r"^## ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z) (\w+)(?:[ \t\r](.*))?$\n?",  # by hand: no fraction, CRLF
    re.MULTILINE,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MessageType(StrEnum):
    """What a message is for."""

    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"
    FACT = "FACT"
    PROGRESS = "PROGRESS"
    DECISION = "DECISION"
    QUESTION = "QUESTION"
    RUN_START = "RUN_START"
    RUN_STOP = "RUN_STOP"
    RUN_CRASH = "RUN_CRASH"
    WAIT_WITHOUT_RESTART = "wait_without_restart"


TYPES = {type_.casefold(): type_ for type_ in MessageType}
"""The types by their names in small letters: people and agents need not know how each is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message on a bus. `at` is 0 where nobody has written down when, and `author` empty where nobody has signed."""

    at: float
    type: MessageType
    author: str
    text: str


def render(message: Message) -> bytes:
    """The message as it stands in the file."""
    signature = f" {author}" if (author := clean_author(message.author)) else ""
    text = _LIKE_A_HEADING.sub(r"\\", _clipped(message.text))
    return f"## {utc(message.at)} {message.type}{signature}\n{text}\n\n".encode()


def parse(content: bytes) -> list[Message]:
    """Every message in the content, whatever it holds."""
    text = content.decode("utf-8", "replace")
    headings = list(_headings(text))
    starts = [found.start() for found, _, _ in headings] + [len(text)]
    stray = text[: starts[0]].strip("\r\n")
    messages = [Message(at=0.0, type=MessageType.INFO, author="", text=_ESCAPED.sub("", stray))] if stray.strip() else []
    for (found, at, type_), end in zip(headings, starts[1:], strict=True):
        messages.append(Message(at=at, type=type_, author=clean_author(found[3] or ""), text=_body(text[found.end() : end])))
    return messages


def clean_author(author: str) -> str:
    """The author as a heading can hold it: on one line, without control characters, not too long."""
    words = "".join(char if char.isprintable() else " " for char in author).split()
    return " ".join(words)[:MAX_AUTHOR].rstrip()


def utc(at: float) -> str:
    """The moment in UTC, to the millisecond."""
    moment = _EPOCH + timedelta(milliseconds=round(at * 1000))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _headings(text: str) -> Iterator[tuple[re.Match[str], float, MessageType]]:
    for found in _HEADING.finditer(text):
        type_ = TYPES.get(found[2].casefold())
        try:
            at = (datetime.fromisoformat(found[1]) - _EPOCH).total_seconds()
        except ValueError:
            continue
        if type_ is not None:
            yield found, at, type_


def _body(text: str) -> str:
    return _ESCAPED.sub("", text[:-2] if text.endswith("\n\n") else text.removesuffix("\n"))


def _clipped(text: str) -> str:
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= MAX_TEXT_BYTES:
        return encoded.decode()
    return encoded[: MAX_TEXT_BYTES - len(_CUT.encode())].decode("utf-8", "ignore") + _CUT
