"""A strict JSON reader that knows lines: `json` gives none for a value, and keeps the last of two equal keys without a word.

Recursive descent over one string with a cursor; every character is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NoReturn

from ralphloop.config.tree import Node, Scalar
from ralphloop.config.wording import quoted
from ralphloop.errors import ConfigError

DEEPEST = 64
BOM = b"\xef\xbb\xbf"

_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN_TEXT = re.compile(r'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![0-9A-Za-z.])")
_HEX = re.compile(r"[0-9A-Fa-f]{4}")
_BARE_WORD = re.compile(r"[^\s,:\[\]{}\"']+")
_COMMENT = re.compile(r"//|/\*|#")
_WORDS: dict[str, Scalar] = {"true": True, "false": False, "null": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def read_json(content: bytes, source: str) -> Node:
    """The document; a ConfigError names the source, the line and the way to put it right."""
    body = content.removeprefix(BOM)
    try:
        text = body.decode()
    except UnicodeDecodeError as wrong:
        line = body.count(b"\n", 0, wrong.start) + 1
        raise ConfigError(f"{source}:{line}: this is not UTF-8; save the file as UTF-8") from None
    return _Cursor(text, source).document()


class _Cursor:
    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._at = 0
        self._breaks = [found.start() for found in re.finditer("\n", text)]

    def document(self) -> Node:
        self._skip_space()
        if not self._char:
            self._fail("the file is empty; write at least {}")
        node = self._value(depth=1, key_line=None)
        if self._char:
            self._unexpected("the end of the file")
        return node

    @property
    def _char(self) -> str:
        return self._text[self._at : self._at + 1]

    def _line(self, at: int | None = None) -> int:
        return bisect_left(self._breaks, self._at if at is None else at) + 1

    def _fail(self, what: str, at: int | None = None) -> NoReturn:
        raise ConfigError(f"{self._source}:{self._line(at)}: {what}")

    def _skip_space(self) -> None:
        found = _SPACE.match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _take(self, char: str) -> bool:
        if self._char != char:
            return False
        self._at += 1
        self._skip_space()
        return True

    def _unexpected(self, wanted: str) -> NoReturn:
        if not self._char:
            self._fail(f"the file ends here, and {wanted} is missing")
        if _COMMENT.match(self._text, self._at):
            self._fail("JSON has no comments; take this one away")
        if self._char == "'":
            self._fail("text stands in double quotes in JSON, not in single ones")
        self._fail(f"{wanted} is expected here, and something else stands there")  # not shown: it may be part of a secret

    def _value(self, *, depth: int, key_line: int | None) -> Node:
        if depth > DEEPEST:
            self._fail(f"this is nested more than {DEEPEST} levels deep")
        line = self._line()
        value: Scalar | tuple[Node, ...] | dict[str, Node]
        if self._take("{"):
            value = self._members(depth)
        elif self._take("["):
            value = self._items(depth)
        elif self._char == '"':
            value = self._string()
        else:
            value = self._number_or_word()
        return Node(value=value, line=line, key_line=key_line)

    def _members(self, depth: int) -> dict[str, Node]:
        members: dict[str, Node] = {}
        if self._take("}"):
            return members
        while True:
            start, line = self._at, self._line()
            if self._char != '"':
                self._unexpected("a key in double quotes")
            key = self._string()
            if key in members:
                self._fail(f"{quoted(key)} is given twice, first on line {members[key].key_line}; keep one of them", start)
            if not self._take(":"):
                self._unexpected("a colon")
            members[key] = self._value(depth=depth + 1, key_line=line)
            if self._closed("}"):
                return members

    def _items(self, depth: int) -> tuple[Node, ...]:
        items: list[Node] = []
        if self._take("]"):
            return ()
        while True:
            items.append(self._value(depth=depth + 1, key_line=None))
            if self._closed("]"):
                return tuple(items)

    def _closed(self, bracket: str) -> bool:
        comma = self._at
        if self._take(","):
            if self._char == bracket:
                self._fail(f"JSON has no comma before the closing {bracket}; take it away", comma)
            return False
        if not self._take(bracket):
            self._unexpected(f"a comma or {bracket}")
        return True

    def _number_or_word(self) -> Scalar:
        number = _NUMBER.match(self._text, self._at)
        if number:
            value = self._number(number)
            self._at = number.end()
        else:
            word = _BARE_WORD.match(self._text, self._at)
            if not word or word.group() not in _WORDS:
                self._unexpected("a value (text in double quotes, a number, true, false, null, [ or {)")
            value = _WORDS[word.group()]
            self._at = word.end()
        self._skip_space()
        return value

    def _number(self, found: re.Match[str]) -> Scalar:
        if found[1] or found[2]:
            return float(found.group())
        try:
            return int(found.group())
        except ValueError:  # Python refuses to convert thousands of digits
            self._fail("this number is too long")

    def _string(self) -> str:
        start = self._at
        self._at += 1
        parts: list[str] = []
        while True:
            found = _PLAIN_TEXT.match(self._text, self._at)
            assert found is not None
            parts.append(found.group())
            self._at = found.end()
            if self._char == '"':
                break
            if self._char != "\\":
                self._fail("this text is not closed on its line; end it with a double quote, or write \\n for a new line", start)
            parts.append(self._escape())
        self._at += 1
        self._skip_space()
        return "".join(parts)

    def _escape(self) -> str:
        letter = self._text[self._at + 1 : self._at + 2]
        if letter == "u":
            return self._unicode_escape()
        if letter not in _ESCAPES or not letter:
            self._fail(f"{quoted(self._text[self._at : self._at + 2])} is no escape of JSON; write two backslashes for one")
        self._at += 2
        return _ESCAPES[letter]

    def _unicode_escape(self) -> str:
        code = self._code_unit()
        if 0xD800 <= code < 0xDC00 and self._text.startswith("\\u", self._at):
            low = self._code_unit()
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
        if 0xD800 <= code < 0xE000:
            self._fail("this is half of a surrogate pair; write the character itself")
        return chr(code)

    def _code_unit(self) -> int:
        digits = _HEX.match(self._text, self._at + 2)
        if not digits:
            self._fail("\\u takes four hexadecimal digits")
        self._at = digits.end()
        return int(digits.group(), 16)
