"""Nothing that was acknowledged is ever lost, however writers die and however many there are."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import ledger_samples as sample
import pytest

from ralphloop.ledger.queries import LoopRow, Queries
from ralphloop.ledger.store import Ledger

WRITER = Path(__file__).with_name("ledger_writer.py")


def start_writer(path: Path, loop_id: str, wanted: int = 0) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(WRITER), str(path), loop_id, str(wanted)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)  # else communicate() skips what readline() read ahead


def acknowledged(output: bytes) -> int:
    """The last entry that was said to be committed; a line that was cut off by the kill does not count."""
    whole_lines = output.rpartition(b"\n")[0].split()
    return int(whole_lines[-1]) if whole_lines else 0


def assert_sound(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def loop_named(path: Path, name: str) -> LoopRow:
    with Queries(path) as queries:
        row = queries.find(name)
    assert row is not None
    return row


@pytest.mark.slow
def test_writers_that_are_killed_at_any_moment_lose_no_acknowledged_entry(path: Path) -> None:
    last = dict.fromkeys(("red", "green", "blue"), 0)
    for _ in range(6):
        for name, output in outputs_of_killed_writers(path, tuple(last)).items():
            last[name] = max(last[name], acknowledged(output))
        assert_sound(path)
        for name, at_least in last.items():
            assert_stream_holds(path, name, at_least)


def outputs_of_killed_writers(path: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """Let writers run side by side until one of them has come some way, and kill them all, wherever they are."""
    writers = {name: start_writer(path, name) for name in names}
    pace = writers[random.choice(names)].stdout
    assert pace is not None
    head = b"".join(pace.readline() for _ in range(random.randint(1, 60)))
    for writer in writers.values():
        writer.kill()
    outputs = {}
    for name, writer in writers.items():
        rest, complaint = writer.communicate()
        assert complaint == b""
        outputs[name] = head + rest if writer.stdout is pace else rest
    return outputs


def assert_stream_holds(path: Path, name: str, at_least: int) -> None:
    """The stream has no gap and no lost end, and the roll-up agrees with it."""
    with Ledger(path) as ledger:
        times = [entry.at for entry in ledger.read(name)]
    assert times == [float(seq) for seq in range(1, len(times) + 1)]
    assert len(times) >= at_least
    if times:
        row = loop_named(path, name)
        assert (row.last_seq, row.iteration) == (len(times), len(times))


@pytest.mark.slow
def test_eight_writers_at_once_finish_without_an_error(path: Path) -> None:
    writers = [start_writer(path, f"loop-{number}", 100) for number in range(8)]
    for number, writer in enumerate(writers):
        output, complaint = writer.communicate()
        assert (writer.returncode, complaint, acknowledged(output)) == (0, b"", 100)
        assert loop_named(path, f"loop-{number}").last_seq == 100
    assert_sound(path)
    assert [entry.name for entry in path.parent.iterdir()] == ["ledger.db"]


def test_a_process_that_dies_inside_a_transaction_leaves_nothing_of_it(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.create_loop(sample.spec(), sample.ME, at=1.0)
    script = (
        "import os, sys; from pathlib import Path; from ralphloop.ledger.database import Database\n"
        "with Database(Path(sys.argv[1])).transaction() as connection:\n"
        "    connection.execute('DELETE FROM loop'); os.kill(os.getpid(), 9)"
    )
    died = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert died.returncode == -9
    assert loop_named(path, "demo").id == "loop-1"
