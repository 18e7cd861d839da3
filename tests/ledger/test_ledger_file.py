"""The file comes into being whole, grows with the program, and when it cannot be used the reason and the remedy are told."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import ledger_samples as sample
import pytest

from ralphloop import __version__
from ralphloop.errors import LedgerError
from ralphloop.ledger.database import Database
from ralphloop.ledger.migrate import migrate
from ralphloop.ledger.queries import Queries
from ralphloop.ledger.schema import MIGRATIONS, VERSION
from ralphloop.ledger.store import Ledger

HERE = Path(__file__).parent


def pragma(path: Path, name: str) -> object:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


def columns(path: Path, table: str) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def files(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


# --- A new file -------------------------------------------------------------------------------------------------------


def test_a_new_ledger_is_whole_and_private(path: Path) -> None:
    Ledger(path).close()
    assert files(path.parent) == ["ledger.db"]
    assert pragma(path, "user_version") == VERSION
    assert pragma(path, "journal_mode") == "wal"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_starters_at_the_same_moment_share_one_file_and_lose_nothing(path: Path) -> None:
    together = threading.Barrier(8)
    failures: list[BaseException] = []

    def start(number: int) -> None:
        try:
            together.wait()
            with Ledger(path) as ledger:
                ledger.create_loop(sample.spec(f"loop-{number}"), sample.ME, at=1.0)
        except BaseException as error:
            failures.append(error)
            raise

    starters = [threading.Thread(target=start, args=(number,)) for number in range(8)]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()
    assert failures == []
    assert files(path.parent) == ["ledger.db"]
    with Queries(path) as queries:
        assert {row.id for row in queries.loops()} == {f"loop-{number}" for number in range(8)}


# --- Migrations -------------------------------------------------------------------------------------------------------


def old_file(path: Path) -> None:
    """A file of version 0, before there were numbers."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE memo (text TEXT); INSERT INTO memo VALUES ('kept');")


