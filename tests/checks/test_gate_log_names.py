"""Gate logs have names made of the command, and no two gates of an iteration share one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralphloop.checks.log_names import gate_log_names
from ralphloop.core.model import Gate


def names(*commands: str) -> tuple[str, ...]:
    return gate_log_names([Gate(command=command) for command in commands], 3)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("./mvnw clean install -T 2C", "guardrail_3_mvnw_clean_install_T_2C.log"),
        ("make test", "guardrail_3_make_test.log"),
        ("  make   lint  ", "guardrail_3_make_lint.log"),
        ("cd 'Pfad äöü' && ls", "guardrail_3_cd_Pfad_ls.log"),
        ("../../etc/passwd", "guardrail_3_etc_passwd.log"),
        ("a" * 60, f"guardrail_3_{'a' * 50}.log"),
        (":", "guardrail_3_gate.log"),
        ("", "guardrail_3_gate.log"),
    ],
)
def test_a_log_is_named_after_its_command(command: str, name: str) -> None:
    assert names(command) == (name,)


def test_equal_slugs_are_numbered() -> None:
    assert names("make test", "make-test", "make test!") == (
        "guardrail_3_make_test.log",
        "guardrail_3_make_test_2.log",
        "guardrail_3_make_test_3.log",
    )


def test_a_number_does_not_collide_with_a_command_that_looks_like_it() -> None:
    assert names("a", "a 2", "a!") == ("guardrail_3_a.log", "guardrail_3_a_2.log", "guardrail_3_a_3.log")


def test_names_differ_by_more_than_case() -> None:
    assert names("Make", "make") == ("guardrail_3_Make.log", "guardrail_3_make_2.log")


@given(st.lists(st.text(max_size=70) | st.sampled_from(["a", "A", "a 2", "a-2", ":"]), max_size=12))
def test_every_gate_has_a_plain_name_of_its_own(commands: list[str]) -> None:
    found = names(*commands)
    assert len({name.lower() for name in found}) == len(commands)
    assert all(re.fullmatch(r"guardrail_3_[A-Za-z0-9_]+\.log", name) for name in found)
