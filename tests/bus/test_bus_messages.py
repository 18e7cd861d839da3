"""The format of a bus: what is posted is read again, whatever it holds and whatever people write around it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ralphloop.bus.messages import MAX_AUTHOR, MAX_TEXT_BYTES, Message, MessageType, clean_author, parse, render, utc

LATEST_MS = 253402300799999  # the last moment of the year 9999
HEADING = "## 2026-11-18T19:32:16.123Z INFO planner"

like_headings = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "\\", "\\\\", " ", "#", "\r"]),
    st.sampled_from([HEADING, "## 2026-", "## 20", "## 2026-11-18T19:32:16Z wait_without_restart", "## 9999-99-99T99:99:99Z INFO x"]),
    st.sampled_from(["", "\r", " ", "\t"]),
)
texts = st.one_of(st.text(), st.lists(st.one_of(like_headings, st.text(max_size=5), st.just("")), max_size=8).map("\n".join))
messages = st.builds(
    Message,
    at=st.integers(min_value=-62135596800000, max_value=LATEST_MS).map(lambda ms: ms / 1000),
    type=st.sampled_from(MessageType),
    author=st.text().map(clean_author),
    text=texts,
)
INFO = Message(at=1795030336.123, type=MessageType.INFO, author="planner", text="The parser is in src/parse.py.")


def test_a_message_is_a_heading_its_text_and_a_blank_line() -> None:
    assert render(INFO) == f"{HEADING}\nThe parser is in src/parse.py.\n\n".encode()


@given(st.lists(messages, max_size=5))
@example([replace(INFO, text=text) for text in ("", "\n", "\n\n", "a\n", "\na", HEADING, f"\\{HEADING}", f"a\n\n{HEADING}\n")])
def test_messages_come_back_as_they_were_posted(posted: list[Message]) -> None:
    assert parse(b"".join(map(render, posted))) == posted


@given(st.text(), st.text())
@example("a\n## 2026-11-18T19:32:16.123Z ERROR b", "x")
@example("a" * MAX_AUTHOR + " b", "x")
def test_an_author_is_one_clean_line(author: str, text: str) -> None:
    (read,) = parse(render(replace(INFO, author=author, text=text)))
    assert read == replace(INFO, author=clean_author(author), text=text)
    assert read.author.isprintable()
    assert len(read.author) <= MAX_AUTHOR


@given(st.binary(), st.lists(messages, min_size=1, max_size=3))
def test_whatever_stands_before_a_message_it_is_read(before: bytes, posted: list[Message]) -> None:
    assert parse(before + b"\n\n" + b"".join(map(render, posted)))[-len(posted) :] == posted


@given(st.text(st.characters(codec="utf-8", exclude_characters="\\#")))
def test_text_that_nobody_has_signed_is_not_lost(text: str) -> None:
    stray = text.strip("\r\n")
    expected = [Message(at=0.0, type=MessageType.INFO, author="", text=stray)] if stray.strip() else []
    assert parse(text.encode() + b"\n\n" + render(INFO)) == [*expected, INFO]


def test_a_part_of_a_text_is_read_as_it_was_meant() -> None:
    below_the_heading = render(replace(INFO, text=f"one\n{HEADING}")).split(b"\n", 1)[1]
    assert [message.text for message in parse(below_the_heading)] == [f"one\n{HEADING}"]


def test_a_line_below_a_message_belongs_to_its_text() -> None:
    assert parse(render(INFO) + b"by hand\n") == [replace(INFO, text=f"{INFO.text}\n\nby hand")]


@pytest.mark.parametrize(
    "heading",
    [
        "## 2026-11-18T19:32:16.123Z INFO planner\r",
        "## 2026-11-18T19:32:16.123Z info  planner ",
        "## 2026-11-18T19:32:16.123000Z Info\tplanner",
    ],
)
def test_a_heading_written_by_hand_is_understood(heading: str) -> None:
    assert parse(f"{heading}\n{INFO.text}".encode()) == [INFO]


def test_a_heading_needs_neither_milliseconds_nor_an_author_nor_an_end() -> None:
    wait = Message(at=1795030336.0, type=MessageType.WAIT_WITHOUT_RESTART, author="", text="")
    assert parse(b"## 2026-11-18T19:32:16Z WAIT_WITHOUT_RESTART") == [wait]


@pytest.mark.parametrize(
    "line", ["## 2026-11-18T19:32:16.123Z NOTE me", "## 2026-13-18T19:32:16Z INFO me", "### 2026-11-18T19:32:16Z INFO", "## Plan"]
)
def test_what_is_no_heading_is_text(line: str) -> None:
    assert parse(render(INFO) + line.encode() + b"\n") == [replace(INFO, text=f"{INFO.text}\n\n{line}")]


def test_what_is_no_text_is_replaced() -> None:
    assert parse(render(INFO).replace(b"parser", b"p\xe4rser")) == [replace(INFO, text=INFO.text.replace("parser", "p\ufffdrser"))]
    assert parse(render(replace(INFO, text="caf\udce9"))) == [replace(INFO, text="caf?")]


def test_a_text_at_the_cap_is_whole_and_a_longer_one_is_visibly_cut() -> None:
    whole = "é" * (MAX_TEXT_BYTES // 2)
    assert parse(render(replace(INFO, text=whole)))[0].text == whole
    (cut,) = parse(render(replace(INFO, text=f"{whole}é")))
    assert cut.text.endswith("é\n… (cut here: longer than 64 KiB)")
    assert MAX_TEXT_BYTES - 2 < len(cut.text.encode()) <= MAX_TEXT_BYTES
    assert parse(render(cut)) == [cut]


def test_a_moment_is_written_in_utc_to_the_millisecond() -> None:
    assert utc(1795030336.1234) == "2026-11-18T19:32:16.123Z"
    assert utc(0.9996) == "1970-01-01T00:00:01.000Z"
