"""What `status` shows of a loop, kept beside the stream so that showing it never reads the stream."""

from __future__ import annotations

from dataclasses import dataclass

from ralphloop.core.model import STATUS_WORDS
from ralphloop.core.state import LoopState

RUNNING = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollup:
    """The state of a loop in one row. `status` is running, complete, failed, waiting or stopped; `step` is what it is busy with."""

    status: str
    iteration: int
    max_iterations: int
    remaining: int | None
    total: int | None
    task: str | None
    step: str | None
    calls: int
    cost_usd: float
    estimated: bool
    input_tokens: int
    output_tokens: int
    outcome: str | None
    outcome_reason: str | None
    strength: str | None
    exit_code: int | None
    updated_at: float


def roll_up(state: LoopState) -> Rollup:
    """The row of a loop in that state."""
    survey, spent, outcome = state.survey, state.spent, state.outcome
    return Rollup(
        status=STATUS_WORDS[outcome.kind] if outcome else RUNNING,
        iteration=state.iteration,
        max_iterations=state.spec.limits.iterations,
        remaining=survey.remaining if survey else None,
        total=survey.total if survey else None,
        task=survey.task if survey else None,
        step=state.step,
        calls=spent.calls,
        cost_usd=spent.cost_usd,
        estimated=spent.estimated,
        input_tokens=spent.usage.input_tokens,
        output_tokens=spent.usage.output_tokens,
        outcome=outcome.kind if outcome else None,
        outcome_reason=outcome.reason if outcome else None,
        strength=outcome.strength if outcome else None,
        exit_code=outcome.exit_code if outcome else None,
        updated_at=state.at,
    )
