"""Child loops: one small file for each, which its guardian writes before anything else and takes away when it ends.

In the directory of the parent loop, `children/<pid>`; the content is the identity of the guardian, as the rooms around write it. A file may outlive
its process: who reads it looks whether that process lives. Light to import, as guardians are meant to be small.
"""

# pathlib costs more than a guardian should.
# ruff: noqa: PTH102, PTH105, PTH108, PTH110, PTH112, PTH118, PTH208
import os
from contextlib import suppress

UNREADY = ".new"


def enlist(state_home: str, loop_id: str, pid: int, identity: bytes) -> str:
    """Write a child of that loop down; the answer is the path of its file. FileNotFoundError where that loop is not in this state home."""
    directory = _directory(state_home, loop_id)
    with suppress(FileExistsError):  # another child is just as early
        os.mkdir(directory, 0o700)
    path, unready = os.path.join(directory, str(pid)), os.path.join(directory, f"{pid}{UNREADY}")
    descriptor = os.open(unready, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, identity)
    finally:
        os.close(descriptor)
    os.replace(unready, path)
    return path


def strike(path: str) -> None:
    """Take the file of a child away."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def sign_child(state_home: str, loop_id: str) -> None:
    """Keep for ever that an agent began this loop, whose directory is there."""
    os.close(os.open(_signature(state_home, loop_id), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))


def is_signed(state_home: str, loop_id: str) -> bool:
    """Whether an agent began this loop."""
    return os.path.exists(_signature(state_home, loop_id))


def enlisted(state_home: str, loop_id: str) -> list[bytes]:
    """What the files of that loop's children hold, dead ones among them."""
    directory = _directory(state_home, loop_id)
    names = os.listdir(directory) if os.path.isdir(directory) else []
    return [_content(os.path.join(directory, name)) for name in names if not name.endswith(UNREADY)]


def _content(path: str) -> bytes:
    """Nothing where the file went while we looked, or where something else stands in its place: agents can write here."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 4096)
    except OSError:  # a directory, a FIFO
        return b""
    finally:
        os.close(descriptor)


def _signature(state_home: str, loop_id: str) -> str:
    return os.path.join(state_home, "loops", loop_id, "begun-by-an-agent")


def _directory(state_home: str, loop_id: str) -> str:
    return os.path.join(state_home, "loops", loop_id, "children")
