"""What is read from a stream of opencode, which has no last line, keeps its silences to itself, and ends with 0 when it was not allowed to go on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from recorded import NOW, ended, parser_of, stderr_of
from recorded import read as read_of
from recorded import recorded as recorded_of

from ralphloop.agents import opencode
from ralphloop.core.endings import classify
from ralphloop.core.messages import Event, FinalResult, Progress, Text, Todo, TodoItem, ToolEnd, ToolStart
from ralphloop.core.model import AgentSpec, Cause, EndedBy, Ending, RunReport, StreamReport, Usage

SECOND = 1000


def recorded(name: str) -> list[bytes]:
    return recorded_of("opencode", name)


def read(lines: Iterable[bytes], run: RunReport) -> tuple[list[Event], StreamReport]:
    return read_of("opencode", lines, run)


def line(kind: str, timestamp: float = NOW * SECOND, **part: Any) -> bytes:
    return json.dumps({"type": kind, "timestamp": timestamp, "sessionID": "ses_1", "part": {"messageID": "msg_1", **part}}).encode()


def start(**fields: Any) -> bytes:
    return line("step_start", **fields)


def said(words: str, **fields: Any) -> bytes:
    return line("text", text=words, **fields)


def finish(reason: str = "stop", **fields: Any) -> bytes:
    return line("step_finish", reason=reason, **fields)


def tool(name: str, **state: Any) -> bytes:
    return line("tool_use", tool=name, callID="call_1", state={"status": "completed", "input": {}, **state})


def error(name: str, message: str, **data: Any) -> bytes:
    return json.dumps({"type": "error", "sessionID": "ses_1", "error": {"name": name, "data": {"message": message, **data}}}).encode()


def logged(words: str, stamp: str = "2026-11-16T16:53:20.120Z") -> str:
    """At `NOW`, unless another time is given."""
    return f'timestamp={stamp} level=ERROR run=1 message="stream error" modelID=m error.error={json.dumps(words)}\n'


def timed_out(stderr: str, by: EndedBy = EndedBy.IDLE_TIMEOUT) -> RunReport:
    return RunReport(ended_by=by, signal=15, stderr_tail=stderr)


# --- where it ends ---


@pytest.mark.parametrize("name", ["text", "compaction", "err-401", "finish-length"])
def test_no_step_starts_the_countdown_because_more_may_follow_the_last(name: str) -> None:
    parser = parser_of("opencode")
    for each in recorded(name):
        list(parser.feed(each))
        assert not parser.result_seen
        assert not parser.background


def test_a_run_ends_well_where_its_last_step_stopped() -> None:
    _, report = read(recorded("tool-ok"), ended())
    assert report.result_seen
    assert classify(ended(), report, changed=False)[0] is Ending.OK


@pytest.mark.parametrize("reason", ["tool-calls", "unknown", "content-filter", "", "of-the-future"])
def test_exit_code_0_is_no_success_where_the_last_step_did_not_stop(reason: str) -> None:
    assert classify(ended(), read([start(), said("x"), finish(reason)], ended())[1], changed=True)[0] is Ending.FAILED


def test_exit_code_0_is_no_success_where_work_began_after_a_stop() -> None:
    lines = [start(), said("x"), finish(), start(messageID="msg_2"), said("y", messageID="msg_2")]
    _, report = read(lines, ended())
    assert not report.result_seen
    assert classify(ended(), report, changed=True)[0] is Ending.FAILED


def test_an_answer_that_was_cut_off_is_a_failure_with_that_cause_although_the_exit_code_is_0() -> None:
    _, report = read(recorded("finish-length"), ended())
    assert report.cause is Cause.OUTPUT_LIMIT
    assert classify(ended(), report, changed=True)[0] is Ending.FAILED


def test_an_error_that_was_overcome_is_not_why_a_run_was_killed_later() -> None:
    overcome = [error("ContextOverflowError", "too long"), start(), said("summary"), finish(), start(), said("on I go")]
    _, report = read(overcome, ended(None, signal=9))
    assert (report.error, report.cause) == (None, None)


def test_an_error_that_was_overcome_explains_the_exit_code_that_it_left() -> None:
    _, report = read(recorded("err-context-once"), ended(1))
    assert report.cause is Cause.CONTEXT_WINDOW
    assert report.result_seen


# --- the agent's own last words ---


def test_the_texts_of_the_last_message_are_the_final_words() -> None:
    lines = [start(), said("before"), finish("tool-calls"), *(said(each, messageID="msg_2") for each in ("one", "two")), finish(messageID="msg_2")]
    assert read(lines, ended())[1].final_words == "one\ntwo"


def test_words_beside_a_tool_are_not_the_final_ones_where_the_last_message_has_none() -> None:
    lines = [start(), said("<promise>COMPLETE</promise>"), tool("bash"), finish("tool-calls"), start(messageID="msg_2"), finish(messageID="msg_2")]
    assert read(lines, ended())[1].final_words == ""


def test_a_summary_before_a_synthetic_prompt_is_not_the_final_words() -> None:
    go_on = said("Continue if you have next steps", messageID="msg_2", synthetic=True)
    summary = [start(), said("<promise>COMPLETE</promise>"), finish(), go_on]
    events, report = read(summary, ended())
    assert report.final_words == ""
    assert not report.result_seen
    assert events[-1] == Progress(text="Continue if you have next steps")
    assert read([*summary, said("mine", messageID="msg_3"), finish(messageID="msg_3")], ended())[1].final_words == "mine"


def test_what_a_sub_agent_reports_is_output_of_a_tool_and_not_said() -> None:
    events, report = read(recorded("subagent"), ended())
    assert [event.text for event in events if isinstance(event, Text)] == ["delegating", "main final words"]
    assert any("SUB RESULT" in event.output for event in events if isinstance(event, ToolEnd))
    assert report.final_words == "main final words"


def test_messages_without_an_id_are_not_taken_for_one_message() -> None:
    assert read([said("one", messageID=None), said("two", messageID=None)], ended(1))[1].final_words == "two"


# --- tools, denials, questions ---


def test_a_rejected_permission_that_stopped_the_run_is_the_reason_of_its_failure_although_the_exit_code_is_0() -> None:
    ending, reason = classify(ended(), read(recorded("perm-ask-bash"), ended())[1], changed=True)
    assert (ending, reason) == (Ending.FAILED, "it stopped when it was not allowed to use bash")


@pytest.mark.parametrize(
    ("name", "denied"),
    [
        ("perm-ask-bash", "bash"),
        ("perm-deny-bash", "bash"),
        ("perm-deny-rule-auto", "bash"),
        ("denied-continue", "bash"),
        ("subagent-ask", "a tool of a sub-agent"),
    ],
)
def test_a_denial_is_recognised_in_each_of_its_forms(name: str, denied: str) -> None:
    assert read(recorded(name), ended())[1].denied == (denied,)


@pytest.mark.parametrize("name", ["perm-deny-bash", "perm-deny-rule-auto", "denied-continue", "subagent-ask"])
def test_a_run_that_went_on_after_a_denial_ends_well(name: str) -> None:
    assert classify(ended(), read(recorded(name), ended())[1], changed=False)[0] is Ending.OK


def test_a_tool_that_does_not_exist_is_no_denial_and_is_called_by_the_name_that_was_asked_for() -> None:
    events, report = read([tool("invalid", input={"tool": "frobnicate", "error": "unavailable"}, output="no such tool")], ended())
    assert events == [
        ToolStart(tool_id="call_1", name="frobnicate", summary="frobnicate"),
        ToolEnd(tool_id="call_1", output="no such tool", is_error=True),
    ]
    assert report.denied == ()


def test_a_question_that_nobody_can_answer_is_recognised() -> None:
    assert "question" in read(recorded("question"), ended())[1].question


@pytest.mark.parametrize(
    ("state", "failed"),
    [
        ({"metadata": {"exit": 0}}, False),
        ({"metadata": {"exit": 3}}, True),
        ({"metadata": {"exit": None}}, True),
        ({"metadata": {}}, False),
        ({"status": "error", "error": "File not found"}, True),
    ],
)
def test_a_command_that_failed_or_took_too_long_is_an_error_although_its_status_is_completed(state: dict[str, Any], failed: bool) -> None:
    events, _ = read([tool("bash", **state)], ended())
    assert [event.is_error for event in events if isinstance(event, ToolEnd)] == [failed]


def test_a_file_that_is_written_is_shown_by_its_path() -> None:
    assert ToolStart(tool_id="call_8433a5bbda", name="write", summary="write /project/new.txt") in read(recorded("edit"), ended())[0]


def test_the_agents_own_list_is_an_event() -> None:
    todos = [{"content": "Read", "status": "completed"}, {"content": "Write", "status": "in_progress", "priority": "low"}]
    events, _ = read([tool("todowrite", input={"todos": todos})], ended())
    assert Todo(items=(TodoItem(text="Read", status="completed"), TodoItem(text="Write", status="in_progress"))) in events


# --- tokens and cost ---


def spent(cost: Any, **tokens: Any) -> bytes:
    return finish(cost=cost, tokens={"input": 100, "output": 10, "reasoning": 5, "cache": {"read": 40, "write": 7}, **tokens})


def test_the_tokens_and_the_cost_of_all_steps_are_added_up() -> None:
    used = read([spent(0.5), spent(0.25, output=1)], ended())[1].usage
    assert used == Usage(cost_usd=0.75, input_tokens=200, output_tokens=21, cache_read_tokens=80, cache_write_tokens=14)


@pytest.mark.parametrize("cost", [0, 0.0, None, -1, "0.5", 10**400])
def test_a_cost_of_zero_is_not_known(cost: Any) -> None:
    used = read([spent(cost)], ended())[1].usage
    assert used.cost_usd is None
    assert used.has_tokens


def test_what_was_used_is_known_of_a_run_that_was_killed_too() -> None:
    _, report = read([start(), spent(0.5)], ended(None, signal=9))
    assert (report.usage.cost_usd, report.usage.input_tokens) == (0.5, 100)


# --- what only the log tells ---


def test_an_idle_time_out_with_a_rate_limit_in_the_log_is_a_usage_limit_with_its_end() -> None:
    run = timed_out(logged("AI_APICallError: Rate limit reached, please try again in 20m."))
    _, report = read([], run)
    assert report.limit is not None
    assert report.limit.text == "Rate limit reached, please try again in 20m."
    assert report.limit.resets_at is not None
    assert NOW + 20 * 60 <= report.limit.resets_at <= NOW + 21 * 60
    assert classify(run, report, changed=False)[0] is Ending.USAGE_LIMIT


@pytest.mark.parametrize("by", [EndedBy.IDLE_TIMEOUT, EndedBy.TOTAL_TIMEOUT])
def test_a_recorded_wait_for_a_rate_limit_is_recognised_once_it_runs_into_a_time_out(by: EndedBy) -> None:
    run = timed_out(stderr_of("opencode", "err-429-retry-after-3600-logs"), by)
    assert read(recorded("err-429-retry-after-3600-logs"), run)[1].limit is not None


def test_a_rate_limit_that_was_overcome_is_not_why_a_later_step_hangs() -> None:
    run = timed_out(logged("AI_APICallError: Rate limit reached"))
    went_on = [start(timestamp=(NOW + 60) * SECOND), said("going on")]
    assert read(went_on, run)[1].limit is None
    assert classify(run, read(went_on, run)[1], changed=True)[0] is Ending.FAILED


def test_a_rate_limit_that_comes_after_a_summary_is_recognised() -> None:
    summary = [start(timestamp=(NOW - 60) * SECOND), said("summary"), finish(), said("Continue", messageID="msg_2", synthetic=True)]
    assert read(summary, timed_out(logged("AI_APICallError: Rate limit reached")))[1].limit is not None


def test_a_rate_limit_in_the_log_of_a_run_that_came_to_a_good_end_is_no_limit() -> None:
    _, report = read(recorded("err-429-then-ok"), ended(stderr=logged("AI_APICallError: Rate limit reached")))
    assert (report.limit, report.error) == (None, None)


@pytest.mark.parametrize("stamp", ["", "yesterday", "9999999-01-01", "2026-11-16T25:00:00Z"])
def test_a_time_in_the_log_that_cannot_be_read_is_a_time_long_ago(stamp: str) -> None:
    assert read([start()], timed_out(logged("AI_APICallError: Rate limit reached", stamp)))[1].limit is None


@pytest.mark.parametrize(
    "words", ['error.error="', "level=ERROR error=", 'timestamp=x level=ERROR error="\\', 'timestamp=x level=ERROR error="\\uD83D"']
)
def test_a_log_line_that_is_cut_off_is_survived(words: str) -> None:
    repr(read([], timed_out(words))[1]).encode()
    repr(read([error("UnknownError", "?")], ended(1, stderr=words))[1]).encode()


def test_an_unknown_model_that_only_the_log_names_is_fatal() -> None:
    name = "bad-model-logs"
    fatal = read(recorded(name), ended(1, stderr=stderr_of("opencode", name)))[1].fatal
    assert fatal is not None
    assert fatal.startswith("ProviderModelNotFoundError: Model not found: fake/nope: set agent.model to one that `opencode models` lists")
    assert read(recorded(name), ended(1))[1].fatal is None


@pytest.mark.parametrize("words", ["Rate limit reached", "ProviderModelNotFoundError", "Incorrect API key provided"])
def test_what_the_agent_merely_writes_is_neither_a_limit_nor_fatal(words: str) -> None:
    lines = [start(), said(words), tool("bash", output=words), finish()]
    _, report = read(lines, ended())
    assert (report.limit, report.fatal, report.error) == (None, None, None)
    _, report = read(lines, ended(1))
    assert (report.limit, report.fatal) == (None, None)


def test_the_end_of_a_limit_is_read_from_the_header_that_an_error_quotes() -> None:
    limit = read([error("APIError", "Too Many Requests", statusCode=429, responseHeaders={"retry-after": "3600"})], ended(1))[1].limit
    assert limit is not None
    assert limit.resets_at is not None
    assert NOW + 3600 <= limit.resets_at <= NOW + 3660


@pytest.mark.parametrize("words", ["insufficient_quota", "You exceeded your current quota, please check your plan and billing details."])
def test_a_quota_that_is_used_up_is_paid_for_and_not_waited_for(words: str) -> None:
    fatal = read([error("APIError", words, statusCode=429)], ended(1))[1].fatal
    assert fatal is not None
    assert "add credit" in fatal


def test_every_fatal_reason_says_what_to_do() -> None:
    for name in ("err-401", "err-403", "err-404-model", "no-provider", "bad-flag", "bad-config", "bad-session", "bad-model-logs"):
        fatal = read(recorded(name), ended(1, stderr=stderr_of("opencode", name)))[1].fatal
        assert fatal is not None
        assert fatal.endswith((", then `ralph resume`", ", then `ralph run --new`"))
        assert fatal.isprintable()


def test_an_error_is_the_end_and_says_so() -> None:
    events, _ = read([error("APIError", "boom", statusCode=500)], ended(1))
    assert events == [FinalResult(usage=Usage(), is_error=True, text="boom")]


# --- plain text ---


def text_report(run: RunReport, *lines: bytes) -> StreamReport:
    parser = opencode.parser(AgentSpec(type="opencode", command="opencode", format="text"))
    for each in lines:
        parser.feed(each)
    return parser.finish(run, NOW)


def test_in_text_mode_a_failure_is_named_by_the_log_and_not_by_the_last_bracket_of_its_json() -> None:
    stderr = logged("ProviderModelNotFoundError: Model not found: fake/nope.") + 'Error: {\n  "name": "UnknownError"\n}\n'
    fatal = text_report(ended(1, stderr=stderr)).fatal
    assert fatal is not None
    assert fatal.startswith("ProviderModelNotFoundError: Model not found: fake/nope: set agent.model")


def test_in_text_mode_a_failure_without_a_log_is_named_by_its_last_line() -> None:
    assert text_report(ended(1, stderr="\x1b[91m\x1b[1mError: \x1b[0mServer on fire\n")).error == "Error: Server on fire"


def test_in_text_mode_a_log_says_nothing_about_a_run_that_ended_well() -> None:
    report = text_report(ended(0, stderr=logged("AI_APICallError: Rate limit reached")), b"Done.")
    assert (report.final_words, report.error, report.limit) == ("Done.", None, None)


def test_in_text_mode_what_a_tool_prints_is_not_taken_for_a_refusal_to_begin() -> None:
    report = text_report(ended(1, stderr="Configuration is invalid\nError: boom\n"), b"I looked at the configuration.")
    assert (report.fatal, report.error) == (None, "Error: boom")


# --- where it never ends ---


def is_astray(lines: Iterable[bytes]) -> list[bool]:
    parser = parser_of("opencode")
    seen = []
    for each in lines:
        list(parser.feed(each))
        seen.append(parser.astray)
    return seen


def test_answers_that_break_off_one_after_the_other_lead_nowhere() -> None:
    assert is_astray([finish("unknown")] * 10) == [False] * 9 + [True]
    assert is_astray([error("ContextOverflowError", "too long"), start(), said("A summary"), finish()] * 10)[-4:] == [True] * 4


def test_work_in_between_begins_the_count_anew() -> None:
    assert not any(is_astray([*[finish("unknown")] * 9, tool("bash"), *[finish("unknown")] * 9]))
    assert not any(is_astray([tool("bash"), finish("tool-calls")] * 50))


def test_a_run_that_was_ended_because_it_led_nowhere_says_why() -> None:
    run = RunReport(ended_by=EndedBy.AFTER_RESULT, signal=15)
    ending, reason = classify(run, read([finish("unknown")] * 12, run)[1], changed=True)
    assert (ending, reason) == (Ending.FAILED, "it went round in circles: 10 answers of its provider broke off, one after the other")
