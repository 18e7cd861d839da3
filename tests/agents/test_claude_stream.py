"""What is read from a stream of Claude Code: the facts that must never be lost in it, and what must never be taken for one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from recorded import ended, parser_of
from recorded import read as read_of
from recorded import recorded as recorded_of

from ralphloop.agents import claude
from ralphloop.core.endings import classify
from ralphloop.core.messages import Event, LimitNotice, Progress, Text, Todo, TodoItem, ToolEnd, ToolStart, Unknown
from ralphloop.core.model import AgentSpec, EndedBy, Ending, RunReport, StreamReport, Usage


def recorded(name: str) -> list[bytes]:
    return recorded_of("claude", name)


def read(lines: Iterable[bytes], run: RunReport) -> tuple[list[Event], StreamReport]:
    return read_of("claude", lines, run)


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def result(**fields: Any) -> bytes:
    return line(**{"type": "result", "subtype": "success", "is_error": False, "result": "done", **fields})


def assistant(*content: Any, **fields: Any) -> bytes:
    return line(type="assistant", message={"content": list(content)}, **fields)


def test_of_several_results_the_cost_is_the_last_and_the_tokens_are_added_up() -> None:
    first = result(total_cost_usd=0.5, usage={"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 7})
    second = result(total_cost_usd=0.75, usage={"input_tokens": 20, "output_tokens": 2, "cache_creation_input_tokens": 3}, result="truly done")
    _, report = read([first, second], ended())
    assert report.usage == Usage(cost_usd=0.75, input_tokens=30, output_tokens=3, cache_read_tokens=7, cache_write_tokens=3)
    assert report.final_words == "truly done"


def test_the_words_of_sub_agents_are_not_the_agents_own() -> None:
    claim = {"type": "text", "text": "<promise>COMPLETE</promise>"}
    events, report = read([assistant({"type": "text", "text": "mine"}), assistant(claim, parent_tool_use_id="toolu_1")], ended(143))
    assert report.final_words == "mine"
    assert [event.text for event in events if isinstance(event, Text)] == ["mine"]


def test_neither_thinking_nor_tool_output_nor_echoed_prompts_are_the_agents_words() -> None:
    claim = "<promise>COMPLETE</promise>"
    lines = [
        assistant({"type": "thinking", "thinking": claim}),
        line(type="user", message={"content": [{"type": "tool_result", "tool_use_id": "t", "content": claim}]}),
        line(type="user", message={"content": claim}),
    ]
    assert read(lines, ended(143))[1].final_words == ""


def test_the_text_of_an_api_error_is_not_the_agents_words() -> None:
    words = {"type": "text", "text": "API Error: 500"}
    _, report = read([assistant(words, is_api_error_message=True, error="server_error"), result(is_error=True, result="API Error: 500")], ended(1))
    assert report.final_words == ""
    assert report.error == "API Error: 500"


def test_success_beside_is_error_is_an_error() -> None:
    assert read([result(subtype="success", is_error=True, result="API Error: 400 bad")], ended(0))[1].error == "API Error: 400 bad"


def test_an_error_subtype_is_an_error_even_without_is_error() -> None:
    assert read([line(type="result", subtype="error_during_execution", error="broken")], ended(0))[1].error == "error_during_execution: broken"


def test_a_stream_without_a_result_says_so() -> None:
    _, report = read(recorded("plain-text")[:-1], ended(0))
    assert not report.result_seen
    assert report.final_words == "Hello from the fake model."


def test_a_result_that_is_cut_off_is_no_result() -> None:
    *lines, last = recorded("plain-text")
    events, report = read([*lines, last[:-20]], ended(0))
    assert isinstance(events[-1], Unknown)
    assert not report.result_seen


def test_a_rejected_limit_is_no_limit_where_the_run_came_to_a_good_end() -> None:
    rejected = line(type="rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": 1794851537, "rateLimitType": "five_hour"})
    events, report = read([rejected, result()], ended())
    assert isinstance(events[0], LimitNotice)
    assert report.limit is None


def test_a_limit_that_was_lifted_again_is_not_why_a_run_failed() -> None:
    rejected = line(type="rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": 1794851537})
    allowed = line(type="rate_limit_event", rate_limit_info={"status": "allowed"})
    _, report = read([rejected, allowed, result(is_error=True, result="API Error: 500", api_error_status=500)], ended(1))
    assert report.limit is None


def test_a_limit_holds_where_the_client_died_of_it_without_a_result() -> None:
    rejected = line(type="rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": 1794851537, "rateLimitType": "seven_day"})
    limit = read([rejected], ended(1))[1].limit
    assert limit is not None
    assert (limit.resets_at, limit.text) == (1794851537.0, "the seven_day limit is reached")


@pytest.mark.parametrize("words", ["You've hit your 5-hour limit", "Invalid API key", "Not logged in", "Credit balance is too low"])
def test_what_the_agent_merely_writes_is_neither_a_limit_nor_fatal(words: str) -> None:
    _, report = read([assistant({"type": "text", "text": words}), result(result=words)], ended(0))
    assert (report.limit, report.fatal, report.error) == (None, None, None)


def test_an_api_error_that_was_overcome_is_not_why_a_run_failed_later() -> None:
    overcome = assistant({"type": "text", "text": "x"}, is_api_error_message=True, error="authentication_failed")
    went_on = assistant({"type": "text", "text": "I am back."})
    _, report = read([overcome, went_on, line(type="result", subtype="error_max_turns", is_error=True)], ended(1))
    assert report.fatal is None


@pytest.mark.parametrize(
    ("stderr", "remedy"),
    [
        ("--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons\n", "agent.permissions"),
        ("--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons\n", "IS_SANDBOX=1 into agent.env"),
        ("warning: x\nerror: unknown option '--no-such-flag'\n", "agent.flags"),
    ],
)
def test_a_client_that_refuses_to_begin_is_fatal_and_the_setting_is_named(stderr: str, remedy: str) -> None:
    fatal = read([], ended(1, stderr=stderr))[1].fatal
    assert fatal is not None
    assert remedy in fatal


def test_a_refusal_on_stderr_counts_only_where_the_client_never_began() -> None:
    stderr = "error: unknown option '--from-a-tool'\n"
    assert read([assistant({"type": "text", "text": "hello"})], ended(1, stderr=stderr))[1].fatal is None
    assert read([], ended(0, stderr=stderr))[1].fatal is None


def test_every_fatal_reason_says_what_to_do() -> None:
    for name in ("err-401", "err-404-model", "no-api-key", "stopfailure-hook"):
        fatal = read(recorded(name), ended(1))[1].fatal
        assert fatal is not None
        assert fatal.endswith((", then `ralph resume`", ", then `ralph run --new`"))


def test_plain_text_instead_of_a_stream_is_explained() -> None:
    error = read([b"Done!"], ended(0))[1].error
    assert error is not None
    assert "agent.flags" in error


def test_the_result_is_seen_at_once() -> None:
    parser = parser_of("claude")
    assert [bool(parser.feed(each)) and parser.result_seen for each in recorded("plain-text")] == [False, False, True]


def test_a_run_that_was_ended_after_its_result_came_to_a_good_end() -> None:
    run = RunReport(ended_by=EndedBy.AFTER_RESULT, signal=15)
    assert classify(run, read(recorded("plain-text"), run)[1], changed=False)[0] is Ending.OK


def test_the_agents_own_list_is_an_event() -> None:
    todos = [{"content": "Read", "status": "completed"}, {"content": "Write", "status": "in_progress", "activeForm": "Writing"}]
    events, _ = read([assistant({"type": "tool_use", "id": "t", "name": "TodoWrite", "input": {"todos": todos}})], ended())
    assert events[1] == Todo(items=(TodoItem(text="Read", status="completed"), TodoItem(text="Write", status="in_progress")))


@pytest.mark.parametrize(
    ("name", "given", "summary"),
    [
        ("Read", {"file_path": "/project/a.py", "limit": 10}, "Read /project/a.py"),
        ("Bash", {"description": "List files", "command": "ls\n  -la"}, "Bash ls -la"),
        ("Grep", {"pattern": "def .*", "path": ""}, "Grep def .*"),
        ("WebFetch", {"url": "https://example.org"}, "WebFetch https://example.org"),
        ("Mystery", {"input": 1}, "Mystery"),
        ("Bash", {"command": ["not", "text"]}, "Bash"),
    ],
)
def test_a_tool_is_summed_up_by_its_most_telling_input(name: str, given: dict[str, Any], summary: str) -> None:
    events, _ = read([assistant({"type": "tool_use", "id": "t", "name": name, "input": given})], ended())
    assert events == [ToolStart(tool_id="t", name=name, summary=summary)]


def test_a_summary_is_one_line_of_at_most_120_characters() -> None:
    command = "echo " + "wide " * 1000 + "\nsecond line"
    events, _ = read([assistant({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": command}})], ended())
    assert isinstance(events[0], ToolStart)
    assert len(events[0].summary) == 120
    assert events[0].summary.endswith("…")
    assert "\n" not in events[0].summary


def test_a_lone_surrogate_does_not_reach_those_who_write_utf8() -> None:
    line_with_half_a_pair = rb'{"type":"result","subtype":"success","is_error":false,"result":"half \ud83d a pair"}'
    assert read([line_with_half_a_pair], ended())[1].final_words == "half ? a pair"


def test_no_event_is_endless() -> None:
    megabytes = "x" * 5_000_000
    lines = [
        line(type="user", message={"content": [{"type": "tool_result", "tool_use_id": "t", "content": megabytes}]}),
        assistant({"type": "text", "text": megabytes}, parent_tool_use_id="t"),
        megabytes.encode(),
        result(result=megabytes),
    ]
    events, report = read(lines, ended())
    sizes = [len(event.output if isinstance(event, ToolEnd) else event.text if isinstance(event, Progress) else "") for event in events]
    assert max(sizes) <= 64 * 1024
    assert len(report.final_words) == 256 * 1024


# --- what was found by people who tried to break it ---

REJECTED = {"status": "rejected", "resetsAt": 1794851537, "rateLimitType": "five_hour"}


def test_work_that_goes_on_and_is_paid_for_is_not_limited() -> None:
    paid = line(type="rate_limit_event", rate_limit_info={**REJECTED, "overageStatus": "allowed", "isUsingOverage": True})
    events, report = read([paid], ended(None, signal=9))
    assert (events, report.limit) == ([], None)


def test_whoever_works_on_after_a_limit_was_announced_is_not_limited() -> None:
    announced = line(type="rate_limit_event", rate_limit_info=REJECTED)
    assert read([announced, assistant({"type": "text", "text": "I go on."})], ended(1))[1].limit is None


@pytest.mark.parametrize("by", [EndedBy.TOTAL_TIMEOUT, EndedBy.IDLE_TIMEOUT])
def test_an_announcement_alone_does_not_explain_why_a_run_was_ended(by: EndedBy) -> None:
    run = RunReport(ended_by=by, signal=15)
    assert read([line(type="rate_limit_event", rate_limit_info=REJECTED)], run)[1].limit is None
    assert read([line(type="rate_limit_event", rate_limit_info=REJECTED)], ended(None, signal=9))[1].limit is None


@pytest.mark.parametrize("resets_at", [1e300, -1, 4e9])
def test_a_reset_that_cannot_be_is_none(resets_at: float) -> None:
    limit = read([line(type="rate_limit_event", rate_limit_info={**REJECTED, "resetsAt": resets_at})], ended(1))[1].limit
    assert limit is not None
    assert limit.resets_at is None


@pytest.mark.parametrize("cost", [1e308, 2e6])
def test_a_cost_that_cannot_be_was_not_said(cost: float) -> None:
    assert read([result(total_cost_usd=cost)], ended())[1].usage.cost_usd is None


def test_tokens_of_two_who_speak_by_turns_are_counted_once_for_each_message() -> None:
    def block(speaker: str | None, number: int) -> bytes:
        used = {"input_tokens": 10, "output_tokens": 1}
        message = {"id": f"msg_{speaker}_{number}", "content": [{"type": "text", "text": "x"}], "usage": used}
        return line(type="assistant", parent_tool_use_id=speaker, message=message)

    lines = [block(speaker, 1) for _ in range(10) for speaker in (None, "toolu_1")]
    assert read(lines, ended(None, signal=9))[1].usage.input_tokens == 20


TEXT = AgentSpec(type="claude", command="claude", format="text")


def read_text(words: str, run: RunReport) -> StreamReport:
    parser = claude.parser(TEXT)
    for each in words.encode().splitlines():
        list(parser.feed(each))
    return parser.finish(run, 0.0)


def test_a_failure_in_text_is_what_the_client_reports_and_nothing_else() -> None:
    assert read_text("Credit balance is too low", ended(1)).fatal is not None
    limit = read_text("You've hit your 5-hour limit · resets 5:52pm (UTC)", ended(1)).limit
    assert limit is not None
    assert limit.resets_at is not None


@pytest.mark.parametrize(
    ("words", "run"),
    [
        ("The login form now says: Invalid API key.", ended(143)),
        ("The login form now says: Invalid API key.", ended(1)),
        ("Not logged in: that is what the page says now.", RunReport(ended_by=EndedBy.TOTAL_TIMEOUT, exit_code=143)),
        ("Not logged in: that is what the page says now.", ended(143)),
        ("I looked at the logs: limit reached, resets in 3 hours.", ended(1)),
        ("You've hit your limit\n" + "x" * 5000, ended(1)),
    ],
)
def test_what_the_agent_says_in_text_is_never_a_report(words: str, run: RunReport) -> None:
    report = read_text(words, run)
    assert (report.fatal, report.limit, report.cause) == (None, None, None)
