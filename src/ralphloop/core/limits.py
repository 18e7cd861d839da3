"""The bounds of a loop: iterations, calls, cost, time, stall, back-off and usage-limit waits. Pure arithmetic on the state."""

from __future__ import annotations

from ralphloop.core.model import EndedBy, Kind, Outcome, OutcomeKind, RunReport, StreamReport, UsageLimit
from ralphloop.core.prices import cost_of, price_of
from ralphloop.core.state import LoopState

INSTANT_DEATH_S = 3.0
UNKNOWN_RESET_S = 900.0
LONGEST_PROBE_S = 3600.0
JITTER_SHARE = 0.05
JITTER_MAX_S = 60.0

RAISING = {
    "iterations": "-m N",
    "calls": "--max-calls N",
    "minutes": "--max-minutes N",
    "cost_usd": "--max-cost N",
    "wait_timeout_s": "--wait-timeout N",
}
"""The flag of `ralph resume` that raises a bound."""


def limit_reached(state: LoopState, *, new_iteration: bool) -> Outcome | None:
    """The bound that forbids another attempt (or another iteration), or None."""
    limits, spent, streaks = state.spec.limits, state.spent, state.streaks
    checks = (
        ("instant_deaths", streaks.instant_deaths, limits.instant_deaths, "{:g} attempts in a row died at once"),
        ("stall", streaks.stalled, limits.stall, "{:g} iterations in a row made no progress"),
        ("calls", spent.calls, limits.calls, "{:g} agent calls are used up"),
        ("cost_usd", spent.cost_usd, limits.cost_usd, "${:.2f} were spent"),
        ("minutes", spent.active_s / 60, limits.minutes, "{:.1f} minutes were worked"),
        ("usage_waits", spent.waits - 1, limits.usage_waits, "{:g} waits for a usage limit did not help"),
        ("usage_wait_hours", spent.waited_s / 3600, limits.usage_wait_hours, "{:.1f} hours of waits for usage limits would be needed"),
    )
    if new_iteration and limits.iterations and state.iteration >= limits.iterations:
        return _limit(state, "iterations", f"{state.iteration} of {limits.iterations} iterations are used up")
    for name, used, allowed, words in checks:
        if allowed and used >= allowed:
            return _limit(state, name, words.format(used))
    return None


def _limit(state: LoopState, name: str, words: str) -> Outcome:
    left = state.survey.remaining if state.survey and state.spec.work.kind is not Kind.FOLDER else None
    tasks = "" if left is None else f", {left} task{'' if left == 1 else 's'} open"
    return Outcome(kind=OutcomeKind.LIMIT, reason=f"{words}{tasks}", limit=name)


def backoff_s(state: LoopState, dice: float) -> float:
    """How long to wait after a failed attempt: doubling with the failures in a row, half of it jitter."""
    limits = state.spec.limits
    doubled = limits.backoff_s * 2.0 ** min(state.streaks.failures - 1, 30)
    return min(doubled, limits.backoff_max_s) * (0.5 + dice / 2)


def usage_wait_until(state: LoopState, limit: UsageLimit | None, dice: float) -> float:
    """When to probe again: at the reset plus jitter; where none was named, or it did not help, at growing distances."""
    again = max(state.streaks.usage_limits - 1, 0)
    floor = 1.0 if again == 0 else min(60.0 * 2.0 ** min(again - 1, 10), LONGEST_PROBE_S)
    if limit is None or limit.resets_at is None:
        wait = min(UNKNOWN_RESET_S * 2.0 ** min(again, 10), LONGEST_PROBE_S)
    else:
        wait = max(limit.resets_at - state.at, floor)
    return state.at + wait + dice * min(JITTER_SHARE * wait, JITTER_MAX_S)


def mean_charge(state: LoopState) -> float:
    """What an attempt of which nothing is known is charged: the mean of this loop's attempts that have a price."""
    return state.spent.priced_usd / state.spent.priced_calls if state.spent.priced_calls else 0.0


def charge(state: LoopState, run: RunReport, stream: StreamReport) -> tuple[float, bool]:
    """What an attempt is charged, and whether that is an estimate.

    A reported cost is taken as it is. Else it is the tokens at the price of the model; where the stream broke off, and has told only a part of them,
    or where nothing is known, at least the mean of the loop. A client that was refused before it did anything costs nothing.
    """
    if stream.usage.cost_usd is not None:
        return stream.usage.cost_usd, False
    turned_away = run.ended_by is EndedBy.NOT_STARTED or stream.limit is not None or stream.fatal is not None
    if turned_away and not (stream.usage.has_tokens or stream.tools or stream.final_words):
        return 0.0, False
    spec = state.spec
    price = price_of(stream.model or spec.agent.model, spec.prices) or price_of(spec.agent.called, spec.prices)
    by_tokens = cost_of(stream.usage, price) if price is not None else 0.0
    known = stream.result_seen and price is not None and stream.usage.has_tokens
    return (by_tokens if known else max(by_tokens, mean_charge(state))), True


def budget_left(state: LoopState) -> float | None:
    """What the next attempt may cost; None where cost is not bounded."""
    return state.spec.limits.cost_usd - state.spent.cost_usd if state.spec.limits.cost_usd else None
