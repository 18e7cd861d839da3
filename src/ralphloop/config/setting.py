"""A setting is a value that knows where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ralphloop.config.schema import Value
from ralphloop.config.wording import printable
from ralphloop.errors import ConfigError

DEFAULTS = "default"
ENVIRONMENT = "environment"
COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A file and line, the name of an environment variable, the command line, or a default."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"

    def refuse(self, what: str) -> NoReturn:
        """Raise a ConfigError that begins with the place."""
        raise ConfigError(printable(f"{self}: {what}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One value and its origin."""

    value: Value
    origin: Origin
