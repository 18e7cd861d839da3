"""What is read from a stream of Amp, as its source writes it: failures behind exit code 0, a login that nobody answers, tokens line by line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from recorded import NOW, ended, parser_of, recorded
from recorded import read as read_of

from ralphloop.agents import amp
from ralphloop.core.endings import classify
from ralphloop.core.messages import Event, FinalResult, Progress, Text
from ralphloop.core.model import AgentSpec, Cause, EndedBy, Ending, RunReport, StreamReport, Usage

USED = {"input_tokens": 100, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 40, "output_tokens": 10}


def read(lines: Iterable[bytes], run: RunReport) -> tuple[list[Event], StreamReport]:
    return read_of("amp", lines, run)


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def assistant(*content: dict[str, Any]) -> bytes:
    return line(type="assistant", message={"content": list(content), "usage": USED}, parent_tool_use_id=None)


def failed(error: str) -> bytes:
    return line(type="result", subtype="error_during_execution", is_error=True, error=error)


def tool_result(content: str, *, is_error: bool) -> bytes:
    block = {"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": is_error}
    return line(type="user", message={"content": [block]})


DONE = line(type="result", subtype="success", is_error=False, result="Done.")


@pytest.mark.parametrize(
    ("error", "ending", "cause"),
    [
        ("Unauthorized 401 Unauthorized", Ending.FATAL, None),
        ("Out of Credits Add credits to keep using Amp.", Ending.FATAL, None),
        ("Out of Credits Add credits to keep using Amp, or wait until the next hour starts for more free usage.", Ending.USAGE_LIMIT, None),
        ("No Usage Available Your included usage is at its monthly limit, and no paid credits are available.", Ending.FATAL, None),
        ("Low Credit Balance Your Amp credit balance is low.", Ending.FATAL, None),
        ("Usage Quota Exceeded You've exceeded your usage quota of 10", Ending.USAGE_LIMIT, None),
        ("You've exceeded your usage limit of 10", Ending.USAGE_LIMIT, None),
        ("Rate limit exceeded. Try again shortly.", Ending.USAGE_LIMIT, None),
        ("Model Provider Overloaded Try again in a few seconds.", Ending.FAILED, Cause.OVERLOADED),
        ("Model Stream Timed Out The model stopped sending data.", Ending.FAILED, None),
        ("Network Error Cannot reach Amp servers.", Ending.FAILED, None),
        ("Context Limit Reached This conversation has reached the context window limit.", Ending.FAILED, Cause.CONTEXT_WINDOW),
        ("Model Refused This Thread", Ending.FAILED, Cause.REFUSAL),
        ("OpenAI Safety Check Blocked This Thread", Ending.FAILED, Cause.REFUSAL),
        ("Turn Limit Reached", Ending.FAILED, Cause.TURNS),
        ("Model Not Found", Ending.FATAL, None),
        ("User cancelled (SIGINT/SIGTERM)", Ending.FAILED, None),
        ("", Ending.FAILED, None),
    ],
)
def test_exit_code_0_behind_an_error_is_the_failure_that_the_error_names(error: str, ending: Ending, cause: Cause | None) -> None:
    report = read([failed(error)], ended(0))[1]
    assert classify(ended(0), report, changed=True)[0] is ending
    assert report.cause is cause


def test_free_usage_comes_back_with_the_next_hour() -> None:
    report = read([failed("Out of Credits Add credits, or wait until the next hour starts for more free usage.")], ended(0))[1]
    assert report.limit is not None
    assert report.limit.resets_at == NOW - NOW % 3600 + 3600


def test_a_login_that_nobody_answers_ends_the_wait_at_once() -> None:
    parser = parser_of("amp")
    first = recorded("amp", "no-key")[0]
    assert isinstance(next(iter(parser.feed(first))), FinalResult)
    assert parser.result_seen
    run = RunReport(ended_by=EndedBy.AFTER_RESULT, signal=15)
    ending, reason = classify(run, parser.finish(run, NOW), changed=False)
    assert ending is Ending.FATAL
    assert "amp login" in reason


def test_an_agent_that_speaks_of_a_missing_key_goes_on() -> None:
    words = "No API key found. Starting login flow..."
    parser = parser_of("amp")
    for each in (line(type="system", subtype="init"), words.encode(), assistant({"type": "text", "text": words})):
        parser.feed(each)
        assert not parser.result_seen


def test_the_tokens_of_all_lines_are_added_up_and_shown_at_the_end() -> None:
    events, report = read([assistant({"type": "text", "text": "a"}), assistant({"type": "text", "text": "b"}), DONE], ended())
    used = Usage(input_tokens=200, output_tokens=20, cache_read_tokens=80, cache_write_tokens=14)
    assert report.usage == used
    assert events[-1] == FinalResult(usage=used, is_error=False, text="Done.")


def test_the_final_words_are_those_of_the_result() -> None:
    events, report = read([assistant({"type": "text", "text": "on my way"}), DONE], ended())
    assert report.final_words == "Done."
    assert [event.text for event in events if isinstance(event, Text)] == ["on my way"]


def test_tools_that_need_approval_are_named_as_denied() -> None:
    words = "The following tools require user approval, which is not supported in stream JSON mode: Bash, edit_file"
    assert read([failed(words)], ended(0))[1].denied == ("Bash", "edit_file")


@pytest.mark.parametrize(("is_error", "denied"), [(True, ("Bash",)), (False, ())])
def test_a_tool_that_a_rule_rejected_is_named_as_denied(*, is_error: bool, denied: tuple[str, ...]) -> None:
    use = assistant({"type": "tool_use", "id": "t", "name": "Bash", "input": {"cmd": "rm x"}})
    lines = [use, tool_result("Tool execution rejected by user: rule", is_error=is_error), DONE]
    assert read(lines, ended())[1].denied == denied


def test_its_mode_is_told_where_others_tell_their_model() -> None:
    events, report = read([line(type="system", subtype="init", session_id="T-1", agent_mode="high")], ended())
    assert events == [Progress(text="conversation T-1 in the mode high")]
    assert report.model is None


@pytest.mark.parametrize(
    ("words", "run", "ending"),
    [
        (b"", ended(0, stderr="Error: Rate limit exceeded. Try again shortly.\n"), Ending.USAGE_LIMIT),
        (b"", ended(0, stderr="Error: Out of Credits Add credits to keep using Amp.\n"), Ending.FATAL),
        (b"Done.", ended(0, stderr="Error: a tool wrote this\n"), Ending.OK),
        (b"", ended(1, stderr="Error: error: unknown option '--x'\n"), Ending.FATAL),
    ],
)
def test_as_plain_text_an_error_is_one_although_it_ends_with_0(words: bytes, run: RunReport, ending: Ending) -> None:
    parser = amp.parser(AgentSpec(type="amp", command="amp", format="text"))
    parser.feed(words)
    assert classify(run, parser.finish(run, NOW), changed=True)[0] is ending
