from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from settings_project import Project

from ralphloop.core.model import AgentSpec, PinnedSecret


def agent(project: Project, settings: dict[str, Any], **asked: Any) -> AgentSpec:
    project.settings(settings)
    return project.resolve(**asked).agent


@pytest.mark.parametrize(
    ("settings", "asked", "kind", "command"),
    [
        ({}, {}, "claude", "claude"),
        ({}, {"agent": "demo"}, "demo", "demo"),
        ({}, {"agent_command": "/opt/bin/claude"}, "claude", "/opt/bin/claude"),
        ({}, {"agent_command": "/opt/bin/claude --debug"}, "claude", "/opt/bin/claude --debug"),
        ({}, {"agent_command": "'/my tools/claude' -x"}, "claude", "'/my tools/claude' -x"),
        ({}, {"agent_command": "./my-agent --claude"}, "command", "./my-agent --claude"),
        ({}, {"agent_command": "./demo"}, "command", "./demo"),
        ({}, {"agent": "claude", "agent_command": "./wrapper"}, "claude", "./wrapper"),
        ({"command": "./x"}, {}, "command", "./x"),
        ({"command": "claude"}, {"agent": "demo"}, "demo", "demo"),
        ({"command": "/opt/bin/claude"}, {"agent": "claude"}, "claude", "/opt/bin/claude"),
        ({"command": "./x"}, {"agent": "command"}, "command", "./x"),
        ({"command": "./x"}, {"agent_command": "claude"}, "claude", "claude"),
        ({"type": "claude", "command": "./x"}, {}, "claude", "./x"),
        ({"type": "demo"}, {}, "demo", "demo"),
    ],
)
def test_the_command_line_then_the_settings_then_claude(
    checklist: Project, settings: dict[str, Any], asked: dict[str, str], kind: str, command: str
) -> None:
    chosen = agent(checklist, {"agent": settings}, **asked)
    assert (chosen.type, chosen.command) == (kind, command)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"agent": "cluade"}, '--agent: unknown agent "cluade"; did you mean "claude"?'),
        ({"agent": "zzz"}, '--agent: unknown agent "zzz"; known here: claude, command and demo'),
        ({"agent": "command"}, "the agent is any command, and no command is named; give --agent-command CMD, or set agent.command"),
        ({"agent_command": " "}, "--agent-command: --agent-command is empty; name a program"),
        ({"agent_command": "x 'y"}, "--agent-command: --agent-command cannot be split as a shell would"),
    ],
)
def test_an_agent_that_cannot_run_is_told(checklist: Project, asked: dict[str, Any], message: str) -> None:
    assert checklist.complaint(**asked).startswith(message)


def test_entries_of_flags_are_split_as_a_shell_would(checklist: Project) -> None:
    assert agent(checklist, {"agent": {"flags": ["--model opus", "--say 'two words'"]}}).flags == ("--model", "opus", "--say", "two words")


def test_the_section_of_an_agent_applies_only_when_that_agent_runs(checklist: Project) -> None:
    settings = {"agents": {"claude": {"flags": ["-a"], "model": "opus", "env": {"A": "1"}}, "demo": {"flags": ["-d"]}}}
    claude, demo = agent(checklist, settings), agent(checklist, settings, agent="demo")
    assert (claude.flags, claude.model, [secret.name for secret in claude.env]) == (("-a",), "opus", ["A"])
    assert (demo.flags, demo.model, demo.env) == (("-d",), None, ())


def test_the_section_of_an_agent_lies_under_the_agent_section(checklist: Project) -> None:
    checklist.settings(
        {
            "agents": {"claude": {"flags": ["-a"], "model": "opus", "env": {"A": "1", "B": "1"}}},
            "agent": {"flags": [], "model": "haiku", "env": {"B": "2", "C": "3"}},
        }
    )
    resolved = checklist.resolve()
    assert (resolved.agent.flags, resolved.agent.model) == ((), "haiku")
    assert resolved.agent_env == {"A": "1", "B": "2", "C": "3"}


def test_flags_of_the_agent_in_the_settings_are_not_given_to_another_one(checklist: Project) -> None:
    settings = {"agent": {"command": "claude", "flags": ["--verbose"], "model": "opus", "prompt_via": "arg", "timeout_s": 5, "env": {"A": "1"}}}
    other = agent(checklist, settings, agent_command="./other")
    assert (other.flags, other.model, other.prompt_via) == ((), None, None)
    assert (other.timeout_s, [secret.name for secret in other.env]) == (5.0, ["A"])
    assert agent(checklist, settings, agent_command="./other", model="m").model == "m"
    assert agent(checklist, settings, agent_command="/opt/claude").flags == ("--verbose",)


def test_flags_without_an_agent_in_the_settings_are_given_to_any(checklist: Project) -> None:
    assert agent(checklist, {"agent": {"flags": ["-x"]}}, agent="demo").flags == ("-x",)


def test_a_secret_is_pinned_by_name_and_digest_and_its_value_is_never_recorded(checklist: Project) -> None:
    checklist.settings({"agent": {"env": {"Z": "", "API_KEY": "sk-123"}}})
    resolved = checklist.resolve()
    assert resolved.agent.env == (
        PinnedSecret(name="API_KEY", digest=sha256(b"sk-123").hexdigest()),
        PinnedSecret(name="Z", digest=sha256(b"").hexdigest()),
    )
    assert resolved.agent_env == {"API_KEY": "sk-123", "Z": ""}
    assert "sk-123" not in repr(resolved)


def test_everything_else_about_the_agent_comes_from_the_settings(checklist: Project) -> None:
    settings = {"permissions": "ask", "prompt_via": "file", "timeout_s": 1, "idle_timeout_s": 2, "grace_s": 3}
    assert agent(checklist, {"agent": settings}) == AgentSpec(
        type="claude", command="claude", permissions="ask", prompt_via="file", timeout_s=1.0, idle_timeout_s=2.0, grace_s=3.0
    )
