"""What a loop began with, and goes on with: settings are pinned, but for the bounds that a person raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import sha256

from ralphloop.core.model import FUNCTION, LoopSpec
from ralphloop.errors import ConfigError

Raised = Mapping[str, float]
"""Bounds that a person names when a loop goes on, by their names in Limits."""


def with_limits(spec: LoopSpec, raised: Raised) -> LoopSpec:
    """The spec with other bounds; the bound of calls keeps its proportion to the iterations where it was the default."""
    limits = replace(spec.limits, **raised)  # type: ignore[arg-type] # the command line checks names and types
    if "calls" not in raised and spec.limits.calls == 3 * spec.limits.iterations:
        limits = replace(limits, calls=3 * limits.iterations)
    return replace(spec, limits=limits)


def refuse_function(spec: LoopSpec) -> None:
    """Raise ConfigError where the agent is a function, which only the program that has it can call."""
    if spec.agent.type == FUNCTION:
        raise ConfigError(f"loop {spec.name} runs in a program of its own (ralphloop.run_loop): start that program again")


def changes(before: LoopSpec, after: LoopSpec) -> tuple[str, ...]:
    """The bounds that differ, in words."""
    old, new = asdict(before.limits), asdict(after.limits)
    return tuple(f"limits.{name}: {old[name]:g} → {new[name]:g}" for name in old if old[name] != new[name])


def what_is_not_taken_over(pinned: LoopSpec, now: LoopSpec, raised: Raised) -> str | None:
    """Which settings differ from those that the loop began with and keeps, in words; None where none does."""
    old, new = _flat(asdict(pinned)), _flat(asdict(now))
    taken = {f"limits.{name}" for name in raised} | ({"limits.calls"} if "iterations" in raised else set())
    changed = [key for key in sorted(old.keys() | new.keys()) if key not in {"loop_id", *taken} and old.get(key) != new.get(key)]
    if not changed:
        return None
    return f"Pinned when the loop began, and not taken over now: {', '.join(changed)}. `ralph run --new` begins afresh with them."


def _flat(values: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def check_secrets(spec: LoopSpec, agent_env: Mapping[str, str]) -> None:
    """Values are pinned by digest: the loop may only go on with the ones that it began with."""
    for secret in spec.agent.env:
        value = agent_env.get(secret.name)
        if value is None or sha256(value.encode()).hexdigest() != secret.digest:
            what = "is gone from" if value is None else "has changed in"
            raise ConfigError(
                f"agent.env.{secret.name} {what} the settings since the loop began: put it back, or begin afresh with `ralph run --new`"
            )
