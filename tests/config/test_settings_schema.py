from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import pytest

from ralphloop.config.resolve import Dress
from ralphloop.config.schema import GATE_KEYS, PRICE_KEYS, SCHEMA
from ralphloop.config.spellings import GATE_SPELLINGS, SPELLINGS, VARIABLES
from ralphloop.core.model import AgentSpec, Completion, Gate, Limits, Output, Price, Scm, WorkSpec

PER_KIND = {"limits.iterations", "limits.calls"}


@pytest.mark.parametrize(
    ("section", "model", "others"),
    [
        ("agent", AgentSpec, {"name", "speaks"}),
        ("completion", Completion, {}),
        ("limits", Limits, {}),
        ("output", Output, {"color", "emoji", "timestamps", "max_lines", "max_chars"}),
        ("scm", Scm, {}),
        ("work", WorkSpec, {}),
    ],
)
def test_a_section_has_the_fields_and_the_defaults_of_its_model(section: str, model: Any, others: set[str]) -> None:
    defaults = {field.name: field.default for field in fields(model) if field.name != "prompt_text"}
    keys = {name.removeprefix(f"{section}."): key for name, key in SCHEMA.items() if name.startswith(f"{section}.")}
    assert keys.keys() - others == defaults.keys() - others
    for name, key in keys.items():
        if name not in others and f"{section}.{name}" not in PER_KIND and defaults[name] not in (MISSING, ()):
            assert key.default == defaults[name]


def test_a_gate_has_the_fields_of_its_model() -> None:
    assert GATE_KEYS.keys() == {field.name for field in fields(Gate)}


def test_a_price_has_the_fields_of_its_model() -> None:
    assert PRICE_KEYS.keys() == {"model", *(field.name for field in fields(Price))}


def test_the_console_has_the_defaults_of_its_model() -> None:
    for field in fields(Dress):
        assert SCHEMA[f"output.{field.name}"].default == field.default


def test_every_spelling_means_a_key_of_the_schema_and_is_none_itself() -> None:
    for spelling, meant in [*SPELLINGS.items(), *VARIABLES.items()]:
        assert meant.replace("agents.claude.", "agents.*.") in SCHEMA
        assert spelling not in SCHEMA
    assert set(GATE_SPELLINGS.values()) < GATE_KEYS.keys()


def test_every_key_says_what_it_is_for() -> None:
    assert all(key.help for key in [*SCHEMA.values(), *GATE_KEYS.values()])
