"""The files of the state home: places, contents by digest, and the lock of a loop."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ralphloop.errors import ConfigError, RalphError
from ralphloop.files.blobs import BlobStore
from ralphloop.files.locks import Holder, LoopLock
from ralphloop.files.places import attempt_dir, blobs_dir, ledger_path, lock_path, loop_dir, prepare_state_home


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


# --- places -----------------------------------------------------------------------------------------------------------


def test_everything_has_its_place_in_the_state_home(tmp_path: Path) -> None:
    assert loop_dir(tmp_path, "l1") == tmp_path / "loops" / "l1"
    assert attempt_dir(tmp_path, "l1", 3, 2) == tmp_path / "loops" / "l1" / "3" / "2"
    assert blobs_dir(tmp_path) == tmp_path / "blobs"
    assert ledger_path(tmp_path) == tmp_path / "ledger.db"


def test_a_lock_belongs_to_a_name_in_a_workspace(tmp_path: Path) -> None:
    here = lock_path(tmp_path, "/srv/a", "loop")
    assert here == lock_path(tmp_path, "/srv/a", "loop")
    assert here.parent == tmp_path / "locks"
    assert len({here, lock_path(tmp_path, "/srv/a", "other"), lock_path(tmp_path, "/srv/b", "loop"), lock_path(tmp_path, "\udcff", "../../x")}) == 4


def test_the_state_home_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "state" / "ralph"
    prepare_state_home(home)
    prepare_state_home(home)
    assert {path.name: mode(path) for path in home.iterdir()} == {"loops": 0o700, "blobs": 0o700, "locks": 0o700}
    assert mode(home) == 0o700


def test_a_directory_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    prepare_state_home(tmp_path)
    assert mode(tmp_path) == 0o755


def test_a_file_in_the_way_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ConfigError, match=r"file.* cannot be made: .*set RALPH_STATE_HOME"):
            prepare_state_home(home)


@pytest.mark.parametrize("prepared", [True, False])
def test_a_home_that_cannot_be_written_is_an_error_that_says_what_to_do(tmp_path: Path, prepared: bool) -> None:
    home = tmp_path / "home"
    home.mkdir()
    if prepared:
        prepare_state_home(home)
    script = (
        "import os, sys; from pathlib import Path; from ralphloop.files.places import prepare_state_home; os.chdir(sys.argv[1])\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"  # to root everything is writable
        "prepare_state_home(Path('.'))"
    )
    home.chmod(0o555)
    for directory in home.iterdir():
        directory.chmod(0o555)
    ended = subprocess.run([sys.executable, "-c", script, str(home)], capture_output=True, text=True, check=False)
    home.chmod(0o755)
    assert "ConfigError: the directory" in ended.stderr
    assert "set RALPH_STATE_HOME" in ended.stderr


# --- blobs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"text", b"\0\xff" * 100_000])
def test_a_content_is_kept_under_its_digest(tmp_path: Path, content: bytes) -> None:
    blobs = BlobStore(tmp_path / "blobs")
    digest = blobs.put(content)
    assert digest == hashlib.sha256(content).hexdigest()
    assert BlobStore(tmp_path / "blobs").get(digest) == content


def test_contents_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    digest = BlobStore(tmp_path / "blobs").put(b"secret")
    assert mode(tmp_path / "blobs") == 0o700
    assert mode(tmp_path / "blobs" / digest) == 0o600


def test_a_content_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    inode = (tmp_path / blobs.put(b"text")).stat().st_ino
    assert (tmp_path / blobs.put(b"text")).stat().st_ino == inode
    assert len(list(tmp_path.iterdir())) == 1


def test_a_damaged_content_is_an_error_until_it_is_put_again(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    digest = blobs.put(b"text")
    (tmp_path / digest).write_bytes(b"te")
    with pytest.raises(RalphError, match=f"{digest} is damaged"):
        blobs.get(digest)
    BlobStore(tmp_path).put(b"text")
    assert blobs.get(digest) == b"text"


@pytest.mark.parametrize("digest", ["0" * 64, "../../etc/hostname", ""])
def test_a_content_that_was_never_kept_is_an_error_in_words(tmp_path: Path, digest: str) -> None:
    with pytest.raises(RalphError):
        BlobStore(tmp_path).get(digest)


def test_a_content_that_cannot_be_kept_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("in the way")
    with pytest.raises(RalphError, match="cannot be written"):
        BlobStore(tmp_path / "blobs").put(b"text")


# --- locks ------------------------------------------------------------------------------------------------------------

ME = Holder(boot_id="b", pid=1, started="s", nonce="n")
HOLD = """
import subprocess, sys
from pathlib import Path
from ralphloop.files.locks import Holder, LoopLock
lock = LoopLock(Path(sys.argv[1]))
assert lock.acquire(Holder(boot_id="boot", pid=4711, started="12345", nonce="a long nonce of the other process"))
child = subprocess.Popen(["sleep", "600"], close_fds=False, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
sys.stdin.read()
"""


def test_one_loop_has_one_holder(tmp_path: Path) -> None:
    first, second = LoopLock(tmp_path / "lock"), LoopLock(tmp_path / "lock")
    assert first.acquire(ME)
    assert first.acquire(ME)
    assert not second.acquire(ME)
    first.release()
    first.release()
    assert second.acquire(ME)
    second.release()


def test_a_lock_tells_its_holder_and_dies_with_it_although_its_children_live(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        orphan = int(other.stdout.readline())
        try:
            lock = LoopLock(path)
            assert not lock.acquire(ME)
            assert lock.holder() == Holder(boot_id="boot", pid=4711, started="12345", nonce="a long nonce of the other process")
            other.kill()
            other.wait()
            assert lock.acquire(ME)
            assert lock.holder() == ME
            lock.release()
        finally:
            os.kill(orphan, signal.SIGKILL)


def test_the_lock_file_stays_when_the_lock_is_let_go_and_names_nobody(tmp_path: Path) -> None:
    lock = LoopLock(tmp_path / "lock")
    lock.acquire(ME)
    assert json.loads((tmp_path / "lock").read_text()) == {"boot_id": "b", "pid": 1, "started": "s", "nonce": "n"}
    lock.release()
    assert lock.holder() is None
    assert (tmp_path / "lock").read_bytes() == b""
    assert mode(tmp_path / "lock") == 0o600


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"pid": 1}', "\udcff"])
def test_a_name_that_cannot_be_read_is_nobody(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "lock").write_text(content, errors="surrogateescape")
    assert LoopLock(tmp_path / "lock").holder() is None


def test_a_lock_that_cannot_be_opened_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "missing" / "lock", tmp_path / "link"):
        with pytest.raises(RalphError, match="cannot be opened"):
            LoopLock(path).acquire(ME)
    assert not (tmp_path / "elsewhere").exists()
