"""One process that leads a session of its own, and the group around it.

The group is signalled by the leader's pid. That number is ours only for as long as the leader has not been reaped: even a dead, unreaped leader keeps
the system from giving the number away. So the order is always: see the exit without reaping, end the group, reap.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from ralphloop.process.patience import PATIENCE_S
from ralphloop.process.pidfd import open_pidfd
from ralphloop.process.start_errors import explain_start_error


class NotStarted(Exception):
    """The command could not be started; the message is a sentence for a person."""


class Child:
    """A started process with pipes on stdout and stderr, and on stdin where asked for; else stdin is empty."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: bool) -> None:
        try:
            # No preexec_fn: it would switch vfork off, which costs milliseconds, and is unsafe beside threads.
            self._popen = subprocess.Popen(
                argv,
                cwd=os.fspath(cwd),
                env=env,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                close_fds=True,
                start_new_session=True,
            )
        except (OSError, ValueError, IndexError) as error:
            raise NotStarted(explain_start_error(argv, cwd, env, error)) from error
        self._exit_fd = _open_exit(self._popen.pid)
        self._status: int | None = None
        self._ours = True

    @property
    def pid(self) -> int:
        """Its number: ours for as long as it is not reaped."""
        return self._popen.pid

    @property
    def stdin(self) -> IO[bytes] | None:
        """Our end of its standard input."""
        return self._popen.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """Our end of its standard output."""
        assert self._popen.stdout is not None
        return self._popen.stdout

    @property
    def stderr(self) -> IO[bytes]:
        """Our end of its standard error."""
        assert self._popen.stderr is not None
        return self._popen.stderr

    @property
    def exit_fd(self) -> int | None:
        """Readable once the process has exited; None where the system has no such thing."""
        return self._exit_fd

    def has_exited(self) -> bool:
        """Whether the leader is gone, seen without reaping it."""
        if not self._ours or self._status is not None:
            return True
        try:
            if hasattr(os, "waitid"):
                return os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
            # macOS before Python 3.13 cannot look without reaping. The number is free from here on; the group is ended at once.
            self._reap()
        except ChildProcessError:
            # Somebody else has reaped it, or SIGCHLD is ignored: the number may be a stranger's by now.
            self._ours = False
            return True
        return self._status is not None

    def signal_group(self, *signums: signal.Signals) -> None:
        """Send the signals to everybody in the group; nothing where nobody is left."""
        for signum in signums if self._ours else ():
            # macOS answers EPERM for a group that consists of a dead leader alone.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signum)

    def reap(self) -> int | None:
        """Exit code, or minus the signal; None where it cannot be known, which is never taken for success."""
        if self._ours and self._status is None:
            with suppress(ChildProcessError):
                self._reap()
        self._ours = False
        return self._status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leave nothing behind, whatever happened: no process, no zombie, no open pipe."""
        self.signal_group(signal.SIGKILL)
        if not self.has_exited():
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(PATIENCE_S)
        self.reap()
        if self._popen.returncode is None:
            self._popen.returncode = -1 if self._status is None else self._status  # Popen must not wait for it again
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()
        if self._exit_fd is not None:
            os.close(self._exit_fd)

    def _reap(self) -> None:
        pid, status = os.waitpid(self._popen.pid, os.WNOHANG)
        if pid:
            self._status = os.waitstatus_to_exitcode(status)


def _open_exit(pid: int) -> int | None:
    if sys.platform != "linux":
        from ralphloop.process import macos  # noqa: PLC0415 - of no use elsewhere

        return macos.open_exit(pid)
    return open_pidfd(pid)
