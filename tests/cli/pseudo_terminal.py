"""The installed `ralph` in a terminal, where a person can type."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from typing import Self

from program import PATIENCE_S, RALPH, Program

CTRL_C, CTRL_Z = "\x03", "\x1a"
SHELL = 'set -m; "$@"; echo "code $?"'
"""A shell with job control: each command is a group of its own, in the foreground."""

# The leader of a session, with standard input as its terminal.
IN_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A pseudo-terminal with a shell in it that runs `ralph`; `with` it, the shell is gone afterwards."""

    def __init__(self, program: Program, *arguments: str, shell: str = SHELL) -> None:
        self._master, slave = os.openpty()
        command = ("sh", "-c", shell, "sh", str(RALPH), *arguments)
        self._shell = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", IN_TERMINAL, *command],
            cwd=program.workspace,
            env=program.environ | {"TERM": "dumb"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self._said = bytearray()

    def type(self, keys: str) -> None:
        """Type these keys."""
        os.write(self._master, keys.encode())

    def await_words(self, words: str) -> str:
        """Wait until these words have been shown; all that was shown so far."""
        while words.encode() not in self._said:
            ready, _, _ = select.select([self._master], [], [], PATIENCE_S)
            assert ready, f"it never said {words!r}: {self._said.decode()}"
            self._said += os.read(self._master, 65536)
        return self._said.decode()

    def close(self) -> None:
        """Close the window."""
        os.close(self._master)
        self._master = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.kill()
        self._shell.wait()
        if self._master >= 0:
            self.close()
