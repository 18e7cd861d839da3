"""The contract of every parser, and what is special about plain text."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import NOW, ended, parser_of

from ralphloop.agents import command
from ralphloop.agents.catalogue import CATALOGUE
from ralphloop.agents.plain_text import PlainTextParser
from ralphloop.core.endings import classify
from ralphloop.core.messages import Text
from ralphloop.core.model import AgentSpec, Ending

KEPT = 256 * 1024


@pytest.mark.parametrize("name", sorted(CATALOGUE))
@given(lines=st.lists(st.binary(max_size=60), max_size=8))
def test_no_parser_raises_and_each_reports_what_can_be_written(name: str, lines: list[bytes]) -> None:
    parser = parser_of(name)
    for line in lines:
        repr(list(parser.feed(line))).encode()
    parser.finish(ended(), NOW).final_words.encode()


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_every_run_has_a_parser_of_its_own(name: str) -> None:
    first, second = parser_of(name), parser_of(name)
    list(first.feed(b'{"type":"result","result":"mine","is_error":false}'))
    assert second.finish(ended(), NOW).final_words == ""


def test_each_line_of_plain_text_is_said_and_all_of_it_is_the_final_words() -> None:
    parser = PlainTextParser()
    said = [event for line in (b"Working.\r", b"", b"Done \xff") for event in parser.feed(line)]
    assert said == [Text(text="Working."), Text(text=""), Text(text="Done \N{REPLACEMENT CHARACTER}")]
    report = parser.finish(ended(), NOW)
    assert report.final_words == "Working.\r\n\nDone \N{REPLACEMENT CHARACTER}"
    assert report.result_seen


def test_plain_text_never_begins_the_countdown_after_a_result() -> None:
    parser = PlainTextParser()
    parser.feed(b"Done.")
    assert not parser.result_seen


def test_plain_text_is_judged_by_its_exit_code_alone() -> None:
    parser = PlainTextParser()
    parser.feed(b"error: unknown option, usage limit reached, Not logged in")
    assert classify(ended(0), parser.finish(ended(0), NOW), changed=True)[0] is Ending.OK
    assert classify(ended(1), parser.finish(ended(1), NOW), changed=True)[0] is Ending.FAILED


@given(st.lists(st.integers(0, 3 * KEPT // 4), max_size=8), st.integers(0, 5))
def test_the_end_of_a_long_output_is_kept_within_256_kib(lengths: list[int], short: int) -> None:
    parser = PlainTextParser()
    for number, length in enumerate(lengths):
        parser.feed(bytes([ord("a") + number]) * length)
    parser.feed(b"z" * short)
    words = parser.finish(ended(), NOW).final_words
    assert len(words) <= KEPT
    assert "\n".join([*(chr(ord("a") + number) * length for number, length in enumerate(lengths)), "z" * short]).endswith(words)


def test_of_one_endless_line_the_end_is_kept() -> None:
    parser = PlainTextParser()
    parser.feed(b"x" * (16 * 1024 * 1024) + b"<promise>COMPLETE</promise>")
    words = parser.finish(ended(), NOW).final_words
    assert len(words) == KEPT
    assert words.endswith("<promise>COMPLETE</promise>")


def test_memory_stays_bounded_under_a_flood_of_short_lines() -> None:
    parser = PlainTextParser()
    tracemalloc.start()
    try:
        for number in range(80_000):
            parser.feed(b"%d" % number)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12 * 1024 * 1024
    assert parser.finish(ended(), NOW).final_words.endswith("79998\n79999")


def test_an_agent_of_ones_own_is_read_as_a_stream_though_clients_are_asked_for_text() -> None:
    spec = AgentSpec(type="command", name="mine", command="mine", speaks="claude", format="text")
    parser = command.parser(spec)
    list(parser.feed(b'{"type":"result","result":"mine","is_error":false}'))
    assert parser.finish(ended(), NOW).final_words == "mine"


@pytest.mark.parametrize("speaks", ["claude", "codex", "gemini"])
def test_what_a_wrapper_says_on_stderr_is_no_report_of_the_client_that_it_resembles(speaks: str) -> None:
    parser = command.parser(AgentSpec(type="command", name="mine", command="mine", speaks=speaks))
    words = "npm ERR! 429 Too Many Requests\ndeploy: Invalid API key for the staging system\nUNAUTHENTICATED\n"
    report = parser.finish(ended(1, stderr=words), NOW)
    assert (report.limit, report.fatal, report.cause) == (None, None, None)
