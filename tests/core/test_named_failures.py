"""A failure that its client names is told in words, and to the next prompt where an agent can do something about it; so is what kept it from getting on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loops import FINISHES, IDLES, LIMITED, NOT_THERE, WORKS, Loop, edit, exited, patched, spec, tick

from ralphloop.core.endings import CAUSES, classify
from ralphloop.core.feedback import ADVICE, NO_RESULT
from ralphloop.core.messages import AttemptEnded, AttemptSeen, ChangesJudged, IterationEnded, RunAgent
from ralphloop.core.model import AgentSpec, Cause, Ending, Limits, OutcomeKind, OwnPrice, Price, StreamReport, Usage, UsageLimit
from ralphloop.core.prices import cost_of
from ralphloop.testing.scripted import Turn


def failing(cause: Cause | None, words: str = "client words") -> Turn:
    return Turn(stream=StreamReport(error=words, cause=cause), run=exited(1))


@pytest.mark.parametrize("cause", Cause)
def test_a_cause_is_named_before_the_clients_own_words(cause: Cause) -> None:
    ending, reason = classify(exited(1), StreamReport(error="client words", cause=cause), changed=False)
    assert (ending, reason) == (Ending.FAILED, f"{CAUSES[cause]}: client words")


@pytest.mark.parametrize("cause", sorted(ADVICE))
def test_the_next_attempt_is_told_at_once_of_what_it_can_do_something_about(cause: Cause) -> None:
    loop = Loop(spec(), [failing(cause), FINISHES, IDLES])
    loop.run()
    assert f"{NO_RESULT}: {CAUSES[cause]}: client words. {ADVICE[cause]}" in loop.agent.prompts[1]


@pytest.mark.parametrize("cause", [None, Cause.OVERLOADED])
def test_what_no_agent_can_help_is_told_to_none_within_an_iteration(cause: Cause | None) -> None:
    loop = Loop(spec(), [failing(cause), FINISHES, IDLES])
    loop.run()
    assert NO_RESULT not in loop.agent.prompts[1]


def test_a_failure_that_is_not_the_last_any_more_is_not_told_as_the_last() -> None:
    loop = Loop(spec(), [failing(Cause.CONTEXT_WINDOW), failing(Cause.OVERLOADED), FINISHES, IDLES])
    loop.run()
    assert [NO_RESULT in prompt for prompt in loop.agent.prompts[:3]] == [False, True, False]


def test_what_a_limited_attempt_may_never_have_read_is_told_again() -> None:
    loop = Loop(spec(), [failing(Cause.CONTEXT_WINDOW), LIMITED, FINISHES, IDLES])
    loop.run()
    assert [NO_RESULT in prompt for prompt in loop.agent.prompts[:3]] == [False, True, True]


def test_only_the_last_failure_is_told() -> None:
    loop = Loop(spec(), [failing(Cause.TURNS), failing(Cause.CONTEXT_WINDOW), FINISHES, IDLES])
    loop.run()
    assert [prompt.count(NO_RESULT) for prompt in loop.agent.prompts[:3]] == [0, 1, 1]
    assert CAUSES[Cause.CONTEXT_WINDOW] in loop.agent.prompts[2]


def test_what_was_told_of_a_failure_is_gone_once_an_attempt_came_to_its_end() -> None:
    loop = Loop(spec(), [failing(Cause.TURNS), WORKS, WORKS, FINISHES])
    loop.run()
    assert [NO_RESULT in prompt for prompt in loop.agent.prompts[:3]] == [False, True, False]


def test_an_iteration_that_failed_tells_the_next_one_the_cause_once() -> None:
    loop = Loop(spec(limits=Limits(attempts=2, calls=60)), [failing(Cause.TURNS), failing(Cause.TURNS), FINISHES, IDLES])
    loop.run()
    assert loop.agent.prompts[2].count(NO_RESULT) == 1
    assert ADVICE[Cause.TURNS] in loop.agent.prompts[2]


# --- what kept it from getting on -------------------------------------------------------------------------------------


def saying(words: str = "I looked.", **stream: object) -> StreamReport:
    return replace(StreamReport(final_words=words, usage=Usage(cost_usd=0.01)), **stream)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stream", "told"),
    [
        (saying(denied=("Bash", "Write")), "You were not allowed to use Bash, Write."),
        (saying(question="Which database?"), 'You asked: "Which database?" Nobody is there to answer.'),
        (saying("I have two ways.\n\nWhich one shall I take?  \n"), 'You asked: "Which one shall I take?" Nobody is there to answer.'),
    ],
)
def test_an_agent_that_got_nowhere_is_told_what_kept_it(stream: StreamReport, told: str) -> None:
    loop = Loop(spec(), [Turn(stream=stream), FINISHES, IDLES])
    loop.run()
    assert told in loop.agent.prompts[1]


def test_an_agent_that_got_on_is_told_nothing_of_the_kind() -> None:
    loop = Loop(spec(), [Turn(does=edit("PRD.md", tick), stream=saying("Done. What next?", denied=("Bash",))), FINISHES, IDLES])
    loop.run()
    assert not any(words in loop.agent.prompts[1] for words in ("not allowed", "You asked"))


def test_a_courteous_question_is_none_where_a_gate_is_the_reason() -> None:
    asking = saying("All tests pass. Anything else?")
    loop = Loop(
        spec(gates=["test"]), [Turn(stream=asking), Turn(stream=asking), FINISHES, IDLES], green=lambda _workspace: len(loop.agent.prompts) > 2
    )
    loop.run()
    assert not any("You asked" in prompt for prompt in loop.agent.prompts[:3])


def test_words_without_a_question_are_none() -> None:
    loop = Loop(spec(), [Turn(stream=saying("Is it done? It is not.")), FINISHES, IDLES])
    loop.run()
    assert "You asked" not in loop.agent.prompts[1]


# --- what an attempt is charged ---------------------------------------------------------------------------------------

TOKENS = Usage(input_tokens=1_000_000, output_tokens=100_000, cache_read_tokens=2_000_000)
PRICE = OwnPrice(model="wonder-1", price=Price(input=2.0, output=10.0, cache_read=0.5))
WITH_PRICE = replace(spec(limits=Limits(iterations=3, stall=0)), prices=(PRICE,))


def reporting(**fields: object) -> Turn:
    return Turn(stream=replace(StreamReport(final_words="I looked.", usage=TOKENS, model="wonder-1-2026"), **fields))  # type: ignore[arg-type]


def charges(loop: Loop) -> list[tuple[float, bool]]:
    loop.run()
    return [(entry.charged_usd, entry.estimated) for entry in loop.entries if isinstance(entry, AttemptEnded)]


def test_tokens_without_a_cost_are_charged_at_the_price_of_the_model_and_marked() -> None:
    assert charges(Loop(WITH_PRICE, [reporting()])) == [(4.0, True)] * 3


def test_a_cheap_attempt_is_not_charged_what_a_dear_one_was() -> None:
    small = reporting(usage=Usage(input_tokens=1000))
    assert charges(Loop(WITH_PRICE, [reporting(), small])) == [(4.0, True), (0.002, True), (0.002, True)]


def test_a_stream_that_broke_off_is_charged_at_least_the_mean_of_the_loop() -> None:
    cut = reporting(usage=Usage(input_tokens=1000), result_seen=False)
    assert charges(Loop(WITH_PRICE, [reporting(), cut]))[:2] == [(4.0, True), (4.0, True)]
    dear = reporting(result_seen=False, usage=Usage(input_tokens=9_000_000))
    assert charges(Loop(WITH_PRICE, [reporting(), dear]))[1] == (18.0, True)


def test_a_client_that_was_turned_away_before_it_did_anything_costs_nothing() -> None:
    limited = Turn(stream=StreamReport(limit=UsageLimit(resets_at=None, text="limit"), error="limit"), run=exited(1))
    assert charges(Loop(WITH_PRICE, [reporting(), limited, reporting()]))[:3] == [(4.0, True), (0.0, False), (4.0, True)]
    fatal = Turn(stream=StreamReport(fatal="not logged in", error="not logged in"), run=exited(1))
    assert charges(Loop(WITH_PRICE, [reporting(), fatal]))[1] == (0.0, False)
    assert charges(Loop(WITH_PRICE, [reporting(), replace(NOT_THERE, says="", cost_usd=None)]))[1] == (0.0, False)


def test_a_limit_that_came_in_the_middle_of_the_work_is_charged_its_tokens() -> None:
    limited = reporting(limit=UsageLimit(resets_at=None, text="limit"), error="limit", usage=Usage(input_tokens=500_000))
    assert charges(Loop(WITH_PRICE, [limited, reporting()]))[0] == (1.0, True)


def test_a_price_of_nothing_is_a_price() -> None:
    free = replace(WITH_PRICE, prices=(OwnPrice(model="wonder", price=Price(input=0.0, output=0.0)),))
    dear_first = [reporting(usage=replace(TOKENS, cost_usd=5.0)), reporting()]
    assert charges(Loop(free, dear_first))[1] == (0.0, True)


def test_where_no_model_is_known_the_agent_has_a_price() -> None:
    own = replace(WITH_PRICE, agent=AgentSpec(type="command", name="mine", command="mine"), prices=(replace(PRICE, model="mine"),))
    assert charges(Loop(own, [reporting(model=None)]))[0] == (4.0, True)


def test_a_reported_cost_is_never_replaced_by_an_estimate() -> None:
    assert charges(Loop(WITH_PRICE, [reporting(usage=replace(TOKENS, cost_usd=0.25))]))[0] == (0.25, False)


def test_the_bound_of_cost_holds_for_estimates_too() -> None:
    bounded = replace(WITH_PRICE, limits=Limits(iterations=10, stall=0, cost_usd=7.0))
    loop = Loop(bounded, [reporting()])
    assert (loop.run().limit, len(loop.agent.prompts)) == ("cost_usd", 2)


def test_what_is_left_of_the_bound_is_handed_to_each_attempt() -> None:
    loop = Loop(replace(WITH_PRICE, limits=Limits(iterations=10, stall=0, cost_usd=10.0)), [reporting()])
    budgets: list[float | None] = []
    attempt = loop.agent.attempt

    def noting(action: RunAgent, prompt: str) -> AttemptSeen:
        budgets.append(action.budget_usd)
        return attempt(action, prompt)

    patched(loop.agent, "attempt", noting)
    loop.run()
    assert budgets == [10.0, 6.0, 2.0]


def test_cost_is_counted_from_every_kind_of_token() -> None:
    price = Price(input=1.0, output=10.0, cache_read=0.1, cache_write=1.25)
    used = Usage(input_tokens=1_000_000, output_tokens=1_000_000, cache_read_tokens=1_000_000, cache_write_tokens=1_000_000)
    assert cost_of(used, price) == pytest.approx(12.35)
    assert cost_of(used, Price(input=1.0, output=10.0)) == pytest.approx(13.0)


def test_the_facts_of_the_stream_stand_in_the_ledger() -> None:
    loop = Loop(spec(limits=Limits(iterations=1, stall=0)), [Turn(stream=saying(denied=("Bash",), tools=7, tool_errors=2, model="m"))])
    assert loop.run().kind is OutcomeKind.LIMIT
    (ended,) = loop.of(AttemptEnded)
    assert isinstance(ended, AttemptEnded)
    assert (ended.stream.denied, ended.stream.tools, ended.stream.tool_errors, ended.stream.model) == (("Bash",), 7, 2, "m")
    assert [entry.ending for entry in loop.entries if isinstance(entry, ChangesJudged)] == [Ending.OK]
    assert [entry.progress for entry in loop.entries if isinstance(entry, IterationEnded)] == [False]
