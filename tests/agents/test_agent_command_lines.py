"""How each agent is started: the right flags, none twice, and the prompt where it belongs, byte for byte."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ralphloop.agents import amp, claude, codex, command, copilot, demo, gemini, opencode, qwen
from ralphloop.agents.catalogue import CATALOGUE, adapter
from ralphloop.config.schema import STREAMS
from ralphloop.core.model import AgentSpec
from ralphloop.core.ports import Adapter, Order
from ralphloop.errors import ConfigError, WorkError

PROMPT = '- [ ] do it\n`$(rm -rf /)` "quoted" {prompt_file} é'
PROMPT_FILE = Path("/state/prompt.md")
ORDER = Order(prompt=PROMPT, prompt_file=PROMPT_FILE)
STREAM = ("--output-format", "stream-json", "--verbose")
SKIP = ("--dangerously-skip-permissions",)


def argv_of(agent: Adapter, command: str, **spec: Any) -> tuple[str, ...]:
    return agent.invocation(AgentSpec(type=agent.NAME, command=command, **spec), ORDER).argv


def stdin_of(agent: Adapter, command: str, **spec: Any) -> bytes | None:
    return agent.invocation(AgentSpec(type=agent.NAME, command=command, **spec), ORDER).stdin


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


def order_of(size: int) -> Order:
    return Order(prompt="é" * (size // 2), prompt_file=PROMPT_FILE)


LONGEST = 128 * 1024 - 1


@pytest.mark.parametrize("agent", [claude, codex], ids=["claude", "codex"])
def test_a_prompt_too_long_for_an_argument_is_pointed_to(agent: Adapter) -> None:
    spec = AgentSpec(type=agent.NAME, command=agent.NAME, prompt_via="arg")
    assert agent.invocation(spec, order_of(LONGEST - 1)).argv[-1] == "é" * (LONGEST // 2)
    assert agent.invocation(spec, order_of(LONGEST + 1)).argv[-1] == "Read /state/prompt.md and do what it says."


@pytest.mark.parametrize("written", ["mycli --ask {prompt}", "mycli"])
def test_a_prompt_that_a_command_cannot_take_as_an_argument_is_refused_with_the_way_out(written: str) -> None:
    spec = AgentSpec(type="command", command=written, prompt_via="arg")
    with pytest.raises(WorkError, match=r"131072 bytes.*standard input, or with \{prompt_file\}"):
        command.invocation(spec, order_of(LONGEST + 1))


def test_what_an_attempt_may_cost_is_handed_to_claude() -> None:
    spec = AgentSpec(type="claude", command="claude")
    assert claude.invocation(spec, replace(ORDER, budget_usd=1.239)).argv[-3:] == ("--max-budget-usd", "1.24", *SKIP)
    assert "0.01" in claude.invocation(spec, replace(ORDER, budget_usd=0.0001)).argv
    own = replace(spec, flags=("--max-budget-usd", "9"))
    assert "1.24" not in claude.invocation(own, replace(ORDER, budget_usd=1.239)).argv


def test_text_is_asked_for_where_the_settings_say_so() -> None:
    assert argv_of(claude, "claude", format="text") == ("claude", "-p", "--output-format", "text", *SKIP)
    assert "--json" not in argv_of(codex, "codex", format="text")
    assert not claude.streams(AgentSpec(type="claude", command="claude", format="text"))


CODEX = ("exec", "--json", "--skip-git-repo-check")
ANYTHING = "--dangerously-bypass-approvals-and-sandbox"


@pytest.mark.parametrize(
    ("written", "spec", "expected"),
    [
        ("codex", {}, ("codex", *CODEX, ANYTHING, "-")),
        ("codex", {"permissions": "edits"}, ("codex", *CODEX, "--sandbox", "workspace-write", "-")),
        ("codex", {"permissions": "ask"}, ("codex", *CODEX, "-")),
        ("codex", {"model": "gpt-5.5-codex"}, ("codex", *CODEX, "--model", "gpt-5.5-codex", ANYTHING, "-")),
        ("codex", {"flags": ("-m", "o9", "--sandbox=read-only")}, ("codex", *CODEX, "-m", "o9", "--sandbox=read-only", "-")),
        ("codex -c a=b exec", {}, ("codex", "-c", "a=b", "exec", "--json", "--skip-git-repo-check", ANYTHING, "-")),
        ("codex e", {"flags": ("--json",)}, ("codex", "e", "--skip-git-repo-check", ANYTHING, "--json", "-")),
    ],
)
def test_codex_is_started_with_its_prompt_on_standard_input(written: str, spec: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert argv_of(codex, written, **{"model": None} | spec) == expected
    assert stdin_of(codex, written, **spec) == PROMPT.encode()


def test_a_model_is_put_where_a_command_names_it() -> None:
    assert argv_of(command, "mycli --model={model}", model="tiny") == ("mycli", "--model=tiny")
    with pytest.raises(ConfigError, match=r"names \{model\}, and no model is set"):
        argv_of(command, "mycli --model={model}")


@pytest.mark.parametrize("permissions", ["edits", "ask"])
def test_nobody_is_told_that_a_command_is_confined_when_it_is_not(permissions: str) -> None:
    with pytest.raises(ConfigError, match=rf"agent.permissions is {permissions}.*put its own flags into its command"):
        argv_of(command, "mycli", permissions=permissions)


@pytest.mark.parametrize("known", sorted(CATALOGUE))
def test_a_mode_that_a_client_does_not_have_is_refused_and_never_replaced(known: str) -> None:
    """Each choice gives another command line or environment, or is refused."""
    made = []
    for permissions in ("skip", "edits", "ask"):
        with suppress(ConfigError):
            found = adapter(known).invocation(AgentSpec(type=known, command=known, permissions=permissions), ORDER)
            made.append((found.argv, tuple(found.env.items())))
    assert len(set(made)) == len(made) or known == "demo"


def test_the_catalogue_knows_every_agent_by_its_name() -> None:
    known: dict[str, Adapter] = {
        "claude": claude,
        "codex": codex,
        "amp": amp,
        "opencode": opencode,
        "gemini": gemini,
        "copilot": copilot,
        "qwen": qwen,
        "command": command,
        "demo": demo,
    }
    assert {name: adapter(name) for name in CATALOGUE} == known
    assert {name: each.NAME for name, each in known.items()} == {name: name for name in known}


def test_an_agent_of_ones_own_may_speak_as_every_client_that_has_a_stream() -> None:
    assert set(STREAMS) == {"text", *CATALOGUE} - {"command", "demo"}


def test_an_unknown_agent_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'cursor'.*claude, codex, command"):
        adapter("cursor")


@pytest.mark.parametrize("known", sorted(CATALOGUE))
def test_settings_are_checked_before_there_is_a_prompt_or_a_place_for_it(known: str) -> None:
    spec = AgentSpec(type=known, command=known)
    assert adapter(known).invocation(spec, Order(prompt="", prompt_file=Path())).argv


OPENCODE_LOG = ("--print-logs", "--log-level", "ERROR")
OPENCODE_STREAM = ("--format", "json", *OPENCODE_LOG, "--title", "ralph")


@pytest.mark.parametrize(
    ("written", "spec", "expected"),
    [
        ("opencode", {}, ("opencode", "run", *OPENCODE_STREAM, "--auto")),
        ("opencode", {"permissions": "edits"}, ("opencode", "run", *OPENCODE_STREAM, "--auto")),
        ("opencode", {"permissions": "ask"}, ("opencode", "run", *OPENCODE_STREAM)),
        ("opencode", {"format": "text"}, ("opencode", "run", *OPENCODE_LOG, "--title", "ralph", "--auto")),
        ("opencode", {"model": "a/b"}, ("opencode", "run", *OPENCODE_STREAM, "--model", "a/b", "--auto")),
        ("opencode", {"model": "a/b", "flags": ("-m", "c/d")}, ("opencode", "run", *OPENCODE_STREAM, "--auto", "-m", "c/d")),
        ("opencode", {"model": "a/b", "flags": ("--model=c/d",)}, ("opencode", "run", *OPENCODE_STREAM, "--auto", "--model=c/d")),
        ("opencode", {"flags": ("--yolo",)}, ("opencode", "run", *OPENCODE_STREAM, "--yolo")),
        ("opencode", {"flags": ("--auto", "--title=x")}, ("opencode", "run", *OPENCODE_STREAM[:-2], "--auto", "--title=x")),
        ("opencode", {"flags": ("--format=json",)}, ("opencode", "run", *OPENCODE_STREAM[2:], "--auto", "--format=json")),
        ("opencode --pure run", {"flags": ("--log-level=DEBUG",)}, ("--print-logs", "--title", "ralph", "--auto", "--log-level=DEBUG")),
    ],
)
def test_opencode_gets_no_flag_twice_and_its_prompt_on_standard_input(written: str, spec: dict[str, Any], expected: tuple[str, ...]) -> None:
    """A second `--format json` would silently give text, a second model an exception (seen in 1.18.33)."""
    argv = argv_of(opencode, written, **spec)
    assert argv[-len(expected) :] == expected
    assert len([word for word in argv if word.startswith("-")]) == len({word.partition("=")[0] for word in argv if word.startswith("-")})
    assert stdin_of(opencode, written, **spec) == PROMPT.encode()


def test_a_prompt_as_argument_is_refused_where_opencode_would_change_it() -> None:
    with pytest.raises(ConfigError, match=r"agent\.prompt_via is arg.*take stdin or file"):
        argv_of(opencode, "opencode", prompt_via="arg")
    assert argv_of(opencode, "opencode", prompt_via="file", flags=("-x",))[-3:] == ("-x", "--", "Read /state/prompt.md and do what it says.")
    assert stdin_of(opencode, "opencode", prompt_via="file") is None


@pytest.mark.parametrize("permissions", ["skip", "edits", "ask"])
def test_only_edits_takes_the_shell_away_from_opencode(permissions: str) -> None:
    env = opencode.invocation(AgentSpec(type="opencode", command="opencode", permissions=permissions), ORDER).env
    assert env["OPENCODE_DISABLE_AUTOUPDATE"] == "1"
    assert env.get("OPENCODE_PERMISSION") == ('{"bash":"deny"}' if permissions == "edits" else None)


COPILOT_STREAM = ("--output-format", "json", "--usage-output-file", "/state/usage.json", "--no-ask-user")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, (*COPILOT_STREAM, "--allow-all")),
        ({"permissions": "edits"}, (*COPILOT_STREAM, "--allow-tool", "write", "--deny-tool", "shell")),
        ({"permissions": "ask"}, COPILOT_STREAM),
        ({"format": "text"}, ("-s", "--no-ask-user", "--allow-all")),
        ({"format": "text", "flags": ("--silent",)}, ("--no-ask-user", "--allow-all", "--silent")),
        ({"model": "gpt-5"}, (*COPILOT_STREAM, "--model", "gpt-5", "--allow-all")),
        ({"model": "gpt-5", "flags": ("--model=auto",)}, (*COPILOT_STREAM, "--allow-all", "--model=auto")),
        ({"flags": ("--yolo",)}, (*COPILOT_STREAM, "--yolo")),
        ({"flags": ("--allow-all-tools",)}, (*COPILOT_STREAM, "--allow-all-tools")),
        ({"flags": ("--deny-tool", "shell(git:*)")}, (*COPILOT_STREAM, "--allow-all", "--deny-tool", "shell(git:*)")),
        ({"flags": ("--usage-output-file=u", "--no-ask-user")}, ("--output-format", "json", "--allow-all", "--usage-output-file=u", "--no-ask-user")),
    ],
)
def test_copilot_gets_no_flag_twice_and_its_prompt_on_standard_input(spec: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert argv_of(copilot, "copilot", **spec) == ("copilot", *expected)
    assert stdin_of(copilot, "copilot", **spec) == PROMPT.encode()


def test_a_prompt_as_argument_is_joined_to_its_flag_because_copilot_takes_a_leading_dash_for_a_flag() -> None:
    """Seen in 1.0.102: `-p "- [ ] x"` is refused."""
    assert argv_of(copilot, "copilot", prompt_via="arg", flags=("--yolo",))[-2:] == ("--yolo", f"--prompt={PROMPT}")
    assert argv_of(copilot, "copilot", prompt_via="file")[-1] == "--prompt=Read /state/prompt.md and do what it says."
    assert stdin_of(copilot, "copilot", prompt_via="arg") is stdin_of(copilot, "copilot", prompt_via="file") is None
    spec = AgentSpec(type="copilot", command="copilot", prompt_via="arg")
    assert len(copilot.invocation(spec, order_of(LONGEST + 1)).argv[-1]) < LONGEST


def test_copilot_neither_updates_itself_nor_waits_for_ever_for_a_shell_in_the_background() -> None:
    env = copilot.invocation(AgentSpec(type="copilot", command="copilot"), ORDER).env
    assert env["COPILOT_AUTO_UPDATE"] == "false"
    assert int(env["COPILOT_TASK_WAIT_TIMEOUT_SECONDS"]) > 0


JSON_STREAM = ("--output-format", "stream-json")
YOLO = ("--approval-mode", "yolo")


@pytest.mark.parametrize("agent", [gemini, qwen], ids=["gemini", "qwen"])
@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, (*JSON_STREAM, *YOLO)),
        ({"permissions": "ask"}, JSON_STREAM),
        ({"model": "m"}, (*JSON_STREAM, "--model", "m", *YOLO)),
        ({"model": "m", "flags": ("-m", "n")}, (*JSON_STREAM, *YOLO, "-m", "n")),
        ({"model": "m", "flags": ("--model=n",)}, (*JSON_STREAM, *YOLO, "--model=n")),
        ({"flags": ("--yolo",)}, (*JSON_STREAM, "--yolo")),
        ({"flags": ("-y",)}, (*JSON_STREAM, "-y")),
        ({"permissions": "edits", "flags": ("--approval-mode=plan",)}, (*JSON_STREAM, "--approval-mode=plan")),
        ({"flags": ("-o", "stream-json")}, (*YOLO, "-o", "stream-json")),
        ({"format": "text"}, ("--output-format", "text", *YOLO)),
        ({"format": "text", "flags": ("-o", "text")}, (*YOLO, "-o", "text")),
    ],
)
def test_gemini_and_qwen_get_no_flag_twice_and_their_prompt_on_standard_input(
    agent: Adapter, spec: dict[str, Any], expected: tuple[str, ...]
) -> None:
    """Seen in 0.61.0 and 0.15.10: `--yolo` beside `--approval-mode` is refused, and two models make Qwen Code crash."""
    assert argv_of(agent, agent.NAME, **spec) == (agent.NAME, *expected)
    assert stdin_of(agent, agent.NAME, **spec) == PROMPT.encode()


def test_edits_alone_are_spelled_with_an_underscore_by_gemini_and_with_a_hyphen_by_qwen() -> None:
    assert argv_of(gemini, "gemini", permissions="edits") == ("gemini", *JSON_STREAM, "--approval-mode", "auto_edit")
    assert argv_of(qwen, "qwen", permissions="edits") == ("qwen", *JSON_STREAM, "--approval-mode", "auto-edit")


AMP = ("--stream-json", "--dangerously-allow-all")


@pytest.mark.parametrize(
    ("written", "spec", "expected"),
    [
        ("amp", {}, ("amp", *AMP, "-x")),
        ("amp", {"permissions": "ask"}, ("amp", "--stream-json", "-x")),
        ("amp", {"model": "high"}, ("amp", "--stream-json", "--mode", "high", "--dangerously-allow-all", "-x")),
        ("amp", {"model": "high", "flags": ("-m", "low")}, ("amp", *AMP, "-m", "low", "-x")),
        ("amp", {"flags": ("--stream-json-thinking",)}, ("amp", "--dangerously-allow-all", "--stream-json-thinking", "-x")),
        ("amp", {"flags": ("--no-ide", "--dangerously-allow-all")}, ("amp", "--stream-json", "--no-ide", "--dangerously-allow-all", "-x")),
        ("amp", {"format": "text"}, ("amp", "--dangerously-allow-all", "-x")),
        ("amp -x", {}, ("amp", "-x", *AMP)),
        ("amp", {"flags": ("--execute",)}, ("amp", *AMP, "--execute")),
    ],
)
def test_amp_gets_its_execute_flag_once_and_last_and_its_prompt_on_standard_input(
    written: str, spec: dict[str, Any], expected: tuple[str, ...]
) -> None:
    assert argv_of(amp, written, **spec) == expected
    assert stdin_of(amp, written, **spec) == PROMPT.encode()


def test_amp_cannot_be_held_to_edits_and_says_what_it_can() -> None:
    with pytest.raises(ConfigError, match=r"agent\.permissions is edits, and amp has no such mode; it has skip and ask"):
        argv_of(amp, "amp", permissions="edits")


@pytest.mark.parametrize(("agent", "flag"), [(gemini, "--prompt="), (qwen, "--prompt="), (amp, "--execute=")], ids=["gemini", "qwen", "amp"])
def test_a_prompt_as_argument_is_joined_to_its_flag_so_that_it_may_begin_with_a_dash(agent: Adapter, flag: str) -> None:
    """Seen in gemini 0.61.0, qwen 0.15.10 and amp of 2026-09: as a word of its own, `- [ ] x` is refused."""
    assert argv_of(agent, agent.NAME, prompt_via="arg", flags=("--debug",))[-2:] == ("--debug", f"{flag}{PROMPT}")
    assert argv_of(agent, agent.NAME, prompt_via="file")[-1] == f"{flag}Read /state/prompt.md and do what it says."
    assert stdin_of(agent, agent.NAME, prompt_via="arg") is stdin_of(agent, agent.NAME, prompt_via="file") is None
    spec = AgentSpec(type=agent.NAME, command=agent.NAME, prompt_via="arg")
    assert agent.invocation(spec, order_of(LONGEST + 1)).argv[-1] == f"{flag}Read /state/prompt.md and do what it says."
    assert len(agent.invocation(spec, order_of(LONGEST - len(flag))).argv[-1].encode()) <= LONGEST


@pytest.mark.parametrize("format_", ["stream", "text"])
def test_gemini_and_qwen_are_one_process_each_which_takes_a_signal(format_: str) -> None:
    """Seen in 0.61.0 and 0.15.10: they start themselves again, and a signal to the first does not reach the second."""
    assert gemini.invocation(AgentSpec(type="gemini", command="gemini", format=format_), ORDER).env["GEMINI_CLI_NO_RELAUNCH"] == "true"
    assert qwen.invocation(AgentSpec(type="qwen", command="qwen", format=format_), ORDER).env["QWEN_CODE_NO_RELAUNCH"] == "true"


def test_gemini_trusts_the_workspace_without_a_flag_that_older_ones_refuse() -> None:
    """Seen: `--skip-trust` is not known to 0.38."""
    found = gemini.invocation(AgentSpec(type="gemini", command="gemini"), ORDER)
    assert found.env["GEMINI_CLI_TRUST_WORKSPACE"] == "true"
    assert "--skip-trust" not in found.argv


@pytest.mark.parametrize("agent", [gemini, qwen, amp], ids=["gemini", "qwen", "amp"])
def test_an_idle_deadline_holds_for_a_stream_and_not_for_text(agent: Adapter) -> None:
    assert agent.streams(AgentSpec(type=agent.NAME, command=agent.NAME))
    assert not agent.streams(AgentSpec(type=agent.NAME, command=agent.NAME, format="text"))
