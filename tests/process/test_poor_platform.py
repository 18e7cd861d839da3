"""The same promises where the system tells less about processes: old kernels, strict containers, macOS."""

from __future__ import annotations

import os
import signal
import subprocess
from uuid import uuid4

import pytest
from supervised import ENV, FOR_EVER, result, sh, supervise, supervise_lines

from ralphloop.core.model import EndedBy
from ralphloop.process.leftovers import end_leftovers

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
    with subprocess.Popen(("sleep", FOR_EVER), env=ENV | {"RALPH_RUN_ID": run_id}) as process:
        assert end_leftovers(run_id, grace_s=float(FOR_EVER)) == 1
    assert process.returncode == -signal.SIGTERM
