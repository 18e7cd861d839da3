"""One value against its key: the right type and range, or a ConfigError that says where, what, and what to write instead.

Values are never shown where they may be secrets: in flags and in environment variables.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from ralphloop.config.bounds import LARGEST
from ralphloop.config.schema import GATE_KEYS, Key, Type, Value
from ralphloop.config.setting import Origin
from ralphloop.config.spellings import GATE_SPELLINGS
from ralphloop.config.tree import Node
from ralphloop.config.wording import listed, nearest, quoted, shortened, suggestion
from ralphloop.core.model import Gate, OnFail

SCM_TASKS = "commit, push and merge BRANCH"

_KINDS: dict[type, str] = {dict: "an object", tuple: "a list", str: "text", bool: "a switch", int: "a number", float: "a number"}


class Wrong(Exception):
    """What is wrong with a value; the sentence goes on after the name of its key."""


def read_value(key: Key, name: str, node: Node, source: str) -> Value:
    """The value of any key but a table. `name` is the key as the user spelled it."""
    origin = Origin(source=source, line=node.line)
    if key.type is Type.GATES:
        return _gates(name, node, source)
    try:
        return _READERS[key.type](key, node)
    except Wrong as wrong:
        origin.refuse(f"{name} {wrong}")


def read_table(name: str, node: Node, source: str) -> dict[str, str]:
    """The environment variables of a table."""
    origin = Origin(source=source, line=node.line)
    if not isinstance(node.value, dict):
        origin.refuse(f'{name} is {_kind(node)}; write an object such as {{"NAME": "value"}}')
    table: dict[str, str] = {}
    for variable, entry in node.value.items():
        there = Origin(source=source, line=entry.line)
        if not variable or "=" in variable or "\0" in variable:
            there.refuse(f"{name} has the name {quoted(variable)}; a variable has a name without = in it")
        try:
            table[variable] = _text_of(entry, blank_allowed=True)
        except Wrong as wrong:
            there.refuse(f"{name}.{variable} {wrong}")
    return table


def _kind(node: Node) -> str:
    return "null" if node.value is None else _KINDS[type(node.value)]


def _shown(node: Node) -> str:
    if isinstance(node.value, bool):
        return str(node.value).lower()
    if isinstance(node.value, int | float):
        return shortened(str(node.value))
    return quoted(node.value) if isinstance(node.value, str) else _kind(node)


def _text_of(node: Node, *, blank_allowed: bool = False) -> str:
    text = node.value
    if not isinstance(text, str):
        raise Wrong(f"is {_kind(node)}; write text in double quotes")
    if not text.strip() and not blank_allowed:
        raise Wrong("is empty; write some text, or take the key away")
    if "\0" in text:
        raise Wrong("holds a NUL character; take it away")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise Wrong("is not UTF-8 text; write it in UTF-8")
    return text


def _text(_key: Key, node: Node) -> str:
    return _text_of(node)


def _choice(key: Key, node: Node) -> str:
    text = _text_of(node)
    word = text.lower()
    if word in key.later:
        raise Wrong(f"is {word}, which is not available in this version; write {listed(key.choices)}")
    if word not in key.choices:
        close = nearest(word, key.choices)
        raise Wrong(f"is {quoted(text)}; " + (f"did you mean {quoted(close)}?" if close else f"write {listed(key.choices)}"))
    return word


def _switch(_key: Key, node: Node) -> bool:
    if not isinstance(node.value, bool):
        raise Wrong(f"is {_shown(node)}; write true or false")
    return node.value


def _count(_key: Key, node: Node) -> int:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise Wrong(f"is {_shown(node)}; write a whole number from 0 to {LARGEST}")
    return value


def _number(_key: Key, node: Node) -> float:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        raise Wrong(f"is {_shown(node)}; write a number from 0 to {LARGEST}")
    return float(value)


def _list(_key: Key, node: Node) -> tuple[str, ...]:
    if not isinstance(node.value, tuple):
        raise Wrong(f'is {_kind(node)}; write a list such as ["…", "…"]')
    texts = []
    for number, item in enumerate(node.value, start=1):
        try:
            texts.append(_text_of(item))
        except Wrong as wrong:
            raise Wrong(f"entry {number} {wrong}") from None
    return tuple(texts)


def _flags(key: Key, node: Node) -> tuple[str, ...]:
    words: list[str] = []
    for number, text in enumerate(_list(key, node), start=1):
        words += _shell_words(text, f"entry {number} ")
    return tuple(words)


def _shell_words(text: str, which: str = "") -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise Wrong(f"{which}cannot be split as a shell would: a quote is not closed, or a backslash ends it") from None


def split_command(name: str, command: str, origin: Origin) -> list[str]:
    """Program and arguments of a command, split as a shell would."""
    try:
        words = _shell_words(command)
    except Wrong as wrong:
        origin.refuse(f"{name} {wrong}")
    if not words or not words[0].strip():
        origin.refuse(f"{name} is empty; name a program")
    return words


def _scm_tasks(key: Key, node: Node) -> tuple[str, ...]:
    return tuple(_scm_task(text) for text in _list(key, node))


def _scm_task(text: str) -> str:
    match text.split():
        case ["commit" | "push" as task]:
            return task
        case ["merge", branch] if not branch.startswith("-"):
            return f"merge {branch}"
    raise Wrong(f"has {quoted(text)}; known tasks are {SCM_TASKS}")


def _gates(name: str, node: Node, source: str) -> tuple[Gate, ...]:
    if not isinstance(node.value, tuple):
        Origin(source=source, line=node.line).refuse(f'{name} is {_kind(node)}; write a list such as [{{"command": "make test"}}]')
    return tuple(_gate(f"{name}[{number}]", item, source) for number, item in enumerate(node.value))


def _gate(name: str, node: Node, source: str) -> Gate:
    here = Origin(source=source, line=node.line)
    if not isinstance(node.value, dict):
        here.refuse(f'{name} is {_kind(node)}; write an object such as {{"command": "make test"}}')
    read: dict[str, Any] = {}
    written: dict[str, tuple[str, Node]] = {}
    for spelled, member in node.value.items():
        there = Origin(source=source, line=member.key_line)
        canonical = GATE_SPELLINGS.get(spelled, spelled)
        if canonical not in GATE_KEYS:
            there.refuse(f"unknown key {quoted(f'{name}.{spelled}')}; {suggestion(spelled, (*GATE_KEYS, *GATE_SPELLINGS))}")
        if canonical in written:
            first, other = written[canonical]
            there.refuse(f"{quoted(spelled)} and {quoted(first)} on line {other.key_line} are the same setting; keep one of them")
        written[canonical] = spelled, member
        if not (canonical == "hint" and member.value == ""):
            read[canonical] = read_value(GATE_KEYS[canonical], f"{name}.{spelled}", member, source)
    if "command" not in read:
        here.refuse(f'{name} has no command; add "command": "…"')
    return Gate(**read | {"on_fail": OnFail(read.get("on_fail", OnFail.APPEND))})


_READERS: dict[Type, Callable[[Key, Node], Value]] = {
    Type.TEXT: _text,
    Type.CHOICE: _choice,
    Type.SWITCH: _switch,
    Type.COUNT: _count,
    Type.NUMBER: _number,
    Type.LIST: _list,
    Type.FLAGS: _flags,
    Type.SCM_TASKS: _scm_tasks,
}
