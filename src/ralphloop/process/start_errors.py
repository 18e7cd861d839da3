"""Why a command could not be started, in words for a person."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

_REASONS = {
    errno.ENOENT: "there is no such program: install it, or give its full path",
    errno.ENOTDIR: "a part of its path is not a directory: check the path",
    errno.EACCES: "permission denied: make the file executable (chmod +x)",
    errno.ENOEXEC: "it is not a program for this machine, and has no #! line",
    errno.E2BIG: "its arguments and environment are longer than the system allows: pass the prompt by standard input or by a file",
    errno.EMFILE: "Ralph has too many open files: raise `ulimit -n`",
    errno.EAGAIN: "the system allows no more processes: see `ulimit -u`",
    errno.ENOMEM: "the system has no memory left",
}


def explain_start_error(argv: Sequence[str], cwd: Path, env: Mapping[str, str], error: Exception) -> str:
    """One sentence: what could not be started, why, and what to do."""
    program = argv[0] if argv else ""
    if isinstance(error, OSError):
        if error.filename == os.fspath(cwd):
            return f"cannot start `{program}`: its working directory {cwd} cannot be entered: {error.strerror}"
        reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
        if error.errno == errno.ENOENT and _exists(program, cwd, env):
            # The system says "no such file" for two things: the program, and the interpreter that its first line names.
            reason = "the file is there, but the interpreter in its #! line is not: correct the line, or install the interpreter"
    else:
        reason = str(error)  # a NUL byte in an argument, an impossible variable name
    return f"cannot start `{program}`: {reason}"


def _exists(program: str, cwd: Path, env: Mapping[str, str]) -> bool:
    where = os.fspath(cwd / program) if "/" in program else program
    return shutil.which(where, path=env.get("PATH", os.defpath)) is not None
