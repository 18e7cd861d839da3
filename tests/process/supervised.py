"""Small real programs under the real supervisor."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import settings

from ralphloop.core.model import RunReport
from ralphloop.core.ports import Launch, Sign
from ralphloop.process.signals import StopFlag
from ralphloop.process.supervise import Supervisor

ENV = {"PATH": os.defpath}
FOR_EVER = "600"  # seconds: longer than anybody waits for a test

# Two forks and a session of its own: no parent, no group, no pipe tells of it. It prints its pid, and its parent goes, once it is all set up.
DAEMON = f"""
import os, signal, sys, time
ready, tell = os.pipe()
if os.fork():
    os.close(tell)
    os.read(ready, 1)
    os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
if "stubborn" in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(1, b"%d\\n" % os.getpid())
for fd in 1, 2, tell: os.close(fd)
time.sleep({FOR_EVER})
"""


def sized(usual: int, soak: int) -> int:
    """How much of something: what a test needs in order to fail, or under `make soak` what nobody has seen fail yet."""
    return soak if settings().max_examples >= settings.get_profile("soak").max_examples else usual


def sh(script: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", script)


def python(script: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", script)


@contextmanager
def unsupervised(argv: Sequence[str], env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that nobody supervises; gone afterwards."""
    with subprocess.Popen(argv, env=env) as process:
        try:
            yield process
        finally:
            process.kill()


def supervise(
    argv: Sequence[str],
    *,
    on_line: Callable[[bytes], bool] = lambda _: False,  # whether the turn of the agent is over
    stop: StopFlag | None = None,
    env: dict[str, str] | None = None,
    **launch: Any,
) -> RunReport:
    flag = stop or StopFlag()
    try:
        return Supervisor(flag).supervise(
            Launch(argv=tuple(argv), cwd=launch.pop("cwd", Path("/")), env=env or ENV, **launch), lambda line: Sign(on_line(line))
        )
    finally:
        if stop is None:
            flag.close()


def supervise_lines(argv: Sequence[str], **launch: Any) -> tuple[RunReport, list[bytes]]:
    """The report, and every line that was handed on."""
    lines: list[bytes] = []

    def keep(line: bytes) -> bool:
        lines.append(line)
        return False

    return supervise(argv, on_line=keep, **launch), lines


def result(line: bytes) -> bool:
    """For agents that print `result` once they are ready to be tested."""
    return line == b"result"


class Exit:
    """Watches a process that somebody else started, by a descriptor that no other process can take over."""

    def __init__(self, pid: int) -> None:
        self._fd = os.pidfd_open(pid)

    def has_come(self) -> bool:
        """Wait for it, generously."""
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        ready = bool(poll.poll(20_000))
        os.close(self._fd)
        return ready
