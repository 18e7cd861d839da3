from __future__ import annotations

import json
import stat
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from supervised import FOR_EVER, python, sh, supervise, supervise_lines

from ralphloop.core.model import EndedBy

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


def test_an_over_long_line_is_dropped_and_the_next_is_intact(tmp_path: Path) -> None:
    script = "import os, sys\nout = sys.stdout.buffer\nfor _ in range(20): out.write(b'x' * 1_000_000)\nout.write(b'\\nnext\\n')"
    report, lines = supervise_lines(python(script), stdout_log=tmp_path / "log")
    assert (lines, report.dropped_bytes) == ([b"next"], 20_000_000)
    assert (tmp_path / "log").stat().st_size == 20_000_006


@pytest.mark.slow
def test_memory_stays_flat_under_64_mb_of_output(tmp_path: Path) -> None:
    seen = 0

    def on_line(line: bytes) -> bool:
        nonlocal seen
        seen += len(line) + 1
        return False

    script = "import sys\nfor _ in range(1024): sys.stdout.buffer.write((b'x' * 1023 + b'\\n') * 64)"
    tracemalloc.start()
    report = supervise(python(script), on_line=on_line, stdout_log=tmp_path / "log")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seen == report.output_bytes == (tmp_path / "log").stat().st_size == 64 * 1024 * 1024
    assert peak < 4 * 1024 * 1024


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
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
report, lines = supervise_lines(sh("for i in 1 2 3 4 5 6 7 8 9 10; do printf '%0999d\\\\n' $i; done"), stdout_log=Path(sys.argv[1]))
print(json.dumps([report.exit_code, len(lines), report.dropped_bytes]))
"""


def test_a_full_disk_under_the_log_does_not_end_the_run(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", FULL_DISK, str(tmp_path / "log")]
    done = subprocess.run(argv, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [0, 10, 9000]
    assert (tmp_path / "log").stat().st_size == 1000
