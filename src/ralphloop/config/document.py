"""A settings document becomes settings: every key known, every spelling translated, every value checked."""

from __future__ import annotations

import re
from typing import NoReturn

from ralphloop.config.schema import SCHEMA, Path, Type, dotted, pattern, split
from ralphloop.config.setting import Origin, Setting
from ralphloop.config.spellings import SPELLINGS
from ralphloop.config.tree import Node
from ralphloop.config.values import read_table, read_value
from ralphloop.config.wording import listed, nearest, quoted

_CANONICAL = {split(name): split(name) for name in SCHEMA} | {split(name): split(meant) for name, meant in SPELLINGS.items()}
AGENT_NAME = re.compile(r"[A-Za-z0-9_-]+")
_EVERYWHERE = {name for name in SCHEMA if "*" not in name}
_SECTIONS = {path[:depth] for path in _CANONICAL for depth in range(1, len(path))}


def read_document(document: Node, source: str) -> dict[str, Setting]:
    """Every setting of the document by its canonical dotted key."""
    reading = _Reading(source)
    reading.section((), document)
    return reading.settings


class _Reading:
    def __init__(self, source: str) -> None:
        self.settings: dict[str, Setting] = {}
        self._source = source
        self._written: dict[Path, tuple[Path, int | None]] = {}

    def section(self, path: Path, node: Node) -> None:
        if not isinstance(node.value, dict):
            what = dotted(path) or "the document"
            self._at(node.line).refuse(f"{what} must be an object: write {{ … }}")
        for name, member in node.value.items():
            self._member((*path, name), member)

    def _member(self, path: Path, node: Node) -> None:
        if path[:1] == ("agents",) and len(path) == 2 and not AGENT_NAME.fullmatch(path[1]):
            self._at(node.key_line).refuse(f"{quoted(path[1])} is no name of an agent: it has letters, digits, - and _")
        shape = pattern(path)
        if shape in _CANONICAL:
            meant = _CANONICAL[shape]
            self._leaf(path if "*" in meant else meant, path, node)
        elif shape in _SECTIONS:
            self.section(path, node)
        else:
            self._unknown(path, node)

    def _leaf(self, key: Path, path: Path, node: Node) -> None:
        if key in self._written:
            other, line = self._written[key]
            self._at(node.key_line).refuse(
                f"{quoted(dotted(path))} and {quoted(dotted(other))} on line {line} are the same setting; keep one of them"
            )
        self._written[key] = path, node.key_line
        schema_key = SCHEMA[dotted(pattern(key))]
        if schema_key.type is not Type.TABLE:
            value = read_value(schema_key, dotted(path), node, self._source)
            self.settings[dotted(key)] = Setting(value=value, origin=self._at(node.key_line))
            return
        for name, text in read_table(dotted(path), node, self._source).items():
            assert isinstance(node.value, dict)
            self.settings[dotted((*key, name))] = Setting(value=text, origin=self._at(node.value[name].key_line))

    def _unknown(self, path: Path, node: Node) -> NoReturn:
        head, dot, tail = path[-1].partition(".")
        if dot and pattern(split(dotted(path))) in _CANONICAL:
            hint = f"settings nest, a dot does not: write {quoted(head)}: {{{quoted(tail)}: …}}"
        else:
            hint = _suggestion(path)
        self._at(node.key_line).refuse(f"unknown key {quoted(dotted(path))}; {hint}")

    def _at(self, line: int | None) -> Origin:
        return Origin(source=self._source, line=line)


def _suggestion(path: Path) -> str:
    """The nearest key beside an unknown one; at the top, of all keys, since a section may have been forgotten."""
    *section, name = path
    beside = {known[-1] for known in (*_CANONICAL, *_SECTIONS) if known[:-1] == pattern(path)[:-1] and known[-1] != "*"}
    close = nearest(name, beside if section else beside | _EVERYWHERE)
    return f"did you mean {quoted(dotted((*section, close)))}?" if close else f"known here: {listed(sorted(beside), 'and')}"
