"""What is read from a stream of the GitHub Copilot CLI, whose exit code 0 means little, and from the file in which it leaves its tokens."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import NOW, ended, parser_of, stderr_of
from recorded import read as read_of
from recorded import recorded as recorded_of

from ralphloop.agents import copilot
from ralphloop.agents.copilot_stream import LARGEST_USAGE_FILE
from ralphloop.core.endings import classify
from ralphloop.core.messages import Event, Progress, Text, ToolEnd
from ralphloop.core.model import AgentSpec, Cause, Ending, RunReport, StreamReport, Usage
from ralphloop.core.ports import Order

SPEC = AgentSpec(type="copilot", command="copilot")


def recorded(name: str) -> list[bytes]:
    return recorded_of("copilot", name)


def read(lines: Iterable[bytes], run: RunReport) -> tuple[list[Event], StreamReport]:
    return read_of("copilot", lines, run)


def line(kind: str, *, agent: str = "", **data: Any) -> bytes:
    return json.dumps({"type": kind, "data": data, **({"agentId": agent} if agent else {})}).encode()


def said(words: str, **fields: Any) -> bytes:
    return line("assistant.message", **{"content": words, "model": "gpt-5", **fields})


def result(exit_code: int = 0) -> bytes:
    return json.dumps({"type": "result", "sessionId": "s", "exitCode": exit_code}).encode()


def error(kind: str, message: str, **fields: Any) -> bytes:
    return line("session.error", errorType=kind, message=message, **fields)


# --- where it ends ---


def test_the_result_is_seen_at_once_and_only_there() -> None:
    parser = parser_of("copilot")
    seen = [(list(parser.feed(each)), parser.result_seen)[1] for each in recorded("background-async-tool")]
    assert seen == [False] * (len(seen) - 1) + [True]


@pytest.mark.parametrize("name", ["native-sigterm", "native-sigterm-group", "native-sigterm-model"])
def test_an_interrupted_run_is_not_good_although_its_exit_code_is_0(name: str) -> None:
    ending, reason = classify(ended(), read(recorded(name), ended())[1], changed=True)
    assert ending is Ending.FAILED
    assert reason.startswith("it was interrupted")


@pytest.mark.parametrize(
    "lines", [[said("x")], [said("x"), result(1)], [said("x"), error("query", "boom"), result()], [said("x"), line("abort"), result()]]
)
def test_exit_code_0_alone_proves_nothing(lines: list[bytes]) -> None:
    assert classify(ended(), read(lines, ended())[1], changed=True)[0] is Ending.FAILED


def test_retries_that_were_overcome_are_no_failure() -> None:
    _, report = read(recorded("err-429-then-ok"), ended())
    assert (report.error, report.limit) == (None, None)


def test_a_refusal_that_is_dressed_as_a_message_is_not_said_by_the_agent() -> None:
    events, report = read(recorded("messages-refusal"), ended())
    assert not any(isinstance(event, Text) for event in events)
    assert (report.final_words, report.cause) == ("", Cause.REFUSAL)


def test_the_cap_of_autopilot_is_named_although_the_exit_code_is_0() -> None:
    assert read(recorded("autopilot"), ended())[1].cause is Cause.TURNS


# --- sub-agents, and the agent's own last words ---


def test_the_error_of_a_sub_agent_is_not_that_of_the_run() -> None:
    _, report = read(recorded("subagent-fail"), ended())
    assert report.error is None
    assert classify(ended(), report, changed=False)[0] is Ending.OK
    stopped = json.loads(error("rate_limit", "Rate limit reached")) | {"agentId": "a"}
    assert read([json.dumps(stopped).encode(), said("fine"), result()], ended())[1].limit is None


@pytest.mark.parametrize("mark", [{"agent": "a"}, {"parentToolCallId": "call_1"}])
def test_the_words_of_sub_agents_are_not_the_agents_own(mark: dict[str, str]) -> None:
    events, report = read([said("mine"), said("<promise>COMPLETE</promise>", **mark), result()], ended())
    assert report.final_words == "mine"
    assert [event.text for event in events if isinstance(event, Text)] == ["mine"]
    assert Progress(text="sub-agent: <promise>COMPLETE</promise>") in events


def test_the_final_words_are_those_of_the_last_message_that_a_model_wrote() -> None:
    lines = [said("first end"), said("written by the client", model=None), said("  "), said("second end"), said(""), result()]
    assert read(lines, ended())[1].final_words == "second end"


@pytest.mark.parametrize(("name", "words"), [("background-async-tool", "second end"), ("subagent-background", "after the notification")])
def test_words_after_work_in_the_background_replace_those_before_it(name: str, words: str) -> None:
    assert read(recorded(name), ended())[1].final_words == words


def test_in_autopilot_the_last_words_are_those_given_to_the_tool_that_ends_it() -> None:
    assert read(recorded("autopilot-complete"), ended())[1].final_words == "All done here"


def test_neither_pieces_nor_thoughts_nor_outputs_nor_prompts_are_the_agents_words() -> None:
    claim = "<promise>COMPLETE</promise>"
    lines = [
        line("assistant.message_delta", deltaContent=claim),
        line("assistant.reasoning", content=claim),
        line("tool.execution_complete", toolCallId="t", success=True, result={"content": claim}),
        line("user.message", content=claim),
        line("system.notification", content=claim),
    ]
    assert read(lines, ended(1))[1].final_words == ""


# --- tools, denials, questions ---


@pytest.mark.parametrize(
    ("name", "denied"),
    [("perm-none", ("bash", "create")), ("perm-write-deny-shell", ("bash",)), ("subagent-deny-shell", ("bash",)), ("tool-fail", ("view",))],
)
def test_a_denial_is_recognised_and_the_run_ends_well(name: str, denied: tuple[str, ...]) -> None:
    _, report = read(recorded(name), ended())
    assert report.denied == denied
    assert classify(ended(), report, changed=False)[0] is Ending.OK


def test_a_denial_of_a_tool_whose_beginning_was_not_seen_is_one_all_the_same() -> None:
    assert read([line("tool.execution_complete", toolCallId="t", success=False, error={"code": "denied"})], ended())[1].denied == ("a tool",)


def test_a_question_that_nobody_can_answer_is_recognised() -> None:
    assert read(recorded("question"), ended())[1].question == "Which?"


@pytest.mark.parametrize(
    ("fields", "failed"),
    [
        ({"success": True, "shellExecution": {"exitCode": 0}}, False),
        ({"success": True, "shellExecution": {"exitCode": 3}}, True),
        ({"success": True}, False),
        ({"success": False, "error": {"message": "no"}}, True),
    ],
)
def test_a_command_that_failed_is_an_error_although_its_tool_succeeded(fields: dict[str, Any], failed: bool) -> None:
    events, _ = read([line("tool.execution_complete", toolCallId="t", **fields)], ended())
    assert [event.is_error for event in events if isinstance(event, ToolEnd)] == [failed]


def test_a_failed_call_is_shown_in_its_own_words_and_not_in_json() -> None:
    events, _ = read([line("model.call_failure", statusCode=503, errorMessage='{"message":"Overloaded","code":"x"}')], ended())
    assert events == [Progress(text="API error 503: Overloaded")]


# --- limits and what cannot be helped; the wordings of the service itself are from the client's own texts ---


@pytest.mark.parametrize(
    ("kind", "code", "message"),
    [
        ("rate_limit", "user_weekly_rate_limited", "You've reached your weekly rate limit. Please wait for your limit to reset."),
        ("rate_limit", "user_model_rate_limited", "You've hit the rate limit for this model."),
        ("rate_limit", "", "429 Rate limit reached"),
    ],
)
def test_a_rate_limit_is_a_usage_limit(kind: str, code: str, message: str) -> None:
    _, report = read([error(kind, message, errorCode=code), result(1)], ended(1))
    assert report.limit is not None
    assert report.fatal is None


def test_the_end_of_a_rate_limit_is_read_as_the_client_words_it() -> None:
    message = "You've hit your session rate limit. Please wait for your limit to reset (current limit resets in ~5m)."
    limit = read([error("rate_limit", message), result(1)], ended(1))[1].limit
    assert limit is not None
    assert limit.resets_at is not None
    assert NOW + 5 * 60 <= limit.resets_at <= NOW + 6 * 60


def test_the_seconds_that_it_waited_before_it_gave_up_are_not_taken_for_the_end_of_a_limit() -> None:
    limit = read(recorded("err-429"), ended(1))[1].limit
    assert limit is not None
    assert limit.resets_at is None


@pytest.mark.parametrize(
    ("kind", "code", "message"),
    [
        ("quota", "quota_exceeded", "You've run out of your included AI credits for the month."),
        ("quota", "", "You've run out of your included AI credits for the month."),
        ("quota", "additional_spend_limit_reached", "You've reached your additional usage limit for your plan."),
        ("rate_limit", "", "429 You exceeded your current quota, please check your plan and billing details."),
    ],
)
def test_a_quota_that_is_used_up_is_paid_for_and_not_waited_for(kind: str, code: str, message: str) -> None:
    _, report = read([error(kind, message, errorCode=code), result(1)], ended(1))
    assert report.limit is None
    assert report.fatal is not None
    assert "add credit" in report.fatal


def test_the_spending_limit_of_a_session_is_a_budget_and_the_next_session_has_its_own() -> None:
    message = "You've reached the spending limit for this session. Start a new session to continue."
    _, report = read([error("quota", message, errorCode="session_quota_exceeded"), result(1)], ended(1))
    assert (report.cause, report.fatal) == (Cause.BUDGET, None)


@pytest.mark.parametrize("name", ["err-context", "err-prompt-budget"])
def test_a_full_context_window_is_named_whoever_noticed_it(name: str) -> None:
    assert read(recorded(name), ended(1))[1].cause is Cause.CONTEXT_WINDOW


@pytest.mark.parametrize("words", ["You've hit your rate limit.", "Authentication failed", "Model 'x' not found on provider", "503 529"])
def test_what_the_agent_merely_writes_is_neither_a_limit_nor_fatal(words: str) -> None:
    _, report = read([said(words), line("tool.execution_complete", toolCallId="t", result={"content": words}), result()], ended())
    assert (report.limit, report.fatal, report.error, report.cause) == (None, None, None, None)


def test_numbers_in_an_error_are_not_taken_for_its_status() -> None:
    assert read([error("query", "500 after 15.29 s: port 5031, line 529", statusCode=500), result(1)], ended(1))[1].cause is None


def test_every_fatal_reason_says_what_to_do() -> None:
    for name in (
        "err-401",
        "err-402-quota",
        "err-404-model",
        "no-key",
        "classic-token",
        "no-model",
        "bad-flag",
        "bad-flag-with-prompt-on-stdin",
        "bad-format",
        "bad-session",
    ):
        fatal = read(recorded(name), ended(1, stderr=stderr_of("copilot", name)))[1].fatal
        assert fatal is not None
        assert fatal.endswith((", then `ralph resume`", ", then `ralph run --new`"))


@pytest.mark.parametrize(
    ("stderr", "remedy"),
    [
        ("Error: Authentication failed with provider at URL (HTTP 401).\n  Check your COPILOT_PROVIDER_API_KEY, …\n", "the key of your own provider"),
        ("Error: Model 'x' not found on provider at URL (HTTP 404).\n  Check that the model is available on your provider.\n", "agent.model"),
        ("Error: No authentication information found.\n\nTo log in:\n  • Run 'gh auth login'\n", "/login"),
    ],
)
def test_in_text_mode_what_cannot_be_helped_is_fatal_too(stderr: str, remedy: str) -> None:
    parser = copilot.parser(AgentSpec(type="copilot", command="copilot", format="text"))
    fatal = parser.finish(ended(1, stderr=stderr), NOW).fatal
    assert fatal is not None
    assert remedy in fatal


# --- the file with the tokens ---


def usage_of(directory: Path) -> Usage:
    parser = copilot.parser(SPEC, Order(prompt="", prompt_file=directory / "prompt.md"))
    for each in recorded("text"):
        list(parser.feed(each))
    return parser.finish(ended(), NOW).usage


def metrics(**models: dict[str, Any]) -> bytes:
    return json.dumps(
        {"totalPremiumRequestCost": 0, "modelMetrics": {name: {"requests": {"count": 2}, "usage": used} for name, used in models.items()}}
    ).encode()


ONE = {"inputTokens": 157, "outputTokens": 30, "cacheReadTokens": 50, "cacheWriteTokens": 7, "reasoningTokens": 4}


def test_the_tokens_of_all_models_are_in_the_file_and_what_was_cached_is_not_counted_twice(tmp_path: Path) -> None:
    (tmp_path / copilot.USAGE_FILE).write_bytes(metrics(one=ONE, two={"inputTokens": 100, "outputTokens": 1}))
    assert usage_of(tmp_path) == Usage(input_tokens=200, output_tokens=31, cache_read_tokens=50, cache_write_tokens=7)


def test_the_client_is_told_to_leave_its_tokens_where_they_are_read(tmp_path: Path) -> None:
    argv = copilot.invocation(SPEC, Order(prompt="", prompt_file=tmp_path / "prompt.md")).argv
    Path(argv[argv.index("--usage-output-file") + 1]).write_bytes(metrics(one=ONE))
    assert usage_of(tmp_path).input_tokens == 100


def test_more_cached_tokens_than_tokens_are_no_negative_ones(tmp_path: Path) -> None:
    (tmp_path / copilot.USAGE_FILE).write_bytes(metrics(one={"inputTokens": 5, "cacheReadTokens": 10}))
    assert usage_of(tmp_path) == Usage(cache_read_tokens=10)


def test_without_the_file_nothing_is_known_of_tokens(tmp_path: Path) -> None:
    assert usage_of(tmp_path) == Usage()
    assert usage_of(tmp_path / "gone") == Usage()
    assert read(recorded("text"), ended())[1].usage == Usage()


def test_neither_a_fifo_nor_a_link_nor_a_directory_in_its_place_is_waited_for_or_followed(tmp_path: Path) -> None:
    place = tmp_path / copilot.USAGE_FILE
    os.mkfifo(place)
    assert usage_of(tmp_path) == Usage()
    place.unlink()
    (tmp_path / "elsewhere").write_bytes(metrics(one=ONE))
    place.symlink_to(tmp_path / "elsewhere")
    assert usage_of(tmp_path) == Usage()
    place.unlink()
    place.mkdir()
    assert usage_of(tmp_path) == Usage()


def test_a_huge_file_in_its_place_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / copilot.USAGE_FILE).open("wb") as huge:
        huge.write(metrics(one=ONE))
        huge.truncate(64 * LARGEST_USAGE_FILE)
    tracemalloc.start()
    try:
        assert usage_of(tmp_path) == Usage()
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * LARGEST_USAGE_FILE


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["usage", "inputTokens", "cacheReadTokens", "x"]), inner, max_size=3),
    max_leaves=6,
)


@given(content=st.binary(max_size=50) | anything.map(lambda found: json.dumps({"modelMetrics": found}).encode()))
def test_whatever_the_file_holds_it_is_survived(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("usage")
    (directory / copilot.USAGE_FILE).write_bytes(content)
    used = usage_of(directory)
    assert min(used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens) >= 0


def test_a_bottomless_file_is_survived(tmp_path: Path) -> None:
    (tmp_path / copilot.USAGE_FILE).write_bytes(b'{"modelMetrics":' * 50_000)
    assert usage_of(tmp_path) == Usage()
