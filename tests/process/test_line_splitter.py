from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralphloop.process.lines import LineSplitter


def split(chunks: list[bytes], cap: int = 1000) -> tuple[list[bytes], int]:
    splitter = LineSplitter(cap)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    lines += splitter.close()
    return lines, splitter.dropped_bytes


@given(st.lists(st.binary(max_size=20) | st.just(b"\n")))
def test_how_the_bytes_arrive_changes_nothing(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    expected = whole.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert split(chunks) == (expected, 0)


@given(st.lists(st.binary(max_size=8).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.integers(1, 5))
def test_a_line_over_the_cap_is_dropped_whole_and_the_others_are_intact(lines: list[bytes], size: int) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    kept = [line for line in lines if len(line) <= 4]
    assert split(chunks, cap=4) == (kept, sum(len(line) for line in lines) - sum(map(len, kept)))


@pytest.mark.parametrize("other_line_end", ["\r", "\u2028", "\u0085", "\x0b", "\x0c", "\x1c", "\0"])
def test_only_a_newline_ends_a_line(other_line_end: str) -> None:
    line = f'{{"text": "a{other_line_end}b"}}'.encode()
    assert split([line + b"\n", b"next"]) == ([line, b"next"], 0)


def test_an_over_long_last_line_without_a_newline_is_counted() -> None:
    assert split([b"ok\n", b"x" * 50], cap=10) == ([b"ok"], 50)


def test_a_long_line_in_tiny_pieces_takes_linear_time() -> None:
    splitter = LineSplitter()
    for _ in range(1_000_000):  # with a quadratic splitter this never ends
        splitter.feed(b"tiny")
    (line,) = splitter.feed(b"\n")
    assert len(line) == 4_000_000
