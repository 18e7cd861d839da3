"""What is read from a stream of Codex: which has no last words but those after its last tool, and no failure but that of its turn."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from recorded import ended, parser_of, read

from ralphloop.agents import codex
from ralphloop.core.messages import Progress, Text, ToolEnd, ToolStart
from ralphloop.core.model import AgentSpec, EndedBy, RunReport, StreamReport


def line(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def item(kind: str, event: str = "item.completed", **fields: Any) -> bytes:
    return line(event, item={"id": "item_1", "type": kind, **fields})


def said(words: str) -> bytes:
    return item("agent_message", text=words)


TOOL = item("command_execution", command="/bin/bash -lc 'make test'", aggregated_output="3 tests FAILED", exit_code=1, status="failed")
DONE = line("turn.completed", usage={"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 7})
CLAIM = "Everything is done.\n\n<response>DONE</response>"


def report_of(*lines: bytes) -> StreamReport:
    return read("codex", lines, ended())[1]


def test_what_it_said_before_its_last_tool_is_not_its_last_word() -> None:
    assert report_of(said(CLAIM), TOOL, DONE).final_words == ""
    assert report_of(said("I look."), TOOL, said(CLAIM), DONE).final_words == CLAIM


def test_a_retry_that_is_told_as_an_error_is_no_failure() -> None:
    report = report_of(line("error", message="Reconnecting... 1/5 (429 Too Many Requests)"), said("Done."), DONE)
    assert (report.error, report.limit) == (None, None)


def test_what_was_read_from_a_cache_is_not_counted_twice() -> None:
    used = report_of(said("x"), DONE).usage
    assert (used.input_tokens, used.cache_read_tokens, used.output_tokens, used.cost_usd) == (60, 40, 7, None)


def test_a_command_is_shown_as_it_was_typed() -> None:
    events, _ = read("codex", [TOOL], ended())
    assert events == [
        ToolStart(tool_id="item_1", name="shell", summary="shell make test"),
        ToolEnd(tool_id="item_1", output="3 tests FAILED", is_error=True),
    ]


def test_a_warning_is_news_and_no_words() -> None:
    events, report = read("codex", [item("error", message="no metadata"), said("Hello.")], ended())
    assert events == [Progress(text="warning: no metadata"), Text(text="Hello.")]
    assert report.final_words == "Hello."


def test_a_declined_command_is_denied() -> None:
    declined = item("command_execution", command="rm -rf x", status="declined", exit_code=None)
    assert report_of(declined, DONE).denied == ("shell",)


def test_tools_with_endless_names_do_not_fill_the_memory() -> None:
    parser = parser_of("codex")
    tracemalloc.start()
    try:
        for number in range(100):
            list(parser.feed(line("item.started", item={"id": f"{number}{'x' * 500_000}", "type": "command_execution", "command": "ls"})))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000


TEXT = AgentSpec(type="codex", command="codex", format="text")
LIMIT = "ERROR: You\u2019ve hit your usage limit. Try again at 5:53 PM."


@pytest.mark.parametrize(
    ("stderr", "run", "limited"),
    [
        (f"tokens used\n{LIMIT}\n", EndedBy.EXIT, True),
        ("HTTP/1.1 429 Too Many Requests, retry after 3600 seconds\n", EndedBy.EXIT, False),
        (f"{LIMIT}\n", EndedBy.TOTAL_TIMEOUT, False),
    ],
)
def test_a_limit_in_text_is_what_the_client_reports_and_no_other_line(stderr: str, run: EndedBy, limited: bool) -> None:
    report = codex.parser(TEXT).finish(RunReport(ended_by=run, exit_code=1, stderr_tail=stderr), 1794848000.0)
    assert (report.limit is not None) is limited
