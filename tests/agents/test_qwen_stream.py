"""What is read from a stream of Qwen Code: failures that are dressed as success, and what merely looks like one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from recorded import NOW, ended, recorded, stderr_of
from recorded import read as read_of

from ralphloop.agents import qwen
from ralphloop.core.endings import classify
from ralphloop.core.messages import Event, Progress, Text
from ralphloop.core.model import AgentSpec, Cause, Ending, RunReport, StreamReport, Usage

NO_TOKENS = {"input_tokens": 0, "output_tokens": 0}
TOKENS = {"input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 40, "total_tokens": 110}


def read(lines: Iterable[bytes], run: RunReport) -> tuple[list[Event], StreamReport]:
    return read_of("qwen", lines, run)


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def says(words: str, usage: dict[str, int], **fields: Any) -> bytes:
    return line(type="assistant", message={"content": [{"type": "text", "text": words}], "usage": usage}, **fields)


def result(words: str, **fields: Any) -> bytes:
    return line(**{"type": "result", "subtype": "success", "is_error": False, "result": words, **fields})


def ends_with(words: str) -> tuple[Ending, StreamReport]:
    """A run that ends with a failure of that text, and calls it a success."""
    report = read([says(words, NO_TOKENS), result(words)], ended(0))[1]
    return classify(ended(0), report, changed=True)[0], report


@pytest.mark.parametrize(
    ("words", "ending", "cause"),
    [
        ("[API Error: 400 Bad thing]", Ending.FAILED, None),
        ("[API Error: 401 nope]", Ending.FATAL, None),
        ("[API Error: 402 Insufficient Balance]", Ending.FATAL, None),
        ("[API Error: 403 nope]", Ending.FATAL, None),
        ("[API Error: 404 nope]", Ending.FATAL, None),
        ("[API Error: 429 slow down]\nPossible quota limitations in place or slow response times detected.", Ending.USAGE_LIMIT, None),
        ("[API Error: 429 slow down]", Ending.USAGE_LIMIT, None),
        ("[API Error: 429 You exceeded your current quota, please check your plan] Possible quota limitations", Ending.FATAL, None),
        ("[API Error: 429 insufficient_quota]\nPossible quota limitations in place.", Ending.FATAL, None),
        ("[API Error: 500 boom]", Ending.FAILED, None),
        ("[API Error: 503 busy]", Ending.FAILED, Cause.OVERLOADED),
        ("[API Error: 400 This model's maximum context length is 131072 tokens.]", Ending.FAILED, Cause.CONTEXT_WINDOW),
        ("[API Error: Connection error. (cause: fetch failed)]", Ending.FAILED, None),
        ("Half a sen[API Error: Model stream ended without a finish reason.]", Ending.FAILED, None),
        ("I saw [API Error: 401 nope] in the log. [API Error: 500 boom]", Ending.FAILED, None),
    ],
)
def test_an_api_failure_dressed_as_success_is_the_failure_that_it_is(words: str, ending: Ending, cause: Cause | None) -> None:
    found, report = ends_with(words)
    assert found is ending
    assert report.cause is cause


def test_an_agent_that_quotes_a_failure_has_not_failed() -> None:
    words = "The log says [API Error: 401 nope]"
    events, report = read([says(words, TOKENS), result(words)], ended(0))
    assert (report.error, report.fatal, report.final_words) == (None, None, words)
    assert events[0] == Text(text=words)


def test_a_failure_in_the_middle_of_a_text_is_a_quotation() -> None:
    words = "[API Error: 401 nope] is what it said, and I repaired it."
    assert read([says(words, NO_TOKENS), result(words)], ended(0))[1].error is None


def test_the_words_of_a_failure_are_not_the_agents() -> None:
    words = "[API Error: 400 Bad thing]"
    events, report = read([says("Working.", TOKENS), says(words, NO_TOKENS), result(words)], ended(0))
    assert report.final_words == "Working."
    assert events[1] == Progress(text=words)


def test_an_empty_answer_is_a_failure_although_it_cost_tokens() -> None:
    words = "[API Error: Model stream ended with empty response text.]"
    assert read([says(words, TOKENS), result(words)], ended(0))[1].error == words


def test_a_sub_agent_that_quotes_a_failure_decides_nothing() -> None:
    report = read([says("done", TOKENS), says("[API Error: 401 nope]", NO_TOKENS, parent_tool_use_id="call_1"), result("done")], ended(0))[1]
    assert (report.error, report.final_words) == (None, "done")


def test_that_the_turns_are_used_up_is_told_by_the_exit_code_alone() -> None:
    report = read(recorded("qwen", "max-turns"), ended(53))[1]
    assert report.cause is Cause.TURNS
    assert read([result("done")], ended(53))[1].cause is None


def test_what_was_cached_is_not_counted_twice() -> None:
    assert read([result("x", usage=TOKENS)], ended())[1].usage == Usage(input_tokens=60, output_tokens=10, cache_read_tokens=40)


def test_a_run_that_is_cut_off_has_cost_what_was_told_until_then() -> None:
    first = line(type="assistant", message={"id": "a", "content": [], "usage": NO_TOKENS})
    second = line(type="assistant", message={"id": "b", "content": [], "usage": TOKENS})
    assert read([first, second], ended(130))[1].usage == Usage(input_tokens=60, output_tokens=10, cache_read_tokens=40)


def test_what_was_denied_is_named() -> None:
    denials = [{"tool_name": "run_shell_command", "tool_use_id": "c", "tool_input": {}}]
    assert read([result("x", permission_denials=denials)], ended())[1].denied == ("run_shell_command",)


def test_news_of_a_task_in_the_background_say_which() -> None:
    lines = [
        line(type="system", subtype="task_started", data={"task_id": "t", "description": "count files"}),
        line(type="system", subtype="task_notification", data={"task_id": "t", "status": "completed"}),
    ]
    assert read(lines, ended())[0] == [Progress(text="began: count files"), Progress(text="completed: t")]


@pytest.mark.parametrize("name", ["bad-flag", "no-prompt"])
def test_a_client_that_refuses_to_begin_is_fatal_although_the_beginning_of_its_usage_is_lost(name: str) -> None:
    run = ended(1, stderr=stderr_of("qwen", name)[-4096:])
    assert classify(run, read([], run)[1], changed=False)[0] is Ending.FATAL


@pytest.mark.parametrize(
    ("stderr", "ending"),
    [
        ("[API Error: 401 Incorrect API key provided.]\n", Ending.FATAL),
        ("[API Error: 429 Rate limit reached]\nPossible quota limitations in place or slow response times detected.\n", Ending.USAGE_LIMIT),
        ("[API Error: 429 insufficient_quota]\nPossible quota limitations in place or slow response times detected.\n", Ending.FATAL),
        ("[API Error: 500 boom]\n", Ending.FAILED),
        ("Operation cancelled.\n", Ending.FAILED),
    ],
)
def test_as_plain_text_it_says_on_standard_error_what_went_wrong(stderr: str, ending: Ending) -> None:
    run = ended(1, stderr=stderr)
    report = qwen.parser(AgentSpec(type="qwen", command="qwen", format="text")).finish(run, NOW)
    assert classify(run, report, changed=True)[0] is ending


@pytest.mark.parametrize("words", ["[API Error: " * 100_000, "[API Error: " * 300 + "] " * 2000 + "x", "[API Error: x]" + " " * 1_000_000 + "y"])
def test_a_text_that_is_made_to_be_slow_is_read_at_once(words: str) -> None:
    assert ends_with(words)[0] is Ending.OK
