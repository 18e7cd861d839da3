"""A bus is a file that many write at once: every message arrives whole, once, and nothing but a regular file is touched."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from bus_writer import message
from hypothesis import given
from hypothesis import strategies as st

from ralphloop.bus.board import MAX_BUS_BYTES, TASK_BUS, Bus
from ralphloop.bus.messages import Message, MessageType, render
from ralphloop.errors import WorkError
from ralphloop.files.beneath import MAX_BYTES
from ralphloop.files.journal_file import JournalFile

HERE = Path(__file__).parent
ROTATED = "TASK-MESSAGE-BUS.1.md"
PATIENCE_S = 60.0


@pytest.fixture
def bus(tmp_path: Path) -> Bus:
    return Bus(tmp_path, TASK_BUS)


def said(text: str) -> Message:
    return Message(at=1.5, type=MessageType.FACT, author="me", text=text)


def stray(text: str) -> Message:
    return Message(at=0.0, type=MessageType.INFO, author="", text=text)


def by_hand(directory: Path, content: str) -> None:
    with (directory / TASK_BUS).open("a") as out:
        out.write(content)


def rotating(directory: Path, texts: int) -> Bus:
    """A bus that has room for so many texts of one letter."""
    return Bus(directory, TASK_BUS, max_bytes=texts * len(render(said("x"))))


# --- many writers -----------------------------------------------------------------------------------------------------

WRITERS, POSTS = 8, 50
TOTAL_BYTES = sum(len(render(message(str(author), number))) for author in range(WRITERS) for number in range(POSTS))


@contextmanager
def writers(directory: Path, max_bytes: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that all begin to post at the same moment."""
    started = [
        subprocess.Popen(
            [sys.executable, str(HERE / "bus_writer.py"), str(directory), str(author), str(POSTS), str(max_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for author in range(WRITERS)
    ]
    for writer in started:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in started:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    yield started
    for writer in started:
        writer.communicate(timeout=PATIENCE_S)
        assert writer.returncode == 0


def of(messages: list[Message], author: int) -> list[Message]:
    return [message for message in messages if message.author == str(author)]


@pytest.mark.parametrize("max_bytes", [MAX_BUS_BYTES, TOTAL_BYTES * 3 // 4], ids=["in one file", "across a rotation"])
def test_what_many_processes_post_at_once_arrives_whole_once_and_in_order(tmp_path: Path, max_bytes: int) -> None:
    bus = Bus(tmp_path, TASK_BUS, max_bytes=max_bytes)
    with writers(tmp_path, max_bytes) as started:
        followed, mark = bus.since("")
        while any(writer.poll() is None for writer in started):
            more, mark = bus.since(mark)
            followed += more
    followed += bus.since(mark)[0]
    assert bus.messages() == followed
    assert len(followed) == WRITERS * POSTS
    for author in range(WRITERS):
        assert of(followed, author) == [message(str(author), number) for number in range(POSTS)]
    assert (tmp_path / ROTATED).exists() == (max_bytes < MAX_BUS_BYTES)


def test_however_often_a_bus_is_rotated_nothing_on_it_is_torn_or_out_of_order(tmp_path: Path) -> None:
    max_bytes = TOTAL_BYTES // 8
    with writers(tmp_path, max_bytes):
        pass
    kept = Bus(tmp_path, TASK_BUS, max_bytes=max_bytes).messages()
    assert sum(len(render(message)) for message in kept) > max_bytes // 2
    for author in range(WRITERS):
        own = of(kept, author)
        assert own == [message(str(author), number) for number in range(POSTS - len(own), POSTS)]
    assert all((tmp_path / name).stat().st_size <= max_bytes for name in (TASK_BUS, ROTATED))
    assert sorted(path.name for path in tmp_path.iterdir()) == [ROTATED, TASK_BUS]


def test_a_writer_that_waited_for_a_file_which_was_rotated_meanwhile_takes_the_new_one(tmp_path: Path, bus: Bus) -> None:
    bus.post(said("old"))
    path = tmp_path / TASK_BUS
    old = path.stat()
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        writer = threading.Thread(target=bus.post, args=(said("new"),))
        writer.start()
        await_true(lambda: len([number for number in descriptors() if os.path.samestat(number, old)]) == 2)
        path.rename(tmp_path / ROTATED)
    writer.join(PATIENCE_S)
    assert path.read_bytes() == render(said("new"))
    assert bus.messages() == [said("old"), said("new")]


def descriptors() -> Iterator[os.stat_result]:
    for name in Path("/dev/fd").iterdir():
        try:
            yield os.fstat(int(name.name))
        except OSError:
            continue


def await_true(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline


def test_a_lock_that_is_never_let_go_is_an_error_and_no_wait_without_end(tmp_path: Path) -> None:
    journal = JournalFile(directory=tmp_path, name=TASK_BUS, max_bytes=1000, patience_s=0.02)
    journal.append(b"x\n")
    with (tmp_path / TASK_BUS).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for use in (lambda: journal.append(b"y\n"), journal.end, journal.everything, lambda: journal.after("")):
            with pytest.raises(WorkError, match=f"{TASK_BUS} is locked by another process for more than 0.02 s"):
                use()
    assert journal.everything() == [b"x\n"]


# --- marks ------------------------------------------------------------------------------------------------------------


def test_only_what_was_posted_after_a_mark_is_given(bus: Bus) -> None:
    assert bus.since("") == ([], "")
    assert bus.mark() == ""
    bus.post(said("1"))
    mark = bus.mark()
    assert bus.since(mark) == ([], mark)
    bus.post(said("2"))
    bus.post(said("3"))
    messages, new = bus.since(mark)
    assert messages == [said("2"), said("3")]
    assert new == bus.mark()
    assert bus.since("") == ([said("1"), said("2"), said("3")], new)


@pytest.mark.parametrize("mark", ["garbled", "1:2", "0:0:00000000", "-1:0:00000000", f"{'9' * 20}:0:00000000", "\ud800", "٣:٣:00000000"])
def test_an_unknown_mark_gives_everything(bus: Bus, mark: str) -> None:
    bus.post(said("1"))
    assert bus.since(mark) == ([said("1")], bus.mark())


def test_a_mark_outlives_one_rotation(tmp_path: Path) -> None:
    bus = rotating(tmp_path, 3)
    marks = []
    for text in "1234":
        bus.post(said(text))
        marks.append(bus.mark())
    assert (tmp_path / ROTATED).exists()
    assert bus.since(marks[1]) == ([said("3"), said("4")], marks[3])
    assert bus.since(marks[2]) == ([said("4")], marks[3])
    assert bus.since("") == ([said(text) for text in "1234"], marks[3])


def test_at_the_moment_of_a_rotation_the_end_is_that_of_the_rotated_file(tmp_path: Path, bus: Bus) -> None:
    bus.post(said("1"))
    before = bus.mark()
    bus.post(said("2"))
    (tmp_path / TASK_BUS).rename(tmp_path / ROTATED)
    between = bus.mark()
    assert bus.since(before) == ([said("2")], between)
    assert bus.since(between) == ([], between)
    bus.post(said("3"))
    assert bus.since(between) == ([said("3")], bus.mark())


def test_a_mark_in_a_file_that_is_gone_is_not_taken_for_one_in_a_file_that_got_its_inode(tmp_path: Path, bus: Bus) -> None:
    bus.post(said("old"))
    mark = bus.mark()
    os.truncate(tmp_path / TASK_BUS, 0)
    bus.post(said("new"))
    bus.post(said("newer"))
    assert bus.since(mark) == ([said("new"), said("newer")], bus.mark())


def test_a_mark_behind_the_end_is_unknown(tmp_path: Path, bus: Bus) -> None:
    for text in ("long " * 100, "2"):
        bus.post(said(text))
    mark = bus.mark()
    os.truncate(tmp_path / TASK_BUS, len(render(said("long " * 100))))
    assert bus.since(mark) == ([said("long " * 100)], bus.mark())


def test_a_file_that_is_met_under_both_names_is_read_once(tmp_path: Path, bus: Bus) -> None:
    bus.post(said("1"))
    (tmp_path / ROTATED).hardlink_to(tmp_path / TASK_BUS)
    assert bus.messages() == bus.since("")[0] == [said("1")]


def test_a_message_that_is_larger_than_the_cap_has_a_file_to_itself(tmp_path: Path) -> None:
    bus = rotating(tmp_path, 2)
    for text in ("1", "x" * 1000, "2"):
        bus.post(said(text))
    assert (tmp_path / ROTATED).read_bytes() == render(said("x" * 1000))
    assert bus.messages() == [said("x" * 1000), said("2")]


def test_a_bus_that_was_taken_away_has_nothing_and_begins_anew(tmp_path: Path, bus: Bus) -> None:
    bus.post(said("1"))
    mark = bus.mark()
    (tmp_path / TASK_BUS).unlink()
    assert bus.since(mark) == ([], "")
    bus.post(said("2"))
    assert bus.since("")[0] == [said("2")]


@given(st.lists(st.tuples(st.text(max_size=60), st.sampled_from(["", "by hand\n", "torn"])), max_size=30), st.integers(min_value=100, max_value=2000))
def test_who_reads_along_misses_nothing_and_meets_nothing_twice(
    tmp_path_factory: pytest.TempPathFactory, posts: list[tuple[str, str]], max_bytes: int
) -> None:
    directory = tmp_path_factory.mktemp("bus")
    bus = Bus(directory, TASK_BUS, max_bytes=max_bytes)
    posted, read, mark = [], [], bus.mark()
    for number, (text, written) in zip(count(), posts, strict=False):
        posted.append(said(f"{number} {text}"))
        bus.post(posted[-1])
        messages, mark = bus.since(mark)
        read += messages
        assert bus.since(mark) == ([], mark)
        if written:
            posted.append(stray(written.strip()))
            by_hand(directory, written)
    by_hand(directory, "\n")
    read += bus.since(mark)[0]
    assert read == posted


# --- what people and agents write into it -----------------------------------------------------------------------------


@given(st.binary(max_size=200))
def test_whatever_stands_in_the_file_the_next_post_is_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    directory = tmp_path_factory.mktemp("bus")
    bus = Bus(directory, TASK_BUS)
    (directory / TASK_BUS).write_bytes(content)
    mark = bus.mark()
    bus.post(said("posted"))
    assert bus.messages()[-1] == said("posted")
    assert bus.since(mark)[0][-1] == said("posted")
    assert (directory / TASK_BUS).read_bytes() == content + (directory / TASK_BUS).read_bytes()[len(content) :]
    assert (b"\n\n" + render(said("posted"))) in b"\n\n" + (directory / TASK_BUS).read_bytes()


def test_a_line_that_still_grows_is_left_for_later_and_then_given_whole(tmp_path: Path, bus: Bus) -> None:
    bus.post(said("1"))
    by_hand(tmp_path, "half")
    mark = bus.mark()
    assert bus.since(mark) == ([], mark)
    assert bus.messages() == [said("1\n\nhalf")]
    by_hand(tmp_path, " and half\n")
    assert bus.since(mark)[0] == [stray("half and half")]


def test_a_post_ends_a_line_that_nobody_has_ended(tmp_path: Path, bus: Bus) -> None:
    by_hand(tmp_path, "half")
    mark = bus.mark()
    bus.post(said("1"))
    assert bus.since(mark)[0] == [stray("half"), said("1")]
    by_hand(tmp_path, "## 2026-11-18T19:32:16Z wait_without_res")
    mark = bus.mark()
    bus.post(said("2"))
    assert [message.type for message in bus.since(mark)[0]] == [MessageType.INFO, MessageType.FACT]


def test_a_flood_by_hand_is_read_from_its_end_and_put_aside_by_the_next_post(tmp_path: Path, bus: Bus) -> None:
    bus.post(said("first"))
    mark = bus.mark()
    by_hand(tmp_path, "flood\n" * (MAX_BYTES // 5))
    for messages in (bus.since(mark)[0], bus.messages()):
        assert sum(len(message.text) for message in messages) <= MAX_BYTES
        assert messages[-1].text.endswith("flood")
    bus.post(said("last"))
    assert bus.messages()[-1] == said("last")
    assert (tmp_path / TASK_BUS).read_bytes() == render(said("last"))


# --- what else may stand there ----------------------------------------------------------------------------------------


def a_link(path: Path) -> None:
    (path.parent / "secret").write_text("secret")
    path.symlink_to("secret")


def a_dangling_link(path: Path) -> None:
    path.symlink_to("new")


def a_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(here)


def a_fifo(path: Path) -> None:
    os.mkfifo(path)


IN_PLACE: list[Callable[[Path], None]] = [a_link, a_dangling_link, a_fifo, a_socket, Path.mkdir]


@pytest.mark.parametrize("put", IN_PLACE)
def test_what_is_no_regular_file_is_neither_written_nor_read(tmp_path: Path, bus: Bus, put: Callable[[Path], None]) -> None:
    put(tmp_path / TASK_BUS)
    before = sorted(path.name for path in tmp_path.iterdir())
    for use in (lambda: bus.post(said("x")), bus.mark, bus.messages, lambda: bus.since("")):
        with pytest.raises(WorkError, match=f"{TASK_BUS} .*move it away"):
            use()
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert not (tmp_path / "secret").exists() or (tmp_path / "secret").read_text() == "secret"


def test_a_device_is_no_bus() -> None:
    bus = Bus(Path("/dev"), "null")
    with pytest.raises(WorkError, match="/dev/null is not a regular file"):
        bus.post(said("x"))


def test_a_link_in_place_of_the_rotated_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / ROTATED).symlink_to("secret")
    bus = rotating(tmp_path, 1)
    bus.post(said("1"))
    bus.post(said("2"))
    assert not (tmp_path / ROTATED).is_symlink()
    assert bus.messages() == [said("1"), said("2")]
    assert (tmp_path / "secret").read_text() == "secret"


def test_a_directory_in_place_of_the_rotated_file_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    bus = rotating(tmp_path, 1)
    bus.post(said("1"))
    (tmp_path / ROTATED).mkdir()
    with pytest.raises(WorkError, match=f"{ROTATED} cannot be replaced: Is a directory; a directory stands in its place: move it away"):
        bus.post(said("2"))
    (tmp_path / ROTATED).rmdir()
    bus.post(said("2"))
    assert bus.messages() == [said("1"), said("2")]


def test_a_directory_that_is_gone_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(WorkError, match=f"{TASK_BUS} cannot be written: No such file or directory; its directory is not there"):
        Bus(tmp_path / "gone", TASK_BUS).post(said("x"))


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    bus = rotating(tmp_path, 2)
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(10):
        bus.post(said("x"))
        bus.since(bus.mark())
        bus.messages()
    assert len(list(Path("/dev/fd").iterdir())) == before


# --- a full disk ------------------------------------------------------------------------------------------------------

FULL = """\
import resource, signal, sys
from pathlib import Path
from ralphloop.bus.board import TASK_BUS, Bus
from ralphloop.bus.messages import Message, MessageType
size = (Path(sys.argv[1]) / TASK_BUS).stat().st_size + int(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
Bus(Path(sys.argv[1]), TASK_BUS).post(Message(at=1.0, type=MessageType.INFO, author="", text="x" * 10_000))
"""


@pytest.mark.parametrize(
    ("room", "reason"), [(0, "File too large"), (1, "No space left on device; free some space"), (5000, "No space left on device")]
)
def test_a_message_that_finds_no_room_leaves_the_bus_as_it_was(tmp_path: Path, bus: Bus, room: int, reason: str) -> None:
    bus.post(said("1"))
    before = (tmp_path / TASK_BUS).read_bytes()
    ended = subprocess.run([sys.executable, "-c", FULL, str(tmp_path), str(room)], capture_output=True, text=True, check=False)
    assert f"{TASK_BUS} cannot be written: {reason}" in ended.stderr
    assert (tmp_path / TASK_BUS).read_bytes() == before
    bus.post(said("2"))
    assert bus.messages() == [said("1"), said("2")]
