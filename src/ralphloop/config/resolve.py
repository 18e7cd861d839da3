"""From what the command line and the layers say to everything that a loop is pinned to."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ralphloop.config.choose_agent import Others, choose_agent
from ralphloop.config.choose_work import choose_work
from ralphloop.config.layers import Layer, merge
from ralphloop.config.placing import beneath
from ralphloop.config.request import RunRequest
from ralphloop.config.setting import COMMAND_LINE, DEFAULTS, Origin, Setting
from ralphloop.core.model import AgentSpec, Completion, Gate, Kind, Limits, Output, OwnPrice, Require, Scm, WorkSpec

PROTECTED = (".ralph/settings.json", ".ralph/settings.local.json", ".ralph.yaml")

KIND_DEFAULTS: dict[Kind, dict[str, int | float | str]] = {
    Kind.PROMPT: {"limits.iterations": 10, "completion.text": "DONE"},
    Kind.CHECKLIST: {"limits.iterations": 30, "completion.text": "COMPLETE"},
    # Every run of an agent is one iteration, and an agent that works in silence makes progress.
    Kind.FOLDER: {
        "limits.iterations": 100,
        "completion.text": "COMPLETE",
        "limits.delay_s": 1.0,
        "limits.attempts": 1,
        "limits.empty_retries": 0,
        "limits.stall": 0,
    },
}
CALLS_PER_ITERATION = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Dress:
    """How the console looks: never pinned, since it decides nothing."""

    color: str = "auto"
    emoji: bool = True
    timestamps: bool | None = None
    max_lines: int = 3
    max_chars: int = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Everything of a LoopSpec but its identity, what is not pinned (secrets, the console's dress), and where each value came from."""

    work: WorkSpec
    agent: AgentSpec
    completion: Completion
    limits: Limits
    gates: tuple[Gate, ...]
    scm: Scm
    output: Output
    protect: tuple[str, ...]
    prices: tuple[OwnPrice, ...]
    console: Dress
    agent_env: dict[str, str] = field(repr=False)
    explain: str
    origins: Mapping[str, Origin]


def resolve(request: RunRequest, layers: Iterable[Layer], catalogue: Collection[str], others: Others = tuple) -> Resolved:
    """What to run. The layers were loaded with `request.flags()`; `catalogue` and `others` hold the names of the agents there are."""
    settings = merge(layers)
    forgotten = [key for key in request.flags() if key not in settings or settings[key].origin.source != COMMAND_LINE]
    assert not forgotten, f"the layers were loaded without the flags of the request: {forgotten}"
    work, explain = choose_work(request, settings)
    settings = _with_kind_defaults(settings, work.kind)
    agent, agent_env = choose_agent(request, settings, catalogue, others)
    output = _section(settings, "output")
    return Resolved(
        work=work,
        agent=agent,
        completion=_completion(settings),
        limits=Limits(**_section(settings, "limits")),
        gates=_value(settings, "gates"),
        scm=Scm(**_section(settings, "scm")),
        protect=_protected(request.workspace, settings["protect"], _named_in(_value(settings, "gates"), request.workspace, work)),
        prices=_value(settings, "prices"),
        console=dress(settings),
        output=Output(**{name: value for name, value in output.items() if name not in _DRESS}),
        agent_env=agent_env,
        explain=explain,
        origins={key: setting.origin for key, setting in settings.items()},
    )


_DRESS = [field.name for field in fields(Dress)]


def dress(settings: Mapping[str, Setting]) -> Dress:
    """How the console looks, as the settings say."""
    return Dress(**{name: setting.value for name in _DRESS if (setting := settings.get(f"output.{name}"))})  # type: ignore[arg-type] # the schema checks


def _value(settings: Mapping[str, Setting], key: str) -> Any:
    return settings[key].value


def _section(settings: Mapping[str, Setting], name: str) -> dict[str, Any]:
    prefix = f"{name}."
    return {key.removeprefix(prefix): setting.value for key, setting in settings.items() if key.startswith(prefix)}


def _with_kind_defaults(settings: Mapping[str, Setting], kind: Kind) -> dict[str, Setting]:
    origin = Origin(source=f"default of {kind} work")
    chosen = {key: setting for key, setting in settings.items() if setting.origin.source != DEFAULTS}
    full = dict(settings) | {key: Setting(value=value, origin=origin) for key, value in KIND_DEFAULTS[kind].items()} | chosen
    calls = CALLS_PER_ITERATION * _value(full, "limits.iterations")
    return {"limits.calls": Setting(value=calls, origin=Origin(source=f"default: {CALLS_PER_ITERATION} x limits.iterations"))} | full


def _completion(settings: Mapping[str, Setting]) -> Completion:
    text, require = settings["completion.text"], settings["completion.require"]
    if {"<", ">", "\n"} & set(str(text.value)):
        text.origin.refuse("completion.text is the text between the tags, on one line; write DONE, not <promise>DONE</promise>")
    if require.value == Require.PROVED and not _value(settings, "gates"):
        require.origin.refuse(
            "completion.require is proved, and no gate could prove anything; add a command under gates, or set completion.require to any"
        )
    return Completion(text=str(text.value).strip(), require=Require(str(require.value)))


def _protected(workspace: Path, setting: Setting, of_gates: Iterable[str]) -> tuple[str, ...]:
    wanted: Any = setting.value
    return tuple(dict.fromkeys((*PROTECTED, *(_protected_file(workspace, path, setting.origin) for path in wanted), *of_gates)))


def _named_in(gates: tuple[Gate, ...], workspace: Path, work: WorkSpec) -> Iterable[str]:
    """The files of the workspace that gate commands name: whoever could edit them could turn the gates green. The task list is judged apart."""
    for gate in gates:
        for word in gate.command.replace("=", " ").split():
            path = word.strip("\"'();&|<>{}")
            relative = beneath(workspace, path) if path else None
            if relative is not None and relative != work.task_file and os.path.isfile(workspace / relative):  # noqa: PTH113  as above
                yield relative


def _protected_file(workspace: Path, path: str, origin: Origin) -> str:
    """The file relative to the workspace; what could not be protected is refused, so that nobody believes that it is."""
    relative = beneath(workspace, path)
    if relative is None:
        origin.refuse(f"protect names {path}, which does not lie in {workspace}; name a file in it")
    if "*" in path or os.path.isdir(workspace / relative):  # noqa: PTH112  Path.is_dir raises where a directory is closed
        origin.refuse(f"protect names {path}, and it takes single files in this version; name each file")
    return relative
