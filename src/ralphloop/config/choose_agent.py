"""Which agent runs, and how: the command line, else settings, else Claude Code.

`agents.NAME.*` lies under `agent.*`: the environments merge, the model and the flags of `agent` win. What settings say of *their* agent (its program,
flags, model, way of the prompt) is not given to another one that the command line names: flags of one client are fatal errors of the next.
A name that is no known agent's becomes one by `agents.NAME.command`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
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
TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    name: str | None
    command: str | None


Others = Callable[[], Collection[str]]
"""Names of agents that are looked for last, because that takes long."""


def choose_agent(
    request: RunRequest, settings: Mapping[str, Setting], catalogue: Collection[str], others: Others = tuple
) -> tuple[AgentSpec, dict[str, str]]:
    """The agent, and the real values of its environment variables: the spec holds their digests alone."""
    of_settings = own_agents(settings, catalogue, others)
    names = _Names(catalogue, others, of_settings)
    asked = _named(_flag("--agent", request.agent), "--agent-command", _flag("--agent-command", request.agent_command), names)
    own = _named(settings.get("agent.type"), "agent.command", settings.get("agent.command"), names)
    name = asked.name or own.name or DEFAULT_AGENT
    same = own.name in (None, name) and (name != ANY_COMMAND or asked.command in (None, own.command))

    def pick(field: str) -> Any:
        setting = settings.get(f"agent.{field}")
        if setting is None or not (same or setting.origin.source == COMMAND_LINE):
            setting = settings.get(f"agents.{name}.{field}")
        return None if setting is None else setting.value

    always: dict[str, Any] = {field: settings[f"agent.{field}"].value for field in _ALWAYS}
    env = variables_of(name, settings)
    of_its_own = name in of_settings
    spec = AgentSpec(
        type=ANY_COMMAND if of_its_own else name,
        name=name if of_its_own else "",
        speaks=str(settings[f"agents.{name}.speaks"].value) if f"agents.{name}.speaks" in settings else TEXT,
        command=asked.command or (own.command if same else None) or _program_of(name, settings),
        flags=pick("flags") or (),
        model=pick("model"),
        prompt_via=pick("prompt_via"),
        env=tuple(PinnedSecret(name=variable, digest=sha256(env[variable].encode()).hexdigest()) for variable in sorted(env)),
        **always,
    )
    return spec, env


_ALWAYS = ("format", "permissions", "timeout_s", "idle_timeout_s", "grace_s")


@dataclass(frozen=True, slots=True)
class _Names:
    """Every name that an agent can be called by."""

    catalogue: Collection[str]
    others: Others
    own: frozenset[str]

    def check(self, setting: Setting) -> str:
        name = str(setting.value)
        if name not in self.own and name not in self.catalogue and name not in self.others():
            every = {*self.catalogue, *self.others(), *self.own}
            setting.origin.refuse(f"unknown agent {quoted(name)}; {suggestion(name, every)}; agents.{name}.command would make it one")
        return name

    def implied_by(self, program: str) -> str:
        """A program is its agent's; those that other packages add imply nothing."""
        return program if program in self.own or (program in self.catalogue and program not in NOT_IMPLIED) else ANY_COMMAND


def own_agents(settings: Mapping[str, Setting], catalogue: Collection[str], others: Others) -> frozenset[str]:
    """The agents that settings alone make, by `agents.NAME.command`."""
    parts = [(key.split(".", 2), setting) for key, setting in settings.items() if key.startswith("agents.")]
    strange = {name for (_, name, _), _ in parts if name not in catalogue}
    strange -= set(others()) if strange else set()
    made = {name for (_, name, field), _ in parts if field == "command" and name in strange}
    for (_, name, field), setting in parts:
        if name in strange - made:
            every = {*catalogue, *others()}
            setting.origin.refuse(
                f"agents.{name}.{field} is for an unknown agent; {suggestion(name, every)}; agents.{name}.command would make it one"
            )
        if field == "speaks" and name not in made:
            setting.origin.refuse(f"agents.{name}.speaks is for an agent of your own, and {name} is known; take it away")
    return frozenset(made)


def _flag(flag: str, value: str | None) -> Setting | None:
    return None if value is None else Setting(value=value, origin=Origin(source=flag))


def _named(kind: Setting | None, command_name: str, command: Setting | None, names: _Names) -> _Named:
    name = names.check(kind) if kind else None
    if command is None:
        return _Named(name=name, command=None)
    program = PurePath(split_command(command_name, str(command.value), command.origin)[0]).name
    return _Named(name=name or names.implied_by(program), command=str(command.value))


def _program_of(name: str, settings: Mapping[str, Setting]) -> str:
    program = settings.get(f"agents.{name}.command")
    if program is not None:
        split_command(f"agents.{name}.command", str(program.value), program.origin)
        return str(program.value)
    if name == ANY_COMMAND:
        raise ConfigError("the agent is any command, and no command is named; give --agent-command CMD, or set agent.command")
    return name


def variables_of(name: str, settings: Mapping[str, Setting]) -> dict[str, str]:
    """The environment variables of that agent, with their real values."""
    return {**_variables(settings, f"agents.{name}.env."), **_variables(settings, "agent.env.")}


def _variables(settings: Mapping[str, Setting], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): str(setting.value) for key, setting in settings.items() if key.startswith(prefix)}
