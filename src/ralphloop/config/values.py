"""One value against its key: the right type and range, or a ConfigError that says where, what, and what to write instead.

Values are never shown where they may be secrets: in flags and in environment variables.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from ralphloop.config.bounds import LARGEST
from ralphloop.config.schema import GATE_KEYS, PRICE_KEYS, Key, Type, Value
from ralphloop.config.setting import Origin
from ralphloop.config.spellings import GATE_SPELLINGS
from ralphloop.config.tree import Node
from ralphloop.config.wording import listed, nearest, quoted, shortened, suggestion
from ralphloop.core.model import Gate, OnFail, OwnPrice, Price

SCM_TASKS = "commit, push and merge BRANCH"

_KINDS: dict[type, str] = {dict: "an object", tuple: "a list", str: "text", bool: "a switch", int: "a number", float: "a number"}


class Wrong(Exception):
    """What is wrong with a value; the sentence goes on after the name of its key."""


def read_value(key: Key, name: str, node: Node, source: str) -> Value:
    """The value of any key but a table. `name` is the key as the user spelled it."""
    origin = Origin(source=source, line=node.line)
    if key.type is Type.GATES:
        return tuple(_gate(*each, source) for each in _rows(name, node, source, '{"command": "make test"}'))
    if key.type is Type.PRICES:
        return tuple(_price(*each, source) for each in _rows(name, node, source, _A_PRICE))
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


_A_PRICE = '{"model": "my-model", "input": 1.25, "output": 10}'


def _rows(name: str, node: Node, source: str, example: str) -> list[tuple[str, Node]]:
    """The objects of a list, each with its name."""
    if not isinstance(node.value, tuple):
        Origin(source=source, line=node.line).refuse(f"{name} is {_kind(node)}; write a list such as [{example}]")
    for number, item in enumerate(node.value):
        if not isinstance(item.value, dict):
            Origin(source=source, line=item.line).refuse(f"{name}[{number}] is {_kind(item)}; write an object such as {example}")
    return [(f"{name}[{number}]", item) for number, item in enumerate(node.value)]


def _members(name: str, node: Node, source: str, keys: Mapping[str, Key], spellings: Mapping[str, str]) -> dict[str, tuple[str, Node]]:
    """The members of an object by their canonical keys, each once, with the key as it is spelled."""
    assert isinstance(node.value, dict)
    written: dict[str, tuple[str, Node]] = {}
    for spelled, member in node.value.items():
        there = Origin(source=source, line=member.key_line)
        canonical = spellings.get(spelled, spelled)
        if canonical not in keys:
            there.refuse(f"unknown key {quoted(f'{name}.{spelled}')}; {suggestion(spelled, (*keys, *spellings))}")
        if canonical in written:
            first, other = written[canonical]
            there.refuse(f"{quoted(spelled)} and {quoted(first)} on line {other.key_line} are the same setting; keep one of them")
        written[canonical] = spelled, member
    return written


def _gate(name: str, node: Node, source: str) -> Gate:
    written = _members(name, node, source, GATE_KEYS, GATE_SPELLINGS)
    if "hint" in written and written["hint"][1].value == "":
        del written["hint"]
    read: dict[str, Any] = {key: read_value(GATE_KEYS[key], f"{name}.{spelled}", member, source) for key, (spelled, member) in written.items()}
    if "command" not in read:
        Origin(source=source, line=node.line).refuse(f'{name} has no command; add "command": "…"')
    return Gate(**read | {"on_fail": OnFail(read.get("on_fail", OnFail.APPEND))})


def _price(name: str, node: Node, source: str) -> OwnPrice:
    written = _members(name, node, source, PRICE_KEYS, {})
    read: dict[str, Any] = {key: read_value(PRICE_KEYS[key], f"{name}.{key}", member, source) for key, (_, member) in written.items()}
    missing = [key for key in ("model", "input", "output") if key not in read]
    if missing:
        Origin(source=source, line=node.line).refuse(f"{name} has no {listed(missing, 'and no')}; write an object such as {_A_PRICE}")
    model = read.pop("model")
    return OwnPrice(model=model, price=Price(**read))


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
