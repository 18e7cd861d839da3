"""Bytes in, lines out."""

from __future__ import annotations

LINE_CAP = 16 * 1024 * 1024


class LineSplitter:
    r"""Splits a stream of bytes at `\n` and nowhere else: a JSON line may hold U+2028, U+0085 or a lone `\r`.

    A line longer than the cap is dropped whole and counted; the next line is intact.
    """

    def __init__(self, cap: int = LINE_CAP) -> None:
        self.dropped_bytes = 0
        self._cap = cap
        self._begun = bytearray()  # grows in amortised linear time, also under thousands of one-byte reads
        self._size = 0  # of the begun line, including what was not kept of it

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without their line ends."""
        *ends, rest = chunk.split(b"\n")
        lines = []
        for end in ends:
            self._extend(end)
            lines += self._finish()
        self._extend(rest)
        return lines

    def close(self) -> list[bytes]:
        """The last line, where the stream did not end with a line end."""
        return self._finish() if self._size else []

    def _extend(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._cap:
            self._begun += piece

    def _finish(self) -> list[bytes]:
        line, size = bytes(self._begun), self._size
        self._begun.clear()
        self._size = 0
        if size > self._cap:
            self.dropped_bytes += size
            return []
        return [line]
