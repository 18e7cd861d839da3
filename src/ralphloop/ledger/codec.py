"""Entries as JSON, and back, by the type hints of their dataclasses.

Streams outlive versions of the program. Unknown fields are ignored and new fields have defaults, so both directions work for additions. A changed
meaning gets a new version number in VERSIONS and a function in UPCASTERS that lifts the fields of the version before. What cannot be understood is
refused, never guessed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from ralphloop.core.messages import Entry
from ralphloop.errors import LedgerError

Fields = dict[str, Any]
Upcaster = Callable[[Fields], Fields]
_Decoder = Callable[[Any], Any]

TYPES: dict[str, type] = {entry.__name__: entry for entry in get_args(Entry)}
VERSIONS: dict[str, int] = dict.fromkeys(TYPES, 1)
UPCASTERS: dict[tuple[str, int], Upcaster] = {}


class UnknownEntry(LedgerError):
    """An entry that this version of the program cannot understand."""


def encode(entry: Entry) -> tuple[str, int, str]:
    """The entry as (type, v, json). The JSON is plain ASCII, so text that is no valid Unicode cannot stop the writer."""
    name = type(entry).__name__
    return name, VERSIONS[name], _ENCODER.encode(entry)


def decode(
    name: str,
    version: int,
    text: str,
    *,
    versions: Mapping[str, int] = VERSIONS,
    upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
) -> Entry:
    """The entry that was encoded, by this or an older version of the program."""
    known = versions.get(name, 0)
    if not 1 <= version <= known:
        raise UnknownEntry(f"{name} v{version} is unknown (known: {f'up to v{known}' if known else 'no entry of that type'})")
    try:
        values = json.loads(text)
        for older in range(version, known):
            values = upcasters[name, older](values)
        return cast("Entry", _decoder(TYPES[name])(values))
    except ValueError as error:
        raise UnknownEntry(f"{name} v{version} cannot be understood ({error})") from error


# --- Writing: on the hot path of every loop. The C encoder does all but ask for the fields of a dataclass. ---


@cache
def _names(type_: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(type_))


def _fields_of(value: Any) -> Fields:
    return {name: getattr(value, name) for name in _names(value.__class__)}


_ENCODER = json.JSONEncoder(default=_fields_of, separators=(",", ":"), check_circular=False)


# --- Reading: one decoder per type hint, built when it is first needed. A decoder raises ValueError. ---

_SCALARS: dict[object, tuple[type, ...]] = {str: (str,), int: (int,), bool: (bool,), float: (float, int)}


@cache
def _decoder(hint: Any) -> _Decoder:
    if hint in _SCALARS:
        return _scalar_decoder(_SCALARS[hint])
    if get_origin(hint) is tuple:
        return _tuple_decoder(hint)
    if get_origin(hint) in (UnionType, Union):
        return _optional_decoder(hint)
    if is_dataclass(hint):
        return _object_decoder(cast("type", hint))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint
    raise TypeError(f"the codec has no decoder for {hint}")


def _scalar_decoder(accepted: tuple[type, ...]) -> _Decoder:
    def scalar(value: Any) -> Any:
        if type(value) not in accepted:
            raise ValueError(f"{value!r:.80} is no {accepted[0].__name__}")
        return value

    return scalar


def _tuple_decoder(hint: Any) -> _Decoder:
    item, _ellipsis = get_args(hint)
    decode_item = _decoder(item)

    def items(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise ValueError(f"{value!r:.80} is no list")
        return tuple(decode_item(one) for one in value)

    return items


def _optional_decoder(hint: Any) -> _Decoder:
    (inner,) = (one for one in get_args(hint) if one is not NoneType)
    decode_inner = _decoder(inner)
    return lambda value: None if value is None else decode_inner(value)


def _object_decoder(type_: type) -> _Decoder:
    hints = get_type_hints(type_)
    decoders = {field.name: _decoder(hints[field.name]) for field in fields(type_)}
    required = [field.name for field in fields(type_) if field.default is MISSING and field.default_factory is MISSING]

    def record(value: Any) -> Any:
        if type(value) is not dict:
            raise ValueError(f"{value!r:.80} is no {type_.__name__}")
        for name in required:
            if name not in value:
                raise ValueError(f"{type_.__name__} lacks {name}")
        return type_(**{name: decoder(value[name]) for name, decoder in decoders.items() if name in value})

    return record
