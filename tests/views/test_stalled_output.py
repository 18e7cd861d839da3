"""Whoever shows a loop may stop reading: the loop does not wait for them."""

from __future__ import annotations

import os

import pytest

from ralphloop.views.sink import PIECE_CHARS, Sink


@pytest.mark.slow
def test_a_reader_that_stops_reading_does_not_hold_the_writer_and_is_told_what_it_missed() -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "w") as out:
        sink = Sink(out)
        for number in range(300):  # far more than a pipe holds: this would block for ever
            sink.write(f"{number} " + "x" * PIECE_CHARS + "\n")
        os.set_blocking(read_end, False)
        early = b""
        while chunk := _read(read_end):
            early += chunk
        sink.write("still here\n")
        late = _read(read_end)
    os.close(read_end)
    assert early.startswith(b"0 x")
    assert b"299 " not in early
    assert late.decode().splitlines()[-2:] == ["… output skipped: nobody was reading", "still here"]


def _read(number: int) -> bytes:
    try:
        return os.read(number, 65536)
    except BlockingIOError:
        return b""
