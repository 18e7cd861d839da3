"""The same promises for a plain user: a selection of what root has tried, run as `nobody`. Who tests as a plain user has run all of it already."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import RALPH, Program

pytestmark = pytest.mark.slow

NOBODY = 65534
# An interpreter may lie in root's home: a plain user who may look everywhere, and nothing else.
PLAIN_USER = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
PLAIN_USER += [f"--{kind}-caps=-all,+dac_read_search" for kind in ("inh", "ambient")]

if os.geteuid() == 0:
    from test_guardian import (
        family,
        test_one_sigint_is_one_signal_for_the_loop,
        test_when_both_are_killed_the_next_start_finds_and_ends_what_is_left,
        test_when_the_guardian_is_killed_the_loop_ends_what_it_runs_and_itself,
        test_when_the_loop_is_killed_its_guardian_ends_what_it_ran_and_says_so,
    )
    from test_stopping_a_run import (
        test_a_loop_that_is_stopped_at_once_leaves_the_agents_and_daemons_of_another_alone,
        test_the_second_ctrl_c_in_a_terminal_ends_the_agent,
    )

    __all__ = [
        "family",
        "test_a_loop_that_is_stopped_at_once_leaves_the_agents_and_daemons_of_another_alone",
        "test_one_sigint_is_one_signal_for_the_loop",
        "test_the_second_ctrl_c_in_a_terminal_ends_the_agent",
        "test_when_both_are_killed_the_next_start_finds_and_ends_what_is_left",
        "test_when_the_guardian_is_killed_the_loop_ends_what_it_runs_and_itself",
        "test_when_the_loop_is_killed_its_guardian_ends_what_it_ran_and_says_so",
    ]

    @pytest.fixture
    def program(monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
        """The installed program in a world that belongs to nobody, with everything in it."""
        root = Path(tempfile.mkdtemp()).resolve()
        command = root / "ralph"
        command.write_text(f'#!/bin/sh\nexec {shlex.join(PLAIN_USER)} {RALPH} "$@"\n')
        command.chmod(0o755)
        monkeypatch.setattr("program.RALPH", command)
        monkeypatch.setattr("pseudo_terminal.RALPH", command)
        program = Program(root)
        for path in [root, *root.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
        yield program
        program.close()
        shutil.rmtree(root)

    def test_the_processes_of_a_loop_are_those_of_a_plain_user(program: Program) -> None:
        """What is tested here would else be tested as root once more."""
        running = program.start("run", "-p", "x", "--agent-command", program.agent("at_work; await_go_on; exit 42"))
        users = {Path(f"/proc/{process.pid}").stat().st_uid for process in (program.await_agent(), program.loop_process())}
        program.go_on()
        assert running.end().code == 3
        assert users == {NOBODY}
