"""What every adapter does with the command and the flags that a user gave."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from ralphloop.errors import ConfigError


def split_command(command: str) -> tuple[str, ...]:
    """The command as an argument list, split as a shell would; no shell runs it."""
    try:
        parts = tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(f"agent.command `{command}` cannot be split into arguments: {error}; close the quotation mark or escape it") from error
    if not parts:
        raise ConfigError("agent.command is empty: name the program to run, such as `claude`")
    return parts


def is_given(arguments: Iterable[str], *flags: str) -> bool:
    """Whether one of these flags stands among the arguments, alone or as `--flag=value`."""
    joined = tuple(f"{flag}=" for flag in flags)
    return any(argument in flags or argument.startswith(joined) for argument in arguments)
