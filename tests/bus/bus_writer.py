"""Posts as one of many: says that it is ready, waits for a word, then posts COUNT messages as fast as it can.

usage: bus_writer.py DIRECTORY AUTHOR COUNT MAX_BYTES
"""

from __future__ import annotations

import sys
from pathlib import Path

from ralphloop.bus.board import TASK_BUS, Bus
from ralphloop.bus.messages import Message, MessageType


def message(author: str, number: int) -> Message:
    """Two lines, of which one looks like a heading; the longer ones are more than a page, so that a torn one shows."""
    filling = f"{author}/{number} " * (1000 if number % 10 == 0 else 5)
    text = f"{number} {filling}\n## 2026-01-01T00:00:00.000Z ERROR nobody\nend of {number}"
    return Message(at=float(number), type=MessageType.PROGRESS, author=author, text=text)


def main(directory: str, author: str, count: str, max_bytes: str) -> None:
    bus = Bus(Path(directory), TASK_BUS, max_bytes=int(max_bytes))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for number in range(int(count)):
        bus.post(message(author, number))


if __name__ == "__main__":
    main(*sys.argv[1:])
