"""Artifacts lie where an agent can reach them: nothing there may hold Ralph or lead it elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ralphloop.files.artifacts import read_artifact, read_pieces, write_artifact


def test_an_artifact_is_private_and_comes_back(tmp_path: Path) -> None:
    write_artifact(tmp_path / "final.md", b"done")
    assert read_artifact(tmp_path / "final.md") == b"done"
    assert (tmp_path / "final.md").stat().st_mode & 0o777 == 0o600


def test_a_fifo_or_a_link_in_its_place_is_replaced_and_not_opened(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("theirs")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    for name in ("fifo", "link"):
        write_artifact(tmp_path / name, b"ours")
        assert read_artifact(tmp_path / name) == b"ours"
    assert (tmp_path / "secret").read_text() == "theirs"


@pytest.mark.parametrize("kind", ["fifo", "link", "directory", "nothing"])
def test_what_is_no_regular_file_is_no_artifact(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "final.md"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to("/etc/hostname")
    elif kind == "directory":
        path.mkdir()
    assert read_artifact(path) is None


def test_a_large_file_is_read_in_pieces_and_an_empty_one_in_one(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 10)
    (tmp_path / "empty").write_bytes(b"")
    assert list(read_pieces(tmp_path / "large", 4)) == [b"xxxx", b"xxxx", b"xx"]
    assert list(read_pieces(tmp_path / "empty", 4)) == [b""]
