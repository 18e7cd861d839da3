"""A file that only grows, written by many processes and by agents as well: whole records, a cap, and marks that outlive one rotation.

Who writes holds `flock` on the file itself, so that records never mix; when the file would grow beyond its cap, it is renamed under that lock,
and who waited for the lock of a file that has lost its name takes the new one. Who reads holds the lock only while looking at the size: below
it nothing changes any more. Others (`echo >> file`) know of no lock, so what they have not ended with a newline yet is left for later.

A mark names a file by its inode and the checksum of its first bytes, since inodes are used again. The directory is trusted; the file is opened
neither through a link nor when it is anything but a regular file, and no lock is waited for without bound.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ralphloop.errors import WorkError
from ralphloop.files.beneath import MAX_BYTES

_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | _SAFE
_READ = os.O_RDONLY | _SAFE
_HEAD_BYTES = 256
_BLOCK_BYTES = 64 * 1024
_BETWEEN_TRIES_S = 0.005
_MARK = re.compile(r"([0-9]{1,20}):([0-9]{1,18}):([0-9a-f]{8})")
_REMEDIES = {
    errno.ELOOP: "a link stands in its place: move it away",
    errno.EISDIR: "a directory stands in its place: move it away",
    errno.ENXIO: "it is not a regular file: move it away",
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EFBIG: "the limit on the size of files (`ulimit -f`) is too low",
    errno.ENOENT: "its directory is not there",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalFile:
    """The file of that name; when it would grow beyond `max_bytes` it becomes `<stem>.1<suffix>`, in place of an older one."""

    directory: Path
    name: str
    max_bytes: int
    patience_s: float = 10.0

    def append(self, record: bytes) -> None:
        """Add a record below a blank line, whole or not at all."""
        deadline = time.monotonic() + self.patience_s
        with _explained(self._path, "written"):
            while not self._append_if_current(record, deadline):
                if time.monotonic() > deadline:
                    raise WorkError(f"{self._path} is put aside again and again by another process: end that process")

    def end(self) -> str:
        """The mark of where the last whole line ends now; empty where there is no file."""
        with self._parts() as parts:
            return _mark(parts[-1], _last_line_end(parts[-1], max(parts[-1].size - MAX_BYTES, 0))) if parts else ""

    def after(self, mark: str) -> Added:
        """The whole lines added since that mark, or everything where the mark is of no file here."""
        wanted = _MARK.fullmatch(mark)
        if wanted and self._is_at(int(wanted[1]), int(wanted[2])):
            return Added(pieces=[], mark=mark, known=True)
        with self._parts() as parts:
            held = [number for number, part in enumerate(parts) if wanted and _holds(part, wanted)]
            first, start = (held[-1], int(wanted[2])) if wanted and held else (0, 0)
            pieces = []
            for part in parts[first:]:
                start = _within_bound(part, start)
                end = _last_line_end(part, start) if part is parts[-1] else part.size
                pieces.append(os.pread(part.opened, end - start, start))
                mark, start = _mark(part, end), 0
            return Added(pieces=pieces, mark=mark if parts else "", known=bool(held))

    def everything(self) -> list[bytes]:
        """All there is now, a piece for each file, with a last line that may still grow."""
        with self._parts() as parts:
            return [os.pread(part.opened, part.size, _within_bound(part, 0)) for part in parts]

    @property
    def _path(self) -> Path:
        return self.directory / self.name

    @property
    def _rotated(self) -> Path:
        return self._path.with_name(f"{self._path.stem}.1{self._path.suffix}")

    def _append_if_current(self, record: bytes, deadline: float) -> bool:
        """Not where the file has lost its name, to somebody else or because it is full: then the next one is to be taken."""
        with _regular(self._path, _APPEND) as opened:
            self._lock(opened, fcntl.LOCK_EX, deadline)
            there = os.fstat(opened)
            if not _is_named(self._path, there):
                return False
            gap = _gap(opened, there.st_size)
            if there.st_size and there.st_size + len(gap) + len(record) > self.max_bytes:
                with _explained(self._rotated, "replaced"), suppress(FileNotFoundError):
                    self._path.replace(self._rotated)
                return False
            _write_whole(opened, there.st_size, gap + record)
            return True

    def _lock(self, opened: int, kind: int, deadline: float) -> None:
        while True:
            try:
                fcntl.flock(opened, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise WorkError(f"{self._path} is locked by another process for more than {self.patience_s:g} s: end that process") from None
                time.sleep(_BETWEEN_TRIES_S)
            else:
                return

    def _is_at(self, inode: int, size: int) -> bool:
        """A look that is cheap enough to be repeated: nothing is opened."""
        try:
            there = self._path.lstat()
        except OSError:
            return False
        return (there.st_ino, there.st_size) == (inode, size)

    @contextmanager
    def _parts(self) -> Iterator[list[_Part]]:
        """The files that there are, oldest first. The newer is opened first: if it is renamed at this moment, it is met twice, and none is missed."""
        with _explained(self._path, "read"), ExitStack() as stack:
            parts: list[_Part] = []
            for path in (self._path, self._rotated):
                with _explained(path, "read"), suppress(FileNotFoundError):
                    part = self._part(stack.enter_context(_regular(path, _READ)))
                    if part.inode not in [other.inode for other in parts]:
                        parts.append(part)
            yield parts[::-1]

    def _part(self, opened: int) -> _Part:
        self._lock(opened, fcntl.LOCK_SH, time.monotonic() + self.patience_s)
        there = os.fstat(opened)
        fcntl.flock(opened, fcntl.LOCK_UN)
        return _Part(opened=opened, inode=there.st_ino, size=there.st_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Whole lines, a piece for each file they lie in, and the mark behind them; `known`: the mark that was asked for is of a file here."""

    pieces: list[bytes]
    mark: str
    known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    opened: int
    inode: int
    size: int


