"""Whatever a client writes, its parser never raises, forgets what it need not keep, and reads on: recorded streams, mutated and damaged."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import CLIENTS, ended, names, parser_of, read, recorded

from ralphloop.core.messages import Unknown

LINES = {client: [line for name in names(client) for line in recorded(client, name)] for client in CLIENTS}
OBJECTS = {client: [line for line in lines if line.startswith(b"{")] for client, lines in LINES.items()}
ANY_CLIENT = pytest.mark.parametrize("client", CLIENTS)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=8)


def paths_of(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()
    return [here, *(path for key in keys for path in paths_of(value[key], (*here, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@st.composite
def mutated_lines(draw: st.DrawFn, client: str) -> bytes:
    """A recorded line in which one value, anywhere, is something else."""
    line = json.loads(draw(st.sampled_from(OBJECTS[client])))
    return json.dumps(replaced(line, draw(st.sampled_from(paths_of(line))), draw(anything))).encode()


@st.composite
def damaged_lines(draw: st.DrawFn, client: str) -> bytes:
    """A recorded line with a piece cut out, and other bytes in its place."""
    line = draw(st.sampled_from(LINES[client]))
    start, end = sorted((draw(st.integers(0, len(line))), draw(st.integers(0, len(line)))))
    return line[:start] + draw(st.binary(max_size=8)) + line[end:]


@ANY_CLIENT
@given(data=st.data())
def test_no_line_makes_the_parser_raise_or_say_what_cannot_be_written(client: str, data: st.DataObject) -> None:
    of_client = mutated_lines(client) | damaged_lines(client) | st.sampled_from(LINES[client])
    lines = data.draw(st.lists(of_client | st.binary(max_size=200), max_size=6))
    events, report = read(client, lines, ended(1))
    repr(events).encode()
    repr(report).encode()


@given(st.lists(damaged_lines("claude") | st.binary(max_size=200), max_size=6))
def test_a_good_result_after_damaged_lines_is_read(lines: list[bytes]) -> None:
    _, report = read("claude", [*lines, *recorded("claude", "plain-text")], ended())
    assert report.result_seen
    assert report.final_words == "Hello from the fake model."


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b"null",
        b"[]",
        b'"result"',
        b"{",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"type":"result","total_cost_usd":1' + b"0" * 5000 + b"}",
        b'{"type":["result"]}',
        b'{"type":{"a":1}}',
        b'{"type":"assistant"}',
        b'{"type":"assistant","message":"text"}',
        b'{"type":"assistant","message":{"content":[null,1,"x",[]]}}',
        b'{"type":"user","message":{"content":[{"type":"tool_result","content":{"a":1}}]}}',
        b'{"type":"system","subtype":7}',
        b'{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":"soon"}}',
        b'{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","utilization":1e308}}',
    ],
)
def test_an_awkward_line_is_survived(line: bytes) -> None:
    for client in CLIENTS:
        read(client, [line], ended(1))
    _, report = read("claude", [line, *recorded("claude", "plain-text")], ended())
    assert report.final_words == "Hello from the fake model."


@pytest.mark.parametrize("cost", [b"NaN", b"Infinity", b"-1", b"true", b'"0.5"', b"1" + b"0" * 400, b"1e999"])
def test_an_impossible_cost_is_no_cost(cost: bytes) -> None:
    assert read("claude", [b'{"type":"result","result":"x","total_cost_usd":' + cost + b"}"], ended())[1].usage.cost_usd is None


@pytest.mark.parametrize("tokens", [b"-1", b"NaN", b"true", b'"7"', b"1" + b"0" * 30, b"null"])
def test_an_impossible_number_of_tokens_is_none(tokens: bytes) -> None:
    assert read("claude", [b'{"type":"result","result":"x","usage":{"input_tokens":' + tokens + b"}}"], ended())[1].usage.input_tokens == 0


@ANY_CLIENT
def test_an_unknown_type_is_kept_as_it_is_and_nothing_follows(client: str) -> None:
    line = b'{"type":"of_the_future","is_error":true,"result":"x"}'
    events, report = read(client, [line], ended())
    assert events == [Unknown(line=line.decode())]
    assert not report.result_seen


@pytest.mark.slow
@ANY_CLIENT
def test_memory_does_not_grow_with_the_stream(client: str) -> None:
    """Whatever a stream repeats, with other ids each time: what is kept of it is bounded."""
    parser = parser_of(client)
    lines = [line for line in LINES[client] if len(line) < 20_000]
    for line in lines:
        parser.feed(line)
    tracemalloc.start()
    try:
        for number in range(60):
            for line in lines:
                parser.feed(line.replace(b'"id":"', b'"id":"%d-' % number).replace(b'_id":"', b'_id":"%d-' % number))
        kept, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000
