"""What is read from a stream of Gemini CLI: words in pieces, exit codes that lie, and a rate limit that is slept out in silence."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from recorded import NOW, ended, parser_of, recorded, stderr_of
from recorded import read as read_of

from ralphloop.agents import gemini
from ralphloop.core.endings import classify
from ralphloop.core.messages import Event, Text
from ralphloop.core.model import AgentSpec, Cause, EndedBy, Ending, RunReport, StreamReport, Usage


def read(lines: Iterable[bytes], run: RunReport) -> tuple[list[Event], StreamReport]:
    return read_of("gemini", lines, run)


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def says(piece: str) -> bytes:
    return line(type="message", role="assistant", content=piece, delta=True)


def tool_use(tool_id: str, name: str, **parameters: Any) -> bytes:
    return line(type="tool_use", tool_id=tool_id, tool_name=name, parameters=parameters)


def tool_error(tool_id: str, kind: str, message: str = "no") -> bytes:
    return line(type="tool_result", tool_id=tool_id, status="error", error={"type": kind, "message": message})


def result(**fields: Any) -> bytes:
    return line(**{"type": "result", "status": "success", **fields})


def failed(message: str, kind: str = "unknown") -> bytes:
    return result(status="error", error={"type": kind, "message": message})


def timed_out(stderr: str, ended_by: EndedBy = EndedBy.IDLE_TIMEOUT) -> RunReport:
    return RunReport(ended_by=ended_by, exit_code=0, stderr_tail=stderr)


def in_text_mode(run: RunReport, *lines: bytes) -> StreamReport:
    parser = gemini.parser(AgentSpec(type="gemini", command="gemini", format="text"))
    for each in lines:
        parser.feed(each)
    return parser.finish(run, NOW)


def test_words_are_put_together_from_their_pieces_and_shown_whole() -> None:
    events, report = read([says("Hel"), says("lo "), says("there."), result()], ended())
    assert [event.text for event in events if isinstance(event, Text)] == ["Hello there."]
    assert report.final_words == "Hello there."


def test_words_before_the_last_tool_are_not_final() -> None:
    _, report = read([says("COMPLETE soon"), tool_use("t", "glob"), line(type="tool_result", tool_id="t", status="success"), result()], ended())
    assert report.final_words == ""


def test_the_words_of_a_stream_that_breaks_off_are_not_lost() -> None:
    assert read([says("half a "), says("sentence")], ended(None, signal=9))[1].final_words == "half a sentence"


def test_the_echoed_prompt_is_never_the_agents_words() -> None:
    prompt = line(type="message", role="user", content="say <promise>COMPLETE</promise>")
    events, report = read([prompt, result()], ended())
    assert report.final_words == ""
    assert not any(isinstance(event, Text) for event in events)


@pytest.mark.parametrize("name", ["sigterm-norelaunch", "sigkill-pid"])
def test_exit_code_0_without_a_result_is_no_good_end(name: str) -> None:
    run = ended(0)
    assert classify(run, read(recorded("gemini", name), run)[1], changed=True)[0] is Ending.FAILED


def test_a_run_that_slept_through_a_rate_limit_until_its_time_out_has_met_a_limit_and_its_end_is_known() -> None:
    name = "err-429-code-assist-quota"
    run = timed_out(stderr_of("gemini", name))
    report = read(recorded("gemini", name), run)[1]
    assert classify(run, report, changed=False)[0] is Ending.USAGE_LIMIT
    assert report.limit is not None
    assert report.limit.resets_at == pytest.approx(NOW + 12 * 3600 + 7 * 60 + 2)


def test_a_sleep_of_which_the_words_are_new_is_a_limit_as_well() -> None:
    limit = read([], timed_out("Attempt 2 failed: Try it in a while. Retrying after 900000ms...\n", EndedBy.TOTAL_TIMEOUT))[1].limit
    assert limit is not None
    assert limit.resets_at == pytest.approx(NOW + 900)


@pytest.mark.parametrize(
    "stderr",
    [
        stderr_of("gemini", "err-429-minute-retry-ok"),
        "Attempt 1 failed: You exceeded your current quota.. Retrying after 900000ms...\nError executing tool glob: no\n",
    ],
    ids=["a few seconds", "something came after it"],
)
def test_a_sleep_that_was_over_is_not_why_a_run_was_silent(stderr: str) -> None:
    run = timed_out(stderr)
    assert classify(run, read(recorded("gemini", "plain")[:3], run)[1], changed=True)[0] is Ending.FAILED


def test_a_sleep_is_no_limit_where_the_run_came_to_its_end() -> None:
    stderr = stderr_of("gemini", "err-429-code-assist-quota")
    assert read(recorded("gemini", "plain"), timed_out(stderr))[1].limit is None
    assert read([], ended(0, stderr=stderr))[1].limit is None


@pytest.mark.parametrize("stderr", ["", "some words of a future version\n", *(stderr_of("gemini", name) for name in ("no-prompt", "resume-unknown"))])
@pytest.mark.parametrize(
    "lines", [[], recorded("gemini", "plain")[:2], [failed("Exiting due to an error processing the @ command.", "FatalInputError")]]
)
def test_its_exit_code_42_never_means_waiting(stderr: str, lines: list[bytes]) -> None:
    run = ended(42, stderr=stderr)
    for report in (read(lines, run)[1], in_text_mode(run)):
        ending, reason = classify(run, report, changed=False)
        assert ending is Ending.FATAL
        assert reason.endswith((", then `ralph resume`", ", then `ralph run --new`"))


@pytest.mark.parametrize(
    ("message", "ending", "cause"),
    [
        ('[API Error: {"error":{"code":401,"message":"x"}}]', Ending.FATAL, None),
        ('[API Error: {"error": {"code": 403, "message": "x"}}]', Ending.FATAL, None),
        ('[API Error: {"error":{"code":404,"message":"x"}}]', Ending.FATAL, None),
        ('[API Error: {"error":{"code":429,"message":"x"}}]', Ending.USAGE_LIMIT, None),
        ('[API Error: {"error":{"code":503,"message":"x"}}]', Ending.FAILED, Cause.OVERLOADED),
        ('[API Error: {"error":{"code":500,"message":"x"}}]', Ending.FAILED, None),
        ("[API Error: x]\nPossible quota limitations in place or slow response times detected.", Ending.USAGE_LIMIT, None),
        ("", Ending.FAILED, None),
    ],
)
def test_an_api_error_means_what_its_status_and_its_words_say(message: str, ending: Ending, cause: Cause | None) -> None:
    report = read([failed(message)], ended(1))[1]
    assert classify(ended(1), report, changed=True)[0] is ending
    assert report.cause is cause


@pytest.mark.parametrize("words", ["[API Error: 401 nope]", '"code":401', "You have exhausted your daily quota on this model."])
def test_what_the_agent_merely_writes_is_neither_a_limit_nor_fatal(words: str) -> None:
    report = read([says(words), result()], ended(0, stderr=words))[1]
    assert (report.limit, report.fatal, report.error) == (None, None, None)


def test_a_stream_error_is_named_where_the_result_has_no_words_for_it() -> None:
    cut = line(type="error", severity="error", message="Model stream ended without a finish reason.")
    assert read([cut, result(status="error")], ended(0))[1].error == "Model stream ended without a finish reason."


def test_a_loop_that_the_client_stopped_is_a_failure_although_it_says_success() -> None:
    warning = line(type="error", severity="warning", message="Loop detected, stopping execution")
    assert read([says("again"), warning, result()], ended(0))[1].error == "Loop detected, stopping execution"


def test_any_other_warning_is_no_failure() -> None:
    warning = line(type="error", severity="warning", message="Something is slow")
    assert read([says("done"), warning, result()], ended(0))[1].error is None


@pytest.mark.parametrize(
    ("kind", "message", "tool", "denied"),
    [
        ("policy_violation", "Tool execution denied by policy.", "web_fetch", ("web_fetch",)),
        ("unhandled_exception", 'Tool execution for "Shell" requires user confirmation, which is not supported', "glob", ("glob",)),
        ("tool_not_registered", 'Tool "run_shell_command" not found.', "run_shell_command", ("run_shell_command",)),
        ("tool_not_registered", 'Tool "invented" not found.', "invented", ()),
        ("unhandled_exception", "disk full", "write_file", ()),
        ("file_not_found", "File not found", "read_file", ()),
    ],
)
def test_a_denied_tool_is_named_and_one_that_merely_failed_is_not(kind: str, message: str, tool: str, denied: tuple[str, ...]) -> None:
    assert read([tool_use("t", tool), tool_error("t", kind, message), result()], ended())[1].denied == denied


def test_a_question_to_a_person_is_kept() -> None:
    assert read([tool_use("t", "ask_user", questions=[{"question": "Which one?"}])], ended())[1].question == "Which one?"


def test_what_was_cached_is_not_counted_twice_and_thoughts_are_counted() -> None:
    stats = {
        "input_tokens": 100,
        "cached": 40,
        "output_tokens": 10,
        "total_tokens": 115,
        "models": {"a": {"total_tokens": 5}, "b": {"total_tokens": 110}},
    }
    report = read([result(stats=stats)], ended())[1]
    assert report.usage == Usage(input_tokens=60, output_tokens=15, cache_read_tokens=40)
    assert report.model == "b"


def test_as_plain_text_it_says_on_standard_error_what_went_wrong() -> None:
    report = "Error when talking to Gemini API Full report available at: /tmp/x-2026.json "
    stack = "\n    at f (file:///x.js:1:1) {\n  status: %d\n}\nAn unexpected critical error occurred:[object Object]\n"
    quota = "TerminalQuotaError: You have exhausted your daily quota on this model."
    run = ended(1, stderr=report + '_ApiError: {"error":{"code":401,"message":"nope"}}' + stack % 401)
    assert classify(run, in_text_mode(run), changed=True)[0] is Ending.FATAL
    run = ended(1, stderr=report + quota + stack % 429)
    assert classify(run, in_text_mode(run), changed=True)[0] is Ending.USAGE_LIMIT
    run = ended(1, stderr=report + '_ApiError: {"error":{"code":500,"message":"internal"}}' + stack % 500)
    assert in_text_mode(run).error == '_ApiError: {"error":{"code":500,"message":"internal"}}'


def test_a_long_usage_means_a_bad_flag_although_its_beginning_is_lost() -> None:
    run = ended(1, stderr=stderr_of("gemini", "bad-flag").partition("\n")[2])
    assert classify(run, read([], run)[1], changed=False)[0] is Ending.FATAL


def test_many_small_pieces_cost_little_and_the_last_words_are_kept() -> None:
    parser = parser_of("gemini")
    piece = says("twelve bytes")
    for _ in range(200_000):
        parser.feed(piece)
    parser.feed(says("the end"))
    words = parser.finish(ended(None, signal=9), NOW).final_words
    assert len(words) == 256 * 1024
    assert words.endswith("twelve bytesthe end")


def test_an_id_that_never_ends_is_not_kept() -> None:
    long = "x" * 100_000
    report = read([tool_use(long, long), tool_error(long, "policy_violation"), result()], ended())[1]
    assert len(report.denied[0]) <= 120


def test_a_time_out_after_a_result_is_no_sleep() -> None:
    run = replace(timed_out(stderr_of("gemini", "err-429-code-assist-quota")), ended_by=EndedBy.AFTER_RESULT)
    assert classify(run, read(recorded("gemini", "plain"), run)[1], changed=True)[0] is Ending.OK
