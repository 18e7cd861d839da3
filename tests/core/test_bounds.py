"""The bounds of a loop: what they are where nobody sets them, that each of them holds, and that 0 switches each of them off."""

from __future__ import annotations

from typing import Any

import pytest
from loops import CLAIMS, DIES, DONE, EMPTY, FAILS, FINISHES, IDLES, LIMITED, Loop, both, child_loop, exited, folder_spec, spec

from ralphloop.core import messages as m
from ralphloop.core.model import Kind, Limits, OutcomeKind, StreamReport, UsageLimit
from ralphloop.testing.scripted import Turn

ENOUGH = 25
"""Agent calls after which a test believes that a bound does not hold."""


def bounded(turn: Turn, **limits: Any) -> Loop:
    """A loop in which no bound holds but those that are given."""
    off = {"attempts": 1, "empty_retries": 0, "stall": 0, "instant_deaths": 0, "usage_waits": 0, "usage_wait_hours": 0.0, "backoff_s": 0.0}
    return Loop(spec(limits=Limits(**{"iterations": 0, "calls": ENOUGH, **off, **limits})), [turn])


def test_the_bounds_are_those_of_the_design() -> None:
    assert Limits() == Limits(
        iterations=10,
        attempts=3,
        empty_retries=2,
        calls=30,
        minutes=0.0,
        cost_usd=0.0,
        stall=5,
        instant_deaths=10,
        delay_s=0.0,
        backoff_s=1.0,
        backoff_max_s=60.0,
        usage_waits=20,
        usage_wait_hours=192.0,
        wait_timeout_s=300.0,
        poll_interval_s=1.0,
    )


DEAR = Turn(says="I looked around.", cost_usd=1.0)
SLOW_LIMIT = Turn(stream=StreamReport(limit=UsageLimit(resets_at=4e9, text="until 2096"), error="limit"), run=exited(1))
BOUNDS: list[tuple[str, float, Turn, int]] = [
    # the bound, its value, an agent that meets it, and after how many calls
    ("iterations", 4, IDLES, 4),
    ("calls", 4, FAILS, 4),
    ("minutes", 4.0, IDLES, 4),
    ("cost_usd", 4.0, DEAR, 4),
    ("stall", 4, IDLES, 4),
    ("instant_deaths", 4, DIES, 4),
    ("usage_waits", 4, LIMITED, 5),
    ("usage_wait_hours", 4.0, SLOW_LIMIT, 1),
]


@pytest.mark.parametrize(("bound", "value", "turn", "calls"), BOUNDS, ids=[row[0] for row in BOUNDS])
def test_a_bound_ends_the_loop_and_is_named(bound: str, value: float, turn: Turn, calls: int) -> None:
    loop = bounded(turn, **{bound: value})
    outcome = loop.run()
    assert (outcome.kind, outcome.limit, len(loop.agent.prompts)) == (OutcomeKind.LIMIT, bound, calls)


@pytest.mark.parametrize(("bound", "value", "turn", "calls"), BOUNDS, ids=[row[0] for row in BOUNDS])
def test_0_switches_a_bound_off(bound: str, value: float, turn: Turn, calls: int) -> None:
    other = {"iterations": ENOUGH} if bound == "calls" else {}
    loop = bounded(turn, **{bound: 0 * value}, **other)
    outcome = loop.run()
    assert outcome.limit == ("iterations" if bound == "calls" else "calls")
    assert len(loop.agent.prompts) == ENOUGH > calls


def test_0_attempts_let_an_iteration_fail_for_as_long_as_other_bounds_allow() -> None:
    loop = bounded(FAILS, attempts=0)
    assert loop.run().limit == "calls"
    assert (len(loop.of(m.IterationStarted)), len(loop.agent.prompts)) == (1, ENOUGH)


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_an_empty_attempt_is_tried_again_so_many_times(retries: int) -> None:
    loop = bounded(EMPTY, iterations=1, empty_retries=retries)
    assert loop.run().limit == "iterations"
    assert len(loop.agent.prompts) == 1 + retries


