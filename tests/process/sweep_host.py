"""A process that owns all its children, as the process of a loop does: it runs agents, and tells what became of them.

usage: sweep_host.py AGENT [OPTIONS], where OPTIONS is a JSON object:
  end       "exit" (the agent ends by itself), "time-out" or "stop", when the agent has said `ready`; "failure": then the reader fails
  patience_s   of the sweep
  grace_s   between being asked and being killed, where the agent does not end by itself
  runs      how many of them, one after the other: `descriptors` in the report is how many more are open at the end
The processes that a file `spared` names are spared, with all below them. The last line is the report, as JSON; the lines before are the agent's.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ralphloop.core.identity import ProcessIdentity
from ralphloop.core.ports import Launch, Sign
from ralphloop.process.identity import identify
from ralphloop.process.signals import StopFlag
from ralphloop.process.stopwatch import SystemStopwatch
from ralphloop.process.subreaper import become_subreaper
from ralphloop.process.supervise import Supervisor
from ralphloop.process.sweep import Sweep

TIMEOUT_S = 3600.0


class Clock(SystemStopwatch):
    """Two clocks that can be put forward."""

    ahead_s = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead_s

    def boottime(self) -> float:
        return super().boottime() + self.ahead_s


def main(agent: str, *, end: str = "exit", patience_s: float = 10.0, grace_s: float = 0.5, runs: int = 1) -> dict[str, Any]:
    assert become_subreaper()
    clock, stop = Clock(), StopFlag()

    def on_line(line: bytes) -> Sign:
        sys.stdout.write(line.decode() + "\n")
        sys.stdout.flush()
        if line == b"ready" and end == "time-out":
            clock.ahead_s += TIMEOUT_S
        elif line == b"ready" and end == "stop":
            stop.request("a person")
            stop.request("a person")
        elif line == b"ready" and end == "failure":
            raise RuntimeError("the reader fails")
        return Sign.WORKING

    supervisor = Supervisor(stop, broom=lambda _: Sweep(spared, patience_s=patience_s), clock=clock)
    env = {"PATH": os.environ["PATH"]}
    launch = Launch(argv=(sys.executable, "-I", "-S", "-c", agent), cwd=Path.cwd(), env=env, timeout_s=TIMEOUT_S, grace_s=grace_s)
    open_before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - a number
    try:
        for _ in range(runs):
            report = supervisor.supervise(launch, on_line)
    except RuntimeError:
        return {"alone": is_alone()}
    return asdict(report) | {"alone": is_alone(), "descriptors": len(os.listdir("/dev/fd")) - open_before}  # noqa: PTH208


def spared() -> list[ProcessIdentity]:
    """Written down before they start anything, as child loops are."""
    file = Path("spared")
    named = file.read_text().split() if file.exists() else []
    return [identity for pid in named if (identity := identify(int(pid)))]


def is_alone() -> bool:
    """Whether this process has no child at all, dead or alive."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1], **json.loads(sys.argv[2]))) + "\n")
