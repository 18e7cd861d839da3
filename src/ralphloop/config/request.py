"""What the command line asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_SETTINGS = {
    "kind": "work.kind",
    "model": "agent.model",
    "iterations": "limits.iterations",
    "calls": "limits.calls",
    "minutes": "limits.minutes",
    "max_cost": "limits.cost_usd",
    "delay_s": "limits.delay_s",
    "wait_timeout_s": "limits.wait_timeout_s",
    "poll_interval_s": "limits.poll_interval_s",
    "completion_text": "completion.text",
    "require": "completion.require",
    "stream": "output.stream",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The flags of `run` and `start`; None: not given. Relative paths are relative to the workspace."""

    workspace: Path
    prompt_text: str | None = None
    prompt_file: str | None = None
    task_file: str | None = None
    task_dir: str | None = None
    kind: str | None = None
    agent: str | None = None
    agent_command: str | None = None
    model: str | None = None
    gates: tuple[str, ...] | None = None
    iterations: int | None = None
    calls: int | None = None
    minutes: float | None = None
    max_cost: float | None = None
    delay_s: float | None = None
    wait_timeout_s: float | None = None
    poll_interval_s: float | None = None
    completion_text: str | None = None
    require: str | None = None
    stream: bool | None = None

    def raised(self) -> dict[str, float]:
        """The bounds among the flags: they hold for a loop that is gone on with as well."""
        given = ((key.removeprefix("limits."), getattr(self, field)) for field, key in _SETTINGS.items() if key.startswith("limits."))
        return {limit: value for limit, value in given if value is not None}

    def flags(self) -> dict[str, object]:
        """The settings among them by canonical dotted key, for `load_layers`."""
        given: dict[str, object] = {key: value for field, key in _SETTINGS.items() if (value := getattr(self, field)) is not None}
        if self.gates is not None:
            given["gates"] = [{"command": command} for command in self.gates]
        return given