def _mark(part: _Part, offset: int) -> str:
    return f"{part.inode}:{offset}:{_checksum(part, offset)}"


def _checksum(part: _Part, offset: int) -> str:
    return f"{zlib.crc32(os.pread(part.opened, min(offset, _HEAD_BYTES), 0)):08x}"


def _holds(part: _Part, wanted: re.Match[str]) -> bool:
    inode, offset = int(wanted[1]), int(wanted[2])
    return inode == part.inode and offset <= part.size and wanted[3] == _checksum(part, offset)


def _within_bound(part: _Part, start: int) -> int:
    """That offset, or one nearer to the end where more than can be read lies between: somebody has flooded the file by hand."""
    return max(start, part.size - MAX_BYTES)


def _last_line_end(part: _Part, start: int) -> int:
    """Behind the last newline after `start`; `start` itself where there is none."""
    end = part.size
    while end > start:
        block = max(start, end - _BLOCK_BYTES)
        newline = os.pread(part.opened, end - block, block).rfind(b"\n")
        if newline >= 0:
            return block + newline + 1
        end = block
    return start


def _gap(opened: int, size: int) -> bytes:
    """The newlines that are missing for a blank line at the end: a torn or handwritten line must not swallow the next record."""
    tail = os.pread(opened, 2, max(size - 2, 0))
    if not tail or tail.endswith(b"\n\n"):
        return b""
    return b"\n" if tail.endswith(b"\n") else b"\n\n"


def _write_whole(opened: int, size: int, content: bytes) -> None:
    written = 0
    try:
        written = os.write(opened, content)
    finally:
        if written < len(content):
            _take_back(opened, size, written)
    if written < len(content):  # the kernel says why only when nothing at all finds room
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _take_back(opened: int, size: int, written: int) -> None:
    with suppress(OSError):
        if os.fstat(opened).st_size == size + written:  # else somebody has added a line by hand, which is not ours to take away
            os.ftruncate(opened, size)


def _is_named(path: Path, there: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.lstat(), there)
    except FileNotFoundError:
        return False


@contextmanager
def _regular(path: Path, flags: int) -> Iterator[int]:
    opened = os.open(path, flags, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise WorkError(f"{path} is not a regular file (a FIFO, a device, …) and is not used: move it away")
        yield opened
    finally:
        os.close(opened)


@contextmanager
def _explained(path: Path, verb: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "see that you may read and write it, and that it lies on a local disk")
        raise WorkError(f"{path} cannot be {verb}: {error.strerror}; {remedy}") from error
