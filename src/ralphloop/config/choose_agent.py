"""Which agent runs, and how: the command line, else settings, else Claude Code.

`agents.NAME.*` lies under `agent.*`: the environments merge, the model and the flags of `agent` win. What settings say of *their* agent (its program,
flags, model, way of the prompt) is not given to another one that the command line names: flags of one client are fatal errors of the next.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePath
from typing import Any

from ralphloop.config.request import RunRequest
from ralphloop.config.setting import COMMAND_LINE, Origin, Setting
from ralphloop.config.values import split_command
from ralphloop.config.wording import quoted, suggestion
from ralphloop.core.model import AgentSpec, PinnedSecret
from ralphloop.errors import ConfigError

DEFAULT_AGENT = "claude"
ANY_COMMAND = "command"
NOT_IMPLIED = frozenset({ANY_COMMAND, "demo"})  # no program is taken for one of these because of its name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    type: str | None
    command: str | None


def choose_agent(request: RunRequest, settings: Mapping[str, Setting], catalogue: Collection[str]) -> tuple[AgentSpec, dict[str, str]]:
    """The agent, and the real values of its environment variables: the spec holds their digests alone."""
    _refuse_unknown_sections(settings, catalogue)
    asked = _named(_flag("--agent", request.agent), "--agent-command", _flag("--agent-command", request.agent_command), catalogue)
    own = _named(settings.get("agent.type"), "agent.command", settings.get("agent.command"), catalogue)
    name = asked.type or own.type or DEFAULT_AGENT
    same = own.type in (None, name) and (name != ANY_COMMAND or asked.command in (None, own.command))

    def pick(field: str) -> Any:
        setting = settings.get(f"agent.{field}")
        if setting is None or not (same or setting.origin.source == COMMAND_LINE):
            setting = settings.get(f"agents.{name}.{field}")
        return None if setting is None else setting.value

    always: dict[str, Any] = {field: settings[f"agent.{field}"].value for field in ("permissions", "timeout_s", "idle_timeout_s", "grace_s")}
    env = {**_variables(settings, f"agents.{name}.env."), **_variables(settings, "agent.env.")}
    spec = AgentSpec(
        type=name,
        command=asked.command or (own.command if same else None) or _program_of(name),
        flags=pick("flags") or (),
        model=pick("model"),
        prompt_via=pick("prompt_via"),
        env=tuple(PinnedSecret(name=variable, digest=sha256(env[variable].encode()).hexdigest()) for variable in sorted(env)),
        **always,
    )
    return spec, env


def _flag(flag: str, value: str | None) -> Setting | None:
    return None if value is None else Setting(value=value, origin=Origin(source=flag))


def _named(kind: Setting | None, command_name: str, command: Setting | None, catalogue: Collection[str]) -> _Named:
    if kind and kind.value not in catalogue:
        kind.origin.refuse(f"unknown agent {quoted(str(kind.value))}; {suggestion(str(kind.value), catalogue)}")
    if command is None:
        return _Named(type=str(kind.value) if kind else None, command=None)
    program = PurePath(split_command(command_name, str(command.value), command.origin)[0]).name
    implied = program if program in catalogue and program not in NOT_IMPLIED else ANY_COMMAND
    return _Named(type=str(kind.value) if kind else implied, command=str(command.value))


def _program_of(name: str) -> str:
    if name == ANY_COMMAND:
        raise ConfigError("the agent is any command, and no command is named; give --agent-command CMD, or set agent.command")
    return name


def _variables(settings: Mapping[str, Setting], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): str(setting.value) for key, setting in settings.items() if key.startswith(prefix)}


def _refuse_unknown_sections(settings: Mapping[str, Setting], catalogue: Collection[str]) -> None:
    for key, setting in settings.items():
        section, _, rest = key.partition(".")
        name = rest.partition(".")[0]
        if section == "agents" and name not in catalogue:
            setting.origin.refuse(f"{key} is for an unknown agent; {suggestion(name, catalogue)}")
