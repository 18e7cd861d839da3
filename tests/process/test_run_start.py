from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from supervised import ENV, FOR_EVER, python, sh, sized, supervise, supervise_lines

from ralphloop.core.model import EndedBy
from ralphloop.process.child import Child


def script(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


NOT_STARTABLE: dict[str, tuple[Callable[[Path], tuple[str, ...]], str]] = {
    "unknown name": (lambda _: ("no-such-agent",), "cannot start `no-such-agent`: there is no such program"),
    "unknown path": (lambda _: ("./no-such-agent",), "there is no such program"),
    "not executable": (lambda tmp: (script(tmp / "agent", "#!/bin/sh\n", 0o644),), "make the file executable"),
    "a directory": (lambda tmp: (str(tmp.parent),), "permission denied"),
    "interpreter missing": (lambda tmp: (script(tmp / "agent", "#!/no/such/interpreter\n"),), "the interpreter in its #! line is not"),
    "relative, interpreter missing": (
        lambda tmp: ("./" + Path(script(tmp / "agent", "#!/no/such/interpreter\n")).name,),
        "the interpreter in its #! line is not",
    ),
    "no #! line": (lambda tmp: (script(tmp / "agent", "echo hello\n"),), "has no #! line"),
    "argument too long": (lambda _: ("true", "x" * 4_000_000), "pass the prompt by standard input"),
    "NUL in an argument": (lambda _: ("true", "a\0b"), "null byte"),
    "no command at all": (lambda _: (), "cannot start ``"),
}


@pytest.mark.parametrize("case", NOT_STARTABLE)
def test_what_cannot_be_started_is_reported_in_words(case: str, tmp_path: Path) -> None:
    argv, words = NOT_STARTABLE[case]
    report = supervise(argv(tmp_path), cwd=tmp_path)
    assert (report.ended_by, report.exit_code, report.signal) == (EndedBy.NOT_STARTED, None, None)
    assert words in (report.start_error or "")


def test_a_vanished_working_directory_is_named(tmp_path: Path) -> None:
    report = supervise(sh("true"), cwd=tmp_path / "gone")
    assert report.ended_by is EndedBy.NOT_STARTED
    assert f"working directory {tmp_path / 'gone'} cannot be entered" in (report.start_error or "")


def test_the_program_is_looked_up_on_the_path_that_it_is_given(tmp_path: Path) -> None:
    script(tmp_path / "my-agent", "#!/bin/sh\necho found\n")
    assert supervise_lines(("my-agent",), env={"PATH": f"{tmp_path}:/bin"})[1] == [b"found"]


def test_the_environment_is_exactly_the_given_one() -> None:
    assert supervise_lines(("/usr/bin/env",), env={"ONLY": "this"})[1] == [b"ONLY=this"]


def test_the_child_leads_a_session_of_its_own() -> None:
    assert supervise(python("import os, sys; sys.exit(not os.getsid(0) == os.getpgid(0) == os.getpid())")).exit_code == 0


def test_the_child_sees_only_its_three_standard_descriptors(tmp_path: Path) -> None:
    leak = os.open(tmp_path / "leak", os.O_CREAT | os.O_RDONLY)
    os.set_inheritable(leak, True)
    look = "import os\nfor fd in range(256):\n  try: os.fstat(fd); print(fd)\n  except OSError: pass"
    logs = {"stdout_log": tmp_path / "out", "stderr_log": tmp_path / "err"}
    assert supervise_lines(python(look), stdin=b"prompt", **logs)[1] == [b"0", b"1", b"2"]
    os.close(leak)


@pytest.mark.slow
def test_200_runs_leave_no_descriptor_no_zombie_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    files: dict[str, Any] = {"stdout_log": tmp_path / "out", "stderr_log": tmp_path / "err", "identity_file": tmp_path / "process"}

    def run_all_sorts() -> None:
        supervise(sh("exit 1"), stdin=b"x" * 100_000, cwd=tmp_path / "workspace", **files)
        supervise(("no-such-agent",), stdin=b"x", cwd=tmp_path / "workspace", **files)
        supervise(sh(f"echo; exec sleep {FOR_EVER}"), on_line=lambda _: True, after_result_s=0.001)
        supervise(sh(f"sleep {FOR_EVER} & exit 3"), cwd=tmp_path / "workspace", **files)

    run_all_sorts()
    before = descriptors()
    for _ in range(sized(50, 250)):
        run_all_sorts()
    assert descriptors() == before
    assert zombies() == []
    assert {path.name for path in tmp_path.rglob("*")} == {"workspace", "out", "err", "process"}


def test_a_run_outlives_the_thread_that_started_it() -> None:
    """A thread that comes for one run, and goes: what is bound to the death of a thread would end here."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        child = pool.submit(Child, sh("read line; exit 5"), cwd=Path("/"), env=ENV, stdin=True).result()
    with child:
        assert child.stdin is not None
        child.stdin.write(b"the thread is gone\n")
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert child.reap() == 5


def descriptors() -> set[str]:
    return {path.name for path in Path("/dev/fd").iterdir()}


def zombies() -> list[int]:
    try:
        exited = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return []
    return [] if exited is None else [exited.si_pid]


UNDER_IGNORED_SIGCHLD = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
"""
PROGRAM = """
from pathlib import Path
from supervised import ENV, sh, supervise
from ralphloop.process.signals import StopFlag
from ralphloop.process.supervise import Supervisor
print(supervise(sh("exit 3")).exit_code, supervise(sh("exit 0")).exit_code)
print(Supervisor(StopFlag()).call(("true",), cwd=Path("/"), env=ENV, timeout_s=60).exit_code)
"""


def test_an_inherited_ignored_sigchld_never_reads_as_success() -> None:
    """A program that uses us as a library keeps it; the guardian resets it."""
    argv = [sys.executable, "-c", UNDER_IGNORED_SIGCHLD, PROGRAM]
    done = subprocess.run(argv, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None"] * 3
