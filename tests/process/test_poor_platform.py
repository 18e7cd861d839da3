"""The same promises where the system tells less about processes: old kernels, strict containers, macOS."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from uuid import uuid4

import pytest
from supervised import DAEMON, ENV, FOR_EVER, python, result, sh, supervise, supervise_lines, unsupervised

from ralphloop.core.identity import ProcessIdentity
from ralphloop.core.model import EndedBy
from ralphloop.core.ports import Launch, Sign
from ralphloop.process.identity import identify, is_alive
from ralphloop.process.leftovers import TagBroom, end_leftovers
from ralphloop.process.signals import StopFlag
from ralphloop.process.supervise import Supervisor

pytestmark = pytest.mark.usefixtures("_poor_platform")


@pytest.fixture(params=[("pidfd_open",), ("pidfd_open", "waitid")], ids=["no pidfd", "no pidfd, no waitid"])
def _poor_platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in request.param:
        monkeypatch.delattr(os, name)


def test_an_exit_is_seen_although_the_output_is_closed() -> None:
    report = supervise(sh("exec >&- 2>&-; sleep 0.1; exit 3"))
    assert (report.ended_by, report.exit_code) == (EndedBy.EXIT, 3)


def test_a_grandchild_that_holds_the_output_delays_nothing() -> None:
    report, lines = supervise_lines(sh(f"trap '' TERM; sleep {FOR_EVER} & echo said; exit 4"))
    assert (report.ended_by, report.exit_code, lines) == (EndedBy.EXIT, 4, [b"said"])


def test_an_agent_that_ignores_sigterm_is_killed() -> None:
    report = supervise(sh(f"trap '' TERM; echo result; while :; do sleep {FOR_EVER}; done"), on_line=result, after_result_s=0.1, grace_s=0.1)
    assert (report.ended_by, report.signal) == (EndedBy.AFTER_RESULT, 9)


def test_leftovers_are_ended() -> None:
    run_id = str(uuid4())
    with unsupervised(("sleep", FOR_EVER), ENV | {"RALPH_RUN_ID": run_id}) as process:
        assert end_leftovers(run_id, grace_s=float(FOR_EVER)).strays == 1
    assert process.returncode == -signal.SIGTERM


def test_what_a_run_left_is_found_by_the_name_that_it_carries() -> None:
    """Without subreapers."""
    stop, daemons = StopFlag(), list[ProcessIdentity | None]()

    def on_line(line: bytes) -> Sign:
        daemons.append(identify(int(line)))
        return Sign.WORKING

    launch = Launch(argv=python(DAEMON), cwd=Path("/"), env=ENV | {"RALPH_RUN_ID": str(uuid4())})
    report = Supervisor(stop, broom=lambda launch: TagBroom(launch.env["RALPH_RUN_ID"])).supervise(launch, on_line)
    stop.close()
    assert (report.exit_code, report.strays) == (0, 1)
    assert [daemon is not None and is_alive(daemon) for daemon in daemons] == [False]
