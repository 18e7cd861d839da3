"""Every agent that Ralph knows, by name."""

from __future__ import annotations

from ralphloop.agents import claude, command, demo
from ralphloop.core.ports import Adapter
from ralphloop.errors import ConfigError

CATALOGUE: dict[str, Adapter] = {adapter.NAME: adapter for adapter in (claude, command, demo)}


def adapter(name: str) -> Adapter:
    """The adapter of that name; ConfigError where there is none."""
    try:
        return CATALOGUE[name]
    except KeyError:
        raise ConfigError(f"there is no agent of type {name!r}: agent.type is one of {', '.join(sorted(CATALOGUE))}") from None
