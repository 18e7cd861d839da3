"""Every entry that was ever released can be read for ever."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import ledger_samples as sample
import pytest

from ralphloop.ledger.codec import TYPES, VERSIONS, decode, encode

FILES = sorted(sample.GOLDEN.glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_golden_file_is_read_and_nothing_that_stands_in_it_is_lost(file: Path) -> None:
    name, version = file.name.removesuffix(".json").split(".v")
    text = file.read_text()
    entry = decode(name, int(version), text)
    if int(version) == VERSIONS[name]:
        assert_within(json.loads(text), json.loads(encode(entry)[2]), name)


def assert_within(old: Any, new: Any, where: str) -> None:
    """Everything that the old value says, the new one says too: a field that was renamed would be ignored in silence."""
    if isinstance(old, dict):
        for key, value in old.items():
            assert key in new, f"{where}.{key} is not read any more: give {where} a new version and an upcaster"
            assert_within(value, new[key], f"{where}.{key}")
    elif isinstance(old, list):
        assert len(old) == len(new), where
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            assert_within(one, other, f"{where}[{number}]")
    else:
        assert (type(old), old) == (type(new), new), where


@pytest.mark.parametrize("name", TYPES)
def test_every_version_of_every_type_has_a_golden_file(name: str) -> None:
    expected = {f"{name}.v{version}.json" for version in range(1, VERSIONS[name] + 1)}
    assert {file.name for file in FILES if file.name.startswith(f"{name}.v")} == expected


@pytest.mark.parametrize("name", TYPES)
def test_the_golden_file_of_the_present_version_shows_every_field(name: str) -> None:
    values = json.loads((sample.GOLDEN / f"{name}.v{VERSIONS[name]}.json").read_text())
    assert values.keys() == {field.name for field in fields(TYPES[name])}
