"""Entries survive the way to JSON and back, and what cannot be understood is refused."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

import ledger_samples as sample
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralphloop.core.messages import Entry, WaitStarted
from ralphloop.errors import LedgerError
from ralphloop.ledger.codec import TYPES, VERSIONS, UnknownEntry, decode, encode

# A high surrogate followed by a low one is the same JSON as the character they stand for, so such neighbours are joined.
TEXT = st.text(st.characters(exclude_categories=()), max_size=8).map(
    lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"),
)
SCALARS: dict[object, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(),
    bool: st.booleans(),
    float: st.floats(),
}


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    if hint in SCALARS:
        return SCALARS[hint]
    if get_origin(hint) is tuple:
        return st.lists(values_of(get_args(hint)[0]), max_size=2).map(tuple)
    if get_origin(hint) is UnionType:
        return st.one_of([st.none() if one is NoneType else values_of(one) for one in get_args(hint)])
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return st.builds(cast("type", hint), **{field.name: values_of(hints[field.name]) for field in fields(hint)})
    assert issubclass(hint, StrEnum)
    return st.sampled_from(hint)


ENTRIES: st.SearchStrategy[Entry] = st.one_of([values_of(type_) for type_ in TYPES.values()])


@given(ENTRIES)
def test_every_entry_comes_back_exactly(entry: Entry) -> None:
    assert repr(decode(*encode(entry))) == repr(entry)  # by repr: it tells 1 from 1.0 and from True, and nan from nothing


@given(ENTRIES)
def test_the_json_is_plain_ascii_whatever_the_text(entry: Entry) -> None:
    assert encode(entry)[2].isascii()


def test_every_entry_has_a_type_a_version_and_a_time() -> None:
    assert set(TYPES.values()) == set(get_args(Entry))
    assert VERSIONS.keys() == TYPES.keys()
    assert all(get_type_hints(type_)["at"] is float for type_ in TYPES.values())


def test_unknown_fields_are_ignored() -> None:
    assert decode("WaitEnded", 1, '{"at":1.5,"mood":{"deep":[1]}}') == TYPES["WaitEnded"](at=1.5)


@pytest.mark.parametrize("type_", TYPES.values(), ids=TYPES.keys())
def test_fields_with_a_default_may_be_missing_and_the_others_may_not(type_: type) -> None:
    entry = full(type_)
    values = json.loads(encode(entry)[2])
    for field in fields(type_):
        rest = json.dumps({name: value for name, value in values.items() if name != field.name})
        if field.default is MISSING:
            with pytest.raises(UnknownEntry, match=f"lacks {field.name}"):
                decode(type_.__name__, 1, rest)
        else:
            assert getattr(decode(type_.__name__, 1, rest), field.name) == field.default


def full(type_: type) -> Any:
    """An entry of that type whose golden file holds every field."""
    return decode(type_.__name__, 1, (sample.GOLDEN / f"{type_.__name__}.v1.json").read_text())


@pytest.mark.parametrize(
    ("name", "version", "text", "complaint"),
    [
        ("MoonLanded", 1, "{}", "MoonLanded v1 is unknown"),
        ("WaitEnded", 2, '{"at":1.0}', r"WaitEnded v2 is unknown \(known: up to v1\)"),
        ("WaitEnded", 0, '{"at":1.0}', "WaitEnded v0 is unknown"),
        ("WaitEnded", 1, "{", "cannot be understood"),
        ("WaitEnded", 1, "[]", "is no WaitEnded"),
        ("WaitEnded", 1, '{"at":"noon"}', "'noon' is no float"),
        ("WaitEnded", 1, '{"at":true}', "True is no float"),
        ("StepStarted", 1, '{"at":1.0,"step":"teleport"}', "'teleport' is not a valid Step"),
        ("LoopStarted", 1, '{"at":1.0,"spec":null}', "None is no LoopSpec"),
        ("AttemptStarted", 1, '{"at":1.0,"iteration":1,"attempt":1,"purpose":"work","run_id":"r","tells":7}', "7 is no list"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_the_reason(name: str, version: int, text: str, complaint: str) -> None:
    with pytest.raises(UnknownEntry, match=complaint):
        decode(name, version, text)
    assert issubclass(UnknownEntry, LedgerError)


def test_an_old_version_is_lifted_step_by_step() -> None:
    upcasters = {
        ("WaitStarted", 1): lambda old: {**old, "why": old["reason"]},
        ("WaitStarted", 2): lambda old: {**old, "until": old["at"] + old["minutes"] * 60},
    }
    text = '{"at":10.0,"minutes":2,"reason":"usage limit"}'
    entry = decode("WaitStarted", 1, text, versions={"WaitStarted": 3}, upcasters=upcasters)
    assert entry == WaitStarted(at=10.0, until=130.0, why="usage limit")
