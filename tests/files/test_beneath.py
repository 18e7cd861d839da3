"""Files below a root that an agent can write: nothing outside is ever read or written, and nothing blocks."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ralphloop.errors import WorkError
from ralphloop.files.beneath import (
    append_beneath,
    list_beneath,
    move_aside,
    read_beneath,
    remove_beneath,
    stat_beneath,
    write_beneath,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root, beside a directory `outside` that must stay as it is."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def outside(root: Path) -> Path:
    return root.parent / "outside"


def untouched(outside: Path) -> bool:
    return [path.name for path in outside.iterdir()] == ["secret"] and (outside / "secret").read_text() == "secret"


def test_what_is_written_is_read_with_its_directories_made(root: Path) -> None:
    write_beneath(root, "a/b/c.txt", b"content\0\xff")
    assert read_beneath(root, "a/b/c.txt") == b"content\0\xff"
    assert read_beneath(root, "./a//b/./c.txt") == b"content\0\xff"


def test_the_root_itself_may_be_a_link(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    write_beneath(link, "a.txt", b"1")
    assert (root / "a.txt").read_bytes() == b"1"


def test_nothing_is_read_through_a_link(root: Path, outside: Path) -> None:
    (root / "file").symlink_to(outside / "secret")
    (root / "directory").symlink_to(outside)
    (root / "real").mkdir()
    (root / "real" / "relative").symlink_to("../../outside")
    for path in ("file", "directory/secret", "real/relative/secret"):
        assert read_beneath(root, path) is None, path
    assert list_beneath(root, "directory") is None
    assert stat_beneath(root, "directory/secret") is None


WRITERS: list[Callable[[Path, str, bytes], None]] = [write_beneath, append_beneath]


@pytest.mark.parametrize("write", WRITERS)
def test_nothing_is_written_through_a_link(root: Path, outside: Path, write: Callable[[Path, str, bytes], None]) -> None:
    (root / "file").symlink_to(outside / "secret")
    (root / "dangling").symlink_to(outside / "new")
    (root / "directory").symlink_to(outside)
    for path in ("file", "dangling", "directory/secret", "directory/new", "directory/new/deep"):
        with pytest.raises(WorkError, match="link"):
            write(root, path, b"evil")
    assert untouched(outside)
    assert (root / "file").is_symlink()


def test_nothing_is_removed_or_moved_through_a_link(root: Path, outside: Path) -> None:
    (root / "file").symlink_to(outside / "secret")
    (root / "directory").symlink_to(outside)
    remove_beneath(root, "directory/secret")
    with pytest.raises(WorkError):
        move_aside(root, "directory/secret", ".aside")
    remove_beneath(root, "file")
    assert untouched(outside)
    assert list_beneath(root) == ["directory"]


@pytest.mark.parametrize("write", WRITERS)
def test_a_fifo_or_a_socket_neither_blocks_nor_counts_as_a_file(root: Path, write: Callable[[Path, str, bytes], None]) -> None:
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(root)  # the name of a socket must be short
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
        for path in ("fifo", "socket"):
            assert read_beneath(root, path) is None
            with pytest.raises(WorkError):
                write(root, path, b"")


def test_a_fifo_that_somebody_reads_is_not_written_to(root: Path) -> None:
    os.mkfifo(root / "fifo")
    reader = os.open(root / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(WorkError, match="not a regular file"):
            append_beneath(root, "fifo", b"text")
        assert os.read(reader, 10) == b""
    finally:
        os.close(reader)


def test_a_device_is_no_file() -> None:
    assert read_beneath(Path("/dev"), "zero") is None
    with pytest.raises(WorkError, match="not a regular file"):
        append_beneath(Path("/dev"), "null", b"")


def test_a_file_larger_than_the_cap_is_an_error_that_names_it(root: Path) -> None:
    write_beneath(root, "a.txt", b"12345")
    assert read_beneath(root, "a.txt", max_bytes=5) == b"12345"
    with pytest.raises(WorkError, match=r"a\.txt is larger than 4 bytes"):
        read_beneath(root, "a.txt", max_bytes=4)


@pytest.mark.parametrize("path", ["..", "../outside/secret", "a/../../outside/secret", "/etc/hostname", "nul\0", "", "."])
def test_paths_that_are_not_those_of_a_file_below_the_root_are_refused(root: Path, outside: Path, path: str) -> None:
    for act in (read_beneath, stat_beneath, remove_beneath):
        with pytest.raises(WorkError):
            act(root, path)
    for write in WRITERS:
        with pytest.raises(WorkError):
            write(root, path, b"evil")
    assert untouched(outside)


def test_a_root_that_is_gone_is_an_error_and_not_an_absent_file(root: Path) -> None:
    root.rmdir()
    with pytest.raises(WorkError, match="cannot be opened as a directory"):
        read_beneath(root, "a.txt")


def test_names_need_not_be_text(root: Path) -> None:
    write_beneath(root, "\udcff/\udcfe\n", b"1")
    assert read_beneath(root, "\udcff/\udcfe\n") == b"1"
    assert list_beneath(root) == ["\udcff"]


def test_a_name_that_is_too_long_is_an_error_in_words(root: Path) -> None:
    with pytest.raises(WorkError, match="cannot be read: File name too long"):
        read_beneath(root, "x" * 300)


def test_an_existing_file_keeps_its_mode_and_stays_readable_by_its_owner(root: Path) -> None:
    write_beneath(root, "run.sh", b"1", mode=0o750)
    write_beneath(root, "run.sh", b"2")
    assert (root / "run.sh").stat().st_mode & 0o7777 == 0o750
    (root / "run.sh").chmod(0o010)
    write_beneath(root, "run.sh", b"3")
    assert (root / "run.sh").stat().st_mode & 0o7777 == 0o410


def test_a_write_leaves_nothing_but_the_file(root: Path) -> None:
    write_beneath(root, "a.txt", b"1")
    (root / "directory").mkdir()
    with pytest.raises(WorkError, match="not a regular file"):
        write_beneath(root, "directory", b"1")
    assert list_beneath(root) == ["a.txt", "directory"]


def test_a_failed_write_leaves_the_old_content_and_no_rubbish(root: Path) -> None:
    write_beneath(root, "a.txt", b"old")
    script = (
        "import resource, signal, sys; from pathlib import Path; from ralphloop.files.beneath import write_beneath; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)); "
        "write_beneath(Path(sys.argv[1]), 'a.txt', b'x' * 100)"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(root)], capture_output=True, text=True, check=False)
    assert "a.txt cannot be written: File too large" in ended.stderr
    assert read_beneath(root, "a.txt") == b"old"
    assert list_beneath(root) == ["a.txt"]


def test_a_reader_sees_the_old_content_or_the_new_but_never_a_part(root: Path) -> None:
    contents = [letter * 200_000 for letter in (b"a", b"b")]
    write_beneath(root, "a.txt", contents[0])
    script = (
        "import sys; from pathlib import Path; from ralphloop.files.beneath import write_beneath\n"
        "for n in range(200): write_beneath(Path(sys.argv[1]), 'a.txt', (b'a', b'b')[n % 2] * 200_000)"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(root)]) as writer:
        while writer.poll() is None:
            assert read_beneath(root, "a.txt") in contents
    assert writer.returncode == 0


def test_a_directory_swapped_for_a_link_at_any_instant_leads_nowhere(root: Path, outside: Path) -> None:
    write_beneath(root, "docs/secret", b"lawful")
    (root / "link").symlink_to(outside)
    script = (
        "import os, sys; os.chdir(sys.argv[1]); print('ready', flush=True)\n"
        "while True:\n"
        "    os.rename('docs', 'aside'); os.rename('link', 'docs'); os.rename('docs', 'link'); os.rename('aside', 'docs')\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(root)], stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout is not None
        swapper.stdout.readline()
        seen = {read_beneath(root, "docs/secret") for _ in range(3000)}
        while b"lawful" not in seen:  # on a busy machine the link may stand there for all of them
            seen.add(read_beneath(root, "docs/secret"))
        swapper.kill()
    assert seen <= {b"lawful", None}


def test_appended_text_stands_at_the_end(root: Path) -> None:
    for text in (b"1\n", b"2\n"):
        append_beneath(root, "logs/loop.log", text)
    assert read_beneath(root, "logs/loop.log") == b"1\n2\n"


def test_removing_what_is_not_there_is_fine_and_a_directory_is_not_removed(root: Path) -> None:
    write_beneath(root, "directory/a.txt", b"")
    remove_beneath(root, "directory/a.txt")
    remove_beneath(root, "directory/a.txt")
    remove_beneath(root, "missing/a.txt")
    with pytest.raises(WorkError, match="directory cannot be removed"):
        remove_beneath(root, "directory")
    assert list_beneath(root) == ["directory"]


def test_what_is_moved_aside_overwrites_nothing(root: Path) -> None:
    moved = []
    for content in (b"1", b"2"):
        write_beneath(root, "a/b.txt", content)
        moved.append(move_aside(root, "a/b.txt", ".aside"))
    assert moved == ["a/b.txt.aside-1", "a/b.txt.aside-2"]
    assert [read_beneath(root, path) for path in moved] == [b"1", b"2"]
    assert read_beneath(root, "a/b.txt") is None


def test_a_listing_is_sorted_and_of_directories_alone(root: Path) -> None:
    for name in ("b", "a", ".c"):
        write_beneath(root, name, b"")
    assert list_beneath(root) == [".c", "a", "b"]
    assert list_beneath(root, "a") is None
    assert list_beneath(root, "missing") is None
    with pytest.raises(WorkError):
        list_beneath(root, "..")


def test_no_descriptor_is_left_open(root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside)
    write_beneath(root, "a/b.txt", b"")
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(20):
        for path in ("a/b.txt", "a", "link/secret", "missing/deep"):
            read_beneath(root, path)
            stat_beneath(root, path)
            list_beneath(root, path)
        with pytest.raises(WorkError):
            write_beneath(root, "link/new", b"")
    assert len(list(Path("/dev/fd").iterdir())) == before
