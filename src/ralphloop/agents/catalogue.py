"""Every agent that Ralph knows, by name. A module is imported when its agent is asked for: a loop has one, and memory is counted."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from ralphloop.core.ports import Adapter
from ralphloop.errors import ConfigError

CATALOGUE: dict[str, str] = {
    "claude": "ralphloop.agents.claude",
    "codex": "ralphloop.agents.codex",
    "amp": "ralphloop.agents.amp",
    "opencode": "ralphloop.agents.opencode",
    "gemini": "ralphloop.agents.gemini",
    "copilot": "ralphloop.agents.copilot",
    "qwen": "ralphloop.agents.qwen",
    "command": "ralphloop.agents.command",
    "demo": "ralphloop.agents.demo",
}
"""Our own. A test proves that each module is an Adapter of that name."""

ENTRY_POINTS = "ralphloop.agents"
"""The entry points by which other packages add agents: a name, and a module or object that is an Adapter."""


def adapter(name: str) -> Adapter:
    """The adapter of that name; ConfigError where there is none."""
    if name in CATALOGUE:
        return cast("Adapter", import_module(CATALOGUE[name]))
    return _from_elsewhere(name)


def others() -> tuple[str, ...]:
    """The agents that other packages add; asked for where a name is not ours, because it takes long."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - it reads every installed package's metadata

    return tuple(sorted({point.name for point in entry_points(group=ENTRY_POINTS)} - CATALOGUE.keys()))


def _from_elsewhere(name: str) -> Adapter:
    from importlib.metadata import entry_points  # noqa: PLC0415

    points = tuple(entry_points(group=ENTRY_POINTS, name=name))
    if not points:
        raise ConfigError(f"there is no agent {name!r}: agent.type is one of {', '.join(sorted((*CATALOGUE, *others())))}")
    try:
        found = points[0].load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # one that ends the program when it is imported must not end this one
        raise ConfigError(f"the agent {name} of {points[0].value} cannot be loaded: {error!r}; repair or remove that package") from error
    missing = [part for part in ("NAME", "MINIMUM", "invocation", "streams", "parser", "access") if not hasattr(found, part)]
    if missing:
        raise ConfigError(f"the agent {name} of {points[0].value} is no adapter: it lacks {', '.join(missing)}; repair or remove that package")
    return cast("Adapter", found)