def memo_of(path: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT text FROM memo").fetchall()


def test_an_old_file_is_migrated_after_a_backup_and_keeps_its_content(path: Path) -> None:
    old_file(path)
    with Ledger(path) as ledger:
        ledger.create_loop(sample.spec(), sample.ME, at=1.0)
    assert files(path.parent) == ["ledger.db", "ledger.db.v0.bak"]
    backup = path.with_name("ledger.db.v0.bak")
    assert (memo_of(path), pragma(path, "user_version"), pragma(path, "journal_mode")) == ([("kept",)], VERSION, "wal")
    assert (memo_of(backup), pragma(backup, "user_version"), columns(backup, "loop")) == ([("kept",)], 0, set())
    assert backup.stat().st_mode & 0o777 == 0o600


def test_only_writers_migrate(path: Path) -> None:
    old_file(path)
    with Queries(path) as queries:
        assert queries.loops() == []
    assert pragma(path, "user_version") == 0


def test_every_missing_version_is_applied_and_what_is_there_is_kept(ledger: Ledger, path: Path, queries: Queries) -> None:
    coming = (*MIGRATIONS, ("ALTER TABLE loop ADD COLUMN mood TEXT",), ("CREATE TABLE extra (a)", "INSERT INTO extra VALUES (1)"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, path, coming)
        migrate(connection, path, coming)
        assert connection.execute("SELECT * FROM extra").fetchall() == [(1,)]
    assert pragma(path, "user_version") == VERSION + 2
    assert {"mood", "name"} <= columns(path, "loop")
    assert columns(path.with_name(f"ledger.db.v{VERSION}.bak"), "loop") == columns(path, "loop") - {"mood"}
    ledger.append("loop-1", 1, [sample.started()], sample.rollup(), durable=False)  # code of yesterday goes on writing
    with pytest.raises(LedgerError, match="upgrade ralphloop"):
        queries.loops()


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    Ledger(path).close()
    broken = (*MIGRATIONS, ("CREATE TABLE extra (a)", "SELECT nonsense"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection, pytest.raises(sqlite3.OperationalError):
        migrate(connection, path, broken)
    assert (pragma(path, "user_version"), columns(path, "extra")) == (VERSION, set())


def test_a_file_of_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    Ledger(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    for use in (lambda: Ledger(path).close(), lambda: Queries(path).loops()):
        with pytest.raises(LedgerError) as caught:
            use()
        for word in (str(path), f"version {VERSION + 1}", f"up to {VERSION}", __version__, "upgrade ralphloop"):
            assert word in str(caught.value)
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.bak"))


# --- A file that cannot be used ---------------------------------------------------------------------------------------


def complaints(path: Path) -> list[str]:
    """What a writer and a reader say of a file that they cannot use."""
    said = []
    for use in (lambda: Ledger(path).close(), lambda: Queries(path).loops()):
        with pytest.raises(LedgerError) as caught:
            use()
        said.append(str(caught.value))
    return said


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("Dear diary, today I learned about ledgers.\n" * 50)
    for complaint in complaints(path):
        assert str(path) in complaint
        assert "move it" in complaint
    assert path.read_text().startswith("Dear diary")


def test_damage_inside_the_file_is_told_with_the_remedy(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.create_loop(sample.spec(), sample.ME, at=1.0)
        ledger.append("loop-1", 1, [sample.cheap(number) for number in range(1, 500)], sample.rollup(), durable=False)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 4096))
    with Ledger(path) as ledger, Queries(path) as queries:
        for use in (
            lambda: list(ledger.read("loop-1")),
            lambda: ledger.take_over("loop-1", sample.OTHER, 2),
            queries.loops,
            lambda: list(queries.entries_raw("loop-1")),
        ):
            with pytest.raises(LedgerError, match="is damaged") as caught:
                use()
            assert str(path) in str(caught.value)


def test_a_file_cut_short_is_told_with_the_remedy(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.create_loop(sample.spec(), sample.ME, at=1.0)
    os.truncate(path, 6000)
    assert all("is damaged" in complaint for complaint in complaints(path))


def test_a_directory_in_its_place_is_told(path: Path) -> None:
    path.mkdir(parents=True)
    assert all(f"the ledger {path} cannot be used" in complaint for complaint in complaints(path))


def test_a_file_in_place_of_the_state_home_is_told_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    with pytest.raises(LedgerError, match="another state home"):
        Ledger(tmp_path / "home" / "ledger.db")


def test_a_row_that_is_no_text_is_told_as_damage(ledger: Ledger, path: Path) -> None:
    ledger.append("loop-1", 1, [sample.started()], sample.rollup(), durable=False)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE entry SET json = CAST(x'ff' AS TEXT)")
    with pytest.raises(LedgerError, match="is damaged"):
        list(ledger.read("loop-1"))


def test_a_bug_of_our_own_is_not_told_as_damage(path: Path) -> None:
    database = Database(path)
    database.close()
    with pytest.raises(sqlite3.ProgrammingError):
        database.rows("SELECT 1", ())


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A directory that another user can reach, too."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    yield directory
    directory.chmod(0o755)
    shutil.rmtree(directory)


def run_unprivileged(path: Path) -> list[str]:
    """What a process without special rights says of creating a loop, and of listing them."""
    command = [sys.executable, str(HERE / "ledger_unprivileged.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_directory_that_cannot_be_written_is_told_with_the_remedy(reachable: Path) -> None:
    path = reachable / "ledger.db"
    reachable.chmod(0o555)
    wrote, listed = run_unprivileged(path)
    assert wrote.startswith(f"LedgerError: the ledger {path} cannot be used")
    assert "change their permissions" in wrote
    assert listed == "0 loops"


@pytest.mark.parametrize("directory_mode", [0o555, 0o777])
def test_a_file_that_cannot_be_written_is_told_with_the_remedy_and_can_still_be_read(reachable: Path, directory_mode: int) -> None:
    path = reachable / "ledger.db"
    with Ledger(path) as ledger:
        ledger.create_loop(sample.spec(), sample.ME, at=1.0)
        for file in reachable.iterdir():
            file.chmod(0o444)
        reachable.chmod(directory_mode)
        wrote, listed = run_unprivileged(path)
    assert wrote.startswith(f"LedgerError: the ledger {path} cannot be used")
    assert "change their permissions" in wrote
    assert listed == "1 loops"


def test_a_file_of_somebody_else_is_told_with_the_remedy(reachable: Path) -> None:
    path = reachable / "ledger.db"
    Ledger(path).close()
    path.chmod(0o000)
    for complaint in run_unprivileged(path):
        assert complaint.startswith(f"LedgerError: the ledger {path} cannot be used")
        assert "change their permissions" in complaint


# --- A full disk ------------------------------------------------------------------------------------------------------


def test_a_full_disk_is_told_and_loses_nothing_and_writing_goes_on_when_there_is_space(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(HERE / "ledger_full_disk.py"), str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"LedgerError: the ledger {tmp_path / 'ledger.db'} cannot be used")
    assert "free some space" in done.stdout
    assert done.stdout.endswith("all kept\n")


@pytest.fixture
def small_disk(tmp_path: Path) -> list[str]:
    """A command prefix that runs a program with a disk of 4 MB at tmp_path, in a mount namespace that ends with it; empty where that is not allowed."""
    script = 'mount -t tmpfs -o size=4m ralphloop-test "$0" && exec "$@"'
    for unshare in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]):
        prefix = [*unshare, "sh", "-c", script, str(tmp_path)]
        if shutil.which("unshare") and subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return prefix
    return []


def test_a_truly_full_disk_behaves_the_same(tmp_path: Path, small_disk: list[str]) -> None:
    command = [*small_disk, sys.executable, str(HERE / "ledger_full_disk.py"), str(tmp_path)]
    done = subprocess.run([*command, "ballast"] if small_disk else command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "free" in done.stdout
    assert done.stdout.endswith("all kept\n")
