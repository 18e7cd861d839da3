"""How each agent is started: the right flags, none twice, and the prompt where it belongs, byte for byte."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ralphloop.agents import claude, command, demo
from ralphloop.agents.catalogue import CATALOGUE, adapter
from ralphloop.core.model import AgentSpec
from ralphloop.core.ports import Adapter
from ralphloop.errors import ConfigError

PROMPT = '- [ ] do it\n`$(rm -rf /)` "quoted" {prompt_file} é'
PROMPT_FILE = Path("/state/prompt.md")
STREAM = ("--output-format", "stream-json", "--verbose")
SKIP = ("--dangerously-skip-permissions",)


def argv_of(agent: Adapter, command: str, **spec: Any) -> tuple[str, ...]:
    return agent.invocation(AgentSpec(type=agent.NAME, command=command, **spec), PROMPT, PROMPT_FILE).argv


def stdin_of(agent: Adapter, command: str, **spec: Any) -> bytes | None:
    return agent.invocation(AgentSpec(type=agent.NAME, command=command, **spec), PROMPT, PROMPT_FILE).stdin


def test_claude_is_asked_for_a_stream_and_gets_its_prompt_on_standard_input() -> None:
    assert argv_of(claude, "claude") == ("claude", "-p", *STREAM, *SKIP)
    assert stdin_of(claude, "claude") == PROMPT.encode()


@pytest.mark.parametrize(
    ("permissions", "flags"), [("skip", SKIP), ("edits", ("--permission-mode", "acceptEdits")), ("ask", ())], ids=["skip", "edits", "ask"]
)
def test_permissions_are_translated_for_claude(permissions: str, flags: tuple[str, ...]) -> None:
    assert argv_of(claude, "claude", permissions=permissions) == ("claude", "-p", *STREAM, *flags)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--model", "opus"), ("-p", *STREAM, *SKIP, "--model", "opus")),
        (("--model=opus",), ("-p", *STREAM, *SKIP, "--model=opus")),
        (("--print",), (*STREAM, "--model", "haiku", *SKIP, "--print")),
        (("-p", "--verbose"), ("--output-format", "stream-json", "--model", "haiku", *SKIP, "-p", "--verbose")),
        (("--output-format=stream-json",), ("-p", "--verbose", "--model", "haiku", *SKIP, "--output-format=stream-json")),
        (SKIP, ("-p", *STREAM, "--model", "haiku", *SKIP)),
        (("--permission-mode=plan",), ("-p", *STREAM, "--model", "haiku", "--permission-mode=plan")),
        (("--modelling",), ("-p", *STREAM, "--model", "haiku", *SKIP, "--modelling")),
    ],
)
def test_a_flag_that_the_user_gave_is_not_added_again(flags: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert argv_of(claude, "claude", model="haiku", flags=flags) == ("claude", *expected)


def test_flags_in_the_command_count_as_given() -> None:
    assert argv_of(claude, "'/opt/my tools/claude' --model opus", model="haiku") == ("/opt/my tools/claude", "--model", "opus", "-p", *STREAM, *SKIP)


def test_a_prompt_as_argument_comes_last_and_cannot_be_taken_for_a_flag() -> None:
    argv = argv_of(claude, "claude", prompt_via="arg", flags=("--allowedTools", "Bash"))
    assert argv[-4:] == ("--allowedTools", "Bash", "--", PROMPT)
    assert stdin_of(claude, "claude", prompt_via="arg") is None


def test_claude_can_be_sent_to_the_prompt_file() -> None:
    assert argv_of(claude, "claude", prompt_via="file")[-2:] == ("--", "Read /state/prompt.md and do what it says.")
    assert stdin_of(claude, "claude", prompt_via="file") is None


def test_any_command_gets_its_prompt_on_standard_input() -> None:
    assert argv_of(command, "mycli run", flags=("--fast",)) == ("mycli", "run", "--fast")
    assert stdin_of(command, "mycli run") == PROMPT.encode()


def test_a_placeholder_is_replaced_where_it_stands_and_only_once() -> None:
    argv = argv_of(command, "mycli --ask '{prompt}'", flags=("--file={prompt_file}", "-x"))
    assert argv == ("mycli", "--ask", PROMPT, "--file=/state/prompt.md", "-x")
    assert stdin_of(command, "mycli {prompt_file}") is None


def test_the_prompt_can_be_the_last_argument_or_the_path_of_a_file() -> None:
    assert argv_of(command, "mycli", prompt_via="arg", flags=("-x",)) == ("mycli", "-x", PROMPT)
    assert argv_of(command, "mycli", prompt_via="file", flags=("-x",)) == ("mycli", "-x", "/state/prompt.md")
    assert stdin_of(command, "mycli", prompt_via="file") is None


def test_no_shell_ever_sees_the_command() -> None:
    assert argv_of(command, "mycli '$HOME' ; ls > out") == ("mycli", "$HOME", ";", "ls", ">", "out")


@pytest.mark.parametrize("agent", [claude, command], ids=["claude", "command"])
@pytest.mark.parametrize("written", ["mycli 'open", "", "   "])
def test_a_command_that_cannot_be_split_is_the_settings_fault(agent: Adapter, written: str) -> None:
    with pytest.raises(ConfigError, match=r"agent\.command"):
        argv_of(agent, written)


def test_the_demo_agent_runs_under_this_python_and_not_under_modules_of_the_workspace() -> None:
    assert argv_of(demo, "demo", flags=("--script", "lie")) == (sys.executable, "-P", "-m", "ralphloop.agents.demo_script", "--script", "lie")
    assert stdin_of(demo, "demo") == PROMPT.encode()


def test_the_catalogue_knows_every_agent_by_its_name() -> None:
    assert {name: known.NAME for name, known in CATALOGUE.items()} == {"claude": "claude", "command": "command", "demo": "demo"}
    assert adapter("claude") is CATALOGUE["claude"]


def test_an_unknown_agent_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'cursor'.*claude, command, demo"):
        adapter("cursor")
