"""Settings from the environment: exactly the names with `__`, and the closed list of `RLOOP_*` names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ralphloop.config.environment import SEED_PREFIX, SETTING_PREFIX, SETTING_SEPARATOR, is_setting
from ralphloop.config.schema import SCHEMA, Path, Type, dotted, pattern, split
from ralphloop.config.setting import Origin, Setting
from ralphloop.config.spellings import VARIABLES
from ralphloop.config.tree import node_of
from ralphloop.config.values import read_table, read_value
from ralphloop.config.wording import nearest

_SWITCHES = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def read_variables(environ: Mapping[str, str]) -> dict[str, Setting]:
    """Every setting in the environment by its canonical dotted key."""
    settings: dict[str, Setting] = {}
    for name in sorted(filter(is_setting, environ)):
        origin = Origin(source=name)
        path = _path(name)
        key = dotted(path)
        if key in settings:
            origin.refuse(f"it is the same setting as {settings[key].origin}; keep one of them")
        if path[:-1] and _is_table(path[:-1]):
            value = read_table(dotted(path[:-1]), node_of({path[-1]: environ[name]}), name)[path[-1]]
            settings[key] = Setting(value=value, origin=origin)
            continue
        schema_key = SCHEMA.get(dotted(pattern(path)))
        if schema_key is None or schema_key.type is Type.TABLE:
            origin.refuse(f"unknown setting in the environment; {_suggestion(name, path)}")
        given = _PLAIN.get(schema_key.type, str)(environ[name])
        settings[key] = Setting(value=read_value(schema_key, key, node_of(given), name), origin=origin)
    return settings


def _path(name: str) -> Path:
    """RALPH_LIMITS__ITERATIONS → limits.iterations; what follows a table's name keeps its case: RALPH_AGENT__ENV__API_KEY."""
    if name in VARIABLES:
        return split(VARIABLES[name])
    parts = name.removeprefix(SETTING_PREFIX).split(SETTING_SEPARATOR)
    lowered = tuple(part.lower() for part in parts)
    for depth in range(1, len(parts)):
        if _is_table(lowered[:depth]):
            return (*lowered[:depth], SETTING_SEPARATOR.join(parts[depth:]))
    return lowered


def _is_table(path: Path) -> bool:
    key = SCHEMA.get(dotted(pattern(path)))
    return key is not None and key.type is Type.TABLE


def _suggestion(name: str, path: Path) -> str:
    agent = path[1] if path[0] == "agents" and len(path) > 1 else "claude"
    keys = [key.replace("*", agent) + (".NAME" if SCHEMA[key].type is Type.TABLE else "") for key in SCHEMA if "." in key]
    known = {key.upper().replace(".", SETTING_SEPARATOR): SETTING_PREFIX for key in keys}
    known |= {variable.removeprefix(SEED_PREFIX): SEED_PREFIX for variable in VARIABLES}
    # Compared without the prefix, which all have in common and which would make everything look near.
    close = nearest(name.removeprefix(SETTING_PREFIX).removeprefix(SEED_PREFIX), known)
    return f"did you mean {known[close]}{close}?" if close else "names are made as RALPH_LIMITS__ITERATIONS is made of limits.iterations"


def _count(text: str) -> Any:
    return int(text) if _WHOLE.fullmatch(text.strip()) else text


def _number(text: str) -> Any:
    with suppress(ValueError):
        return float(text)
    return text


def _switch(text: str) -> Any:
    return _SWITCHES.get(text.strip().lower(), text)


def _flags(text: str) -> Any:
    return [text] if text.strip() else []


def _list(text: str) -> Any:
    return [part.strip() for part in text.split(",") if part.strip()]


_PLAIN: dict[Type, Callable[[str], Any]] = {
    Type.COUNT: _count,
    Type.NUMBER: _number,
    Type.SWITCH: _switch,
    Type.FLAGS: _flags,
    Type.LIST: _list,
    Type.SCM_TASKS: _list,
}