@pytest.mark.parametrize("off", [{"backoff_s": 0.0}, {"backoff_s": 1.0, "backoff_max_s": 0.0}], ids=["backoff_s", "backoff_max_s"])
def test_without_a_back_off_nobody_waits_after_a_failure(off: dict[str, float]) -> None:
    loop = bounded(FAILS, attempts=0, **off)
    loop.run()
    assert sum(entry.until - entry.at for entry in loop.entries if isinstance(entry, m.WaitStarted)) <= 0.0


def test_without_a_delay_nobody_waits_between_iterations() -> None:
    loop = bounded(IDLES, delay_s=0.0)
    loop.run()
    assert loop.of(m.WaitStarted) == []


def test_without_a_time_out_and_an_interval_child_loops_are_waited_for_all_the_same() -> None:
    loop = Loop(folder_spec(wait_timeout_s=0.0, poll_interval_s=0.0), [])
    loop.agent.turns = [Turn(does=both(DONE, child_loop(loop, 5.0)))]
    assert loop.run().kind is OutcomeKind.DONE
    assert loop.clock.at < loop.of(m.AttemptEnded)[0].at + 6.0


# --- the bounds of folder work ----------------------------------------------------------------------------------------


def test_in_folder_work_every_failed_or_empty_run_is_an_iteration() -> None:
    for turn in (FAILS, EMPTY):
        loop = Loop(folder_spec(iterations=4), [turn])
        assert loop.run().limit == "iterations"
        assert len(loop.of(m.IterationStarted)) == len(loop.agent.prompts) == 4


def test_in_folder_work_silence_is_no_stall() -> None:
    loop = Loop(folder_spec(iterations=0, calls=ENOUGH), [IDLES])
    assert loop.run().limit == "calls"


def test_in_folder_work_instant_deaths_are_a_limit_over_iterations() -> None:
    loop = Loop(folder_spec(iterations=100, calls=300), [DIES])
    assert loop.run().limit == "instant_deaths"
    assert len(loop.of(m.IterationStarted)) == 10


# --- when they are looked at ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(Kind))
def test_a_limit_that_is_met_is_written_down_once_and_met_again_when_nothing_is_raised(kind: Kind) -> None:
    loop = Loop(spec(kind, limits=Limits(iterations=1, calls=9)), [IDLES])
    assert loop.run() == loop.resume()
    assert len(loop.of(m.LimitMet)) == len(loop.of(m.LoopEnded)) == 2
    assert len(loop.agent.prompts) == 1


def test_the_limit_counts_the_tasks_that_are_open_when_it_is_met() -> None:
    loop = Loop(spec(limits=Limits(iterations=1, calls=9)), [IDLES])
    assert loop.run().reason == "1 of 1 iterations are used up, 3 tasks open"
    assert FINISHES.does
    FINISHES.does(loop.workspace)
    assert loop.resume().reason == "1 of 1 iterations are used up, 0 tasks open"


def test_a_good_run_ends_a_streak_of_failures() -> None:
    loop = Loop(spec(limits=Limits(iterations=5, attempts=1, stall=0, backoff_s=4.0)), [FAILS, FAILS, IDLES, FAILS, IDLES])
    loop.run()
    waits = [round(entry.until - entry.at) for entry in loop.entries if isinstance(entry, m.WaitStarted)]
    assert waits == [3, 6, 3], "half of it is luck"


def test_only_deaths_within_seconds_are_instant() -> None:
    assert bounded(FAILS, instant_deaths=3).run().limit == "calls"
    assert bounded(DIES, instant_deaths=3).run().limit == "instant_deaths"


def test_a_reset_beyond_the_bound_ends_the_loop_at_once_and_whoever_resumes_it_makes_it_try() -> None:
    far = Turn(stream=StreamReport(limit=UsageLimit(resets_at=4e9, text="monthly limit"), error="limit"), run=exited(1, seconds=1))
    loop = Loop(spec(limits=Limits(calls=60, usage_wait_hours=24.0)), [far, FINISHES, CLAIMS])
    outcome = loop.run()
    assert outcome.limit == "usage_wait_hours"
    assert "of waits for usage limits would be needed" in outcome.reason
    began = loop.clock.now()
    assert loop.resume().kind is not OutcomeKind.LIMIT
    assert loop.clock.now() - began < 3600, "it did not wait for the reset"
