from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from supervised import FOR_EVER, python, sh, sized, supervise, supervise_lines

from ralphloop.core.model import EndedBy
from ralphloop.process.lines import LINE_CAP

AWKWARD = b'{"a": "\xff\xfe"}\n\0\n' + '{"b": "one\u2028line"}\n'.encode() + b"crlf\r\n\n" + "é€😀".encode() + b"\nno newline at the end"


def test_every_byte_reaches_the_log_and_every_line_the_reader(tmp_path: Path) -> None:
    (tmp_path / "awkward").write_bytes(AWKWARD)
    report, lines = supervise_lines(("/bin/cat", "awkward"), cwd=tmp_path, stdout_log=tmp_path / "log")
    assert lines == AWKWARD.split(b"\n")
    assert (tmp_path / "log").read_bytes() == AWKWARD
    assert (report.output_bytes, report.dropped_bytes) == (len(AWKWARD), 0)


def test_characters_split_over_reads_come_together(tmp_path: Path) -> None:
    script = f"import os\nfor byte in {AWKWARD!r}: os.write(1, bytes([byte]))"
    _, lines = supervise_lines(python(script), stdout_log=tmp_path / "log")
    assert lines == AWKWARD.split(b"\n")
    assert (tmp_path / "log").read_bytes() == AWKWARD


def test_a_line_is_in_the_log_before_the_reader_has_it(tmp_path: Path) -> None:
    """Whatever becomes of the reader, what it read can be read again."""
    logged: list[bytes] = []

    def on_line(_line: bytes) -> bool:
        logged.append((tmp_path / "log").read_bytes())
        return False

    supervise(sh("echo one"), on_line=on_line, stdout_log=tmp_path / "log")
    assert logged == [b"one\n"]


def test_stdout_and_stderr_are_kept_apart(tmp_path: Path) -> None:
    report, lines = supervise_lines(sh("echo out; echo err >&2"), stdout_log=tmp_path / "out", stderr_log=tmp_path / "err")
    assert (lines, report.stderr_tail, report.output_bytes) == ([b"out"], "err\n", 8)
    assert ((tmp_path / "out").read_bytes(), (tmp_path / "err").read_bytes()) == (b"out\n", b"err\n")


def test_both_streams_can_share_one_log(tmp_path: Path) -> None:
    supervise(sh("echo out; echo err >&2"), stdout_log=tmp_path / "log", stderr_log=tmp_path / "log")
    assert sorted((tmp_path / "log").read_bytes().split()) == [b"err", b"out"]


def test_logs_are_for_their_owner_alone(tmp_path: Path) -> None:
    supervise(sh("echo out"), stdout_log=tmp_path / "out", stderr_log=tmp_path / "err")
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("out", "err")} == {0o600}


@contextmanager
def peak_of_memory() -> Iterator[list[int]]:
    """How much was in use at most; known at the end."""
    peak: list[int] = []
    tracemalloc.start()
    try:
        yield peak
    finally:
        peak.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()


LINE = "import os, sys\nfor _ in range(int(sys.argv[1])): sys.stdout.buffer.write(b'x' * 1_000_000)\nsys.stdout.buffer.write(b'\\nnext\\n')"


def test_a_line_of_10_mb_is_handed_on_whole(tmp_path: Path) -> None:
    report, (line, *rest) = supervise_lines((*python(LINE), "10"), stdout_log=tmp_path / "log")
    assert (line, rest, report.dropped_bytes) == (b"x" * 10_000_000, [b"next"], 0)


@pytest.mark.slow
def test_an_over_long_line_is_dropped_and_the_next_is_intact(tmp_path: Path) -> None:
    megabytes = sized(64, 500)
    with peak_of_memory() as peak:
        report, lines = supervise_lines((*python(LINE), str(megabytes)), stdout_log=tmp_path / "log")
    assert (lines, report.dropped_bytes) == ([b"next"], megabytes * 1_000_000)
    assert (tmp_path / "log").stat().st_size == megabytes * 1_000_000 + 6
    assert peak[0] < 3 * LINE_CAP


FLOOD = """
import hashlib, sys
lines, digest = b"".join(b'{"text": "%01000d"}\\n' % i for i in range(64)), hashlib.sha256()
for _ in range(int(sys.argv[1])): sys.stdout.buffer.write(lines); digest.update(lines)
sys.stderr.write(digest.hexdigest())
"""


@pytest.mark.slow
def test_memory_stays_flat_under_a_flood_and_the_log_is_complete(tmp_path: Path) -> None:
    read = hashlib.sha256()

    def on_line(line: bytes) -> bool:
        read.update(line + b"\n")
        return False

    with peak_of_memory() as peak:
        report = supervise((*python(FLOOD), str(sized(1024, 16 * 1024))), on_line=on_line, stdout_log=tmp_path / "log")
    said = report.stderr_tail
    with (tmp_path / "log").open("rb") as log:
        assert (said, said, said) == (read.hexdigest(), report.stdout_digest, hashlib.file_digest(log, "sha256").hexdigest())
    assert report.output_bytes > sized(1024, 16 * 1024) * 64_000
    assert peak[0] < 4 * 1024 * 1024


