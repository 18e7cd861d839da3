"""The layers of settings, lowest first: defaults, project file, local file, environment, command line.

A layer maps canonical dotted keys to settings, so to merge is to let the higher one win key by key: scalars override, objects merge (their members
are keys of their own) and arrays replace (they are one value).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ralphloop.config.document import read_document
from ralphloop.config.json_text import read_json
from ralphloop.config.schema import SCHEMA
from ralphloop.config.setting import COMMAND_LINE, DEFAULTS, ENVIRONMENT, Origin, Setting
from ralphloop.config.tree import Node, node_of
from ralphloop.config.values import read_value
from ralphloop.config.variables import read_variables
from ralphloop.errors import ConfigError, WorkError
from ralphloop.files.beneath import read_beneath

LARGEST_FILE = 1024 * 1024

# Lowest first. A format or a file more is a row more.
PROJECT_FILES: tuple[tuple[str, Callable[[bytes, str], Node]], ...] = (
    (".ralph/settings.json", read_json),
    (".ralph/settings.local.json", read_json),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The settings of one source."""

    source: str
    settings: Mapping[str, Setting]


def load_layers(project_root: Path, environ: Mapping[str, str], flags: Mapping[str, object]) -> tuple[Layer, ...]:
    """Every layer that is there, lowest first. `flags`: values of the command line by canonical dotted key."""
    files = (_file_layer(project_root, rel, reader) for rel, reader in PROJECT_FILES)
    return (
        Layer(source=DEFAULTS, settings=_defaults()),
        *(layer for layer in files if layer is not None),
        Layer(source=ENVIRONMENT, settings=read_variables(environ)),
        Layer(source=COMMAND_LINE, settings=_command_line(flags)),
    )


def explicit_layers(flags: Mapping[str, object]) -> tuple[Layer, ...]:
    """The defaults and what a caller says, without files and environment."""
    return (Layer(source=DEFAULTS, settings=_defaults()), Layer(source=COMMAND_LINE, settings=_command_line(flags)))


def merge(layers: Iterable[Layer]) -> dict[str, Setting]:
    """One setting for each key: that of the highest layer which has it."""
    merged: dict[str, Setting] = {}
    for layer in layers:
        merged |= layer.settings
    return merged


def _defaults() -> dict[str, Setting]:
    origin = Origin(source=DEFAULTS)
    return {name: Setting(value=key.default, origin=origin) for name, key in SCHEMA.items() if key.default is not None}


def _command_line(flags: Mapping[str, object]) -> dict[str, Setting]:
    origin = Origin(source=COMMAND_LINE)
    return {name: Setting(value=read_value(SCHEMA[name], name, node_of(value), COMMAND_LINE), origin=origin) for name, value in flags.items()}


def _file_layer(root: Path, rel: str, reader: Callable[[bytes, str], Node]) -> Layer | None:
    content = _content(root, rel)
    return None if content is None else Layer(source=rel, settings=read_document(reader(content, rel), rel))


def _content(root: Path, rel: str) -> bytes | None:
    try:
        content = read_beneath(root, rel, LARGEST_FILE)
    except WorkError as unreadable:
        raise ConfigError(f"{rel}: {unreadable}") from unreadable
    if content is None and os.path.lexists(root / rel):
        raise ConfigError(f"{rel}: this is no regular file (a directory or a link); put the settings into a file in {root / '.ralph'}")
    return content