# It tells whether it was held back, before it is all read.
HASTY = """
import os, sys
os.set_blocking(1, False)
line, left = b"x" * 1023 + b"\\n", 64 * 1024
try:
    while left:
        os.write(1, line)
        left -= 1
    word = "never"
except BlockingIOError:
    word = "held back"
with open("word", "w") as file: file.write(word)
os.set_blocking(1, True)
for _ in range(left): os.write(1, line)
"""


@pytest.mark.slow
def test_an_agent_is_held_back_by_a_slow_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "word")
    words: list[str] = []
    lines = 0

    def on_line(_: bytes) -> bool:
        nonlocal lines
        lines += 1
        if lines == 1:
            words.append((tmp_path / "word").read_text())
        return False

    report = supervise(python(HASTY), on_line=on_line, cwd=tmp_path)
    assert (words, lines, report.exit_code) == (["held back"], 64 * 1024, 0)


def test_a_flood_on_stderr_blocks_nothing_and_leaves_its_end(tmp_path: Path) -> None:
    script = "import sys\nfor _ in range(128): sys.stderr.buffer.write(b'x' * 65536)\nsys.stderr.buffer.write(b'the last \\xff words')"
    report, lines = supervise_lines(python(script), stderr_log=tmp_path / "log")
    assert (report.ended_by, report.exit_code, lines) == (EndedBy.EXIT, 0, [])
    assert report.stderr_tail.endswith("xxx" + "the last \ufffd words")
    assert len(report.stderr_tail) == 4096
    assert (tmp_path / "log").stat().st_size == 128 * 65536 + 16


def test_a_large_prompt_is_delivered_while_the_answer_is_read() -> None:
    prompt = b"0123456789abcde\n" * 65536
    report, lines = supervise_lines(("/bin/cat",), stdin=prompt)
    assert (report.exit_code, b"\n".join([*lines, b""])) == (0, prompt)


@pytest.mark.parametrize("first", ["", "dd bs=4096 count=1 of=/dev/null 2>/dev/null;"], ids=["never reads", "stops reading"])
def test_an_agent_that_does_not_read_its_large_prompt_still_runs_out_of_time(first: str) -> None:
    report = supervise(sh(f"{first} exec sleep {FOR_EVER}"), stdin=b"x" * 1_048_576, timeout_s=0.2)
    assert report.ended_by is EndedBy.TOTAL_TIMEOUT


@pytest.mark.parametrize("script", ["exit 6", "head -c 10; exit 6", f"exec <&-; sleep {FOR_EVER} & exit 6"])
def test_an_agent_that_does_not_read_its_prompt_to_the_end_is_no_error(script: str) -> None:
    report = supervise(sh(script), stdin=b"x" * 1_048_576)
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 6)


def test_without_a_prompt_standard_input_is_at_its_end() -> None:
    assert supervise(("/bin/cat",)).exit_code == 0


@pytest.mark.parametrize("in_the_way", ["no such directory/log", "a directory", "a fifo", "a link"])
def test_a_log_that_cannot_be_written_harms_nothing_but_is_counted(tmp_path: Path, in_the_way: str) -> None:
    (tmp_path / "a directory").mkdir()
    subprocess.run(["mkfifo", tmp_path / "a fifo"], check=True)
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "a link").symlink_to("precious")
    report, lines = supervise_lines(sh("echo said"), stdout_log=tmp_path / in_the_way)
    assert (report.exit_code, lines, report.dropped_bytes) == (0, [b"said"], 5)
    assert (tmp_path / "precious").read_text() == "precious"


FULL_DISK = """
import json, resource, sys
from pathlib import Path
from supervised import sh, supervise_lines
if "limited" in sys.argv: resource.setrlimit(resource.RLIMIT_FSIZE, (1_048_576, resource.RLIM_INFINITY))
report, lines = supervise_lines(sh("for i in 1 2 3; do printf '%0999999d\\\\n' $i; done"), stdout_log=Path(sys.argv[1], "log"))
print(json.dumps([report.exit_code, len(lines), report.dropped_bytes, Path(sys.argv[1], "log").stat().st_size]))
"""


@pytest.fixture(params=["a limit", "a small disk"])
def full_disk(tmp_path: Path, request: pytest.FixtureRequest) -> list[str]:
    """A command that runs FULL_DISK where a megabyte can be written at tmp_path, and no more: on a disk of its own, where that is allowed."""
    program = [sys.executable, "-c", FULL_DISK, str(tmp_path)]
    mount = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=1m ralphloop-test "$0" && exec "$@"', str(tmp_path)]
    mounts = shutil.which("unshare") and subprocess.run([*mount, "true"], capture_output=True, check=False).returncode == 0
    return [*mount, *program] if request.param == "a small disk" and mounts else [*program, "limited"]


def test_a_full_disk_under_the_log_does_not_end_the_run(full_disk: list[str]) -> None:
    done = subprocess.run(full_disk, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [0, 3, 3_000_000 - 1_048_576, 1_048_576]
