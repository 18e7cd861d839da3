"""Agents that leave processes behind in every way there is, and a place from which these can be found, whatever they did to get away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from supervised import FOR_EVER, sized

from ralphloop.core.identity import ProcessIdentity
from ralphloop.process.identity import identify
from ralphloop.process.pidfd import signal_process

HOST = Path(__file__).with_name("sweep_host.py")
NOBODY = 65534
# An interpreter may lie in root's home: a plain user who may look everywhere, and nothing else.
PLAIN_USER = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
PLAIN_USER += [f"--{kind}-caps=-all,+dac_read_search" for kind in ("inh", "ambient")]
EVERYBODY = ["this user", "nobody"] if os.geteuid() == 0 else ["this user"]

PRELUDE = f"""
import os, select, signal, time
ready, tell = os.pipe()
def is_set_up(): os.write(tell, b".")
def wait_for_it(): os.read(ready, 1)
def sleep(): time.sleep({FOR_EVER})
def say(*words): os.write(1, (" ".join(map(str, words)) + chr(10)).encode())
def let_go():
    for fd in 0, 1, 2, ready, tell: os.close(fd)
def enlist():
    with open("spared", "a") as file: print(os.getpid(), file=file)
def daemonize():
    os.setsid()
    between = os.getpid()
    if os.fork(): os._exit(0)
    while os.getppid() == between: os.sched_yield()  # who counts us must not meet it
def fork(life):
    pid = os.fork()
    if not pid:
        life()
        os._exit(0)
    return pid
def leave(life):
    fork(life)
    wait_for_it()
"""

STRAYS = {
    "a child in the group": """
def life():
    is_set_up()
    sleep()
leave(life)
""",
    "a child in a session of its own": """
def life():
    os.setsid()
    is_set_up()
    sleep()
leave(life)
""",
    "a daemon without environment and descriptors": f"""
def life():
    daemonize()
    is_set_up()
    let_go()
    os.execve("/bin/sleep", ["sleep", "{FOR_EVER}"], {{}})
leave(life)
""",
    "a daemon that ignores SIGTERM": """
def life():
    daemonize()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    is_set_up()
    sleep()
leave(life)
""",
    "a daemon that stands still": """
def life():
    daemonize()
    is_set_up()
    os.kill(os.getpid(), signal.SIGSTOP)
    sleep()
leave(life)
""",
    "a tree of daemons": """
def leaf():
    os.setsid()
    is_set_up()
    sleep()
def life():
    daemonize()
    fork(leaf), fork(leaf)
    sleep()
leave(life)
wait_for_it()
""",
    "a daemon that re-forks as fast as it can": """
def life():
    daemonize()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    is_set_up()
    let_go()
    while not os.fork(): pass
leave(life)
""",
    "a daemon that re-forks into a new session every millisecond": """
def life():
    daemonize()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    is_set_up()
    let_go()
    while not os.fork():
        os.setsid()
        time.sleep(0.001)
leave(life)
""",
}


class Swept(NamedTuple):
    """What the host told: the report of its run, and the lines of its agent."""

    report: dict[str, Any]
    lines: list[str]


class Den:
    """A directory, and whoever works in it: where a process stands tells of it when nothing else does."""

    def __init__(self, path: Path, who: str) -> None:
        self.path = path
        self.prefix = PLAIN_USER if who == "nobody" else []

    def sweep(self, agent: str, **options: Any) -> Swept:
        """Run this agent in the host, to the end of both."""
        argv = [*self.prefix, sys.executable, str(HOST), PRELUDE + agent, json.dumps(options)]
        done = subprocess.run(argv, cwd=self.path, stdout=subprocess.PIPE, timeout=sized(60, 600), check=True, text=True)
        *lines, report = done.stdout.splitlines()
        return Swept(json.loads(report), lines)

    def inhabitants(self) -> list[ProcessIdentity]:
        """The processes that stand here."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                here = (process / "cwd").readlink().is_relative_to(self.path)
            except OSError:
                continue
            if here and (identity := identify(int(process.name))):
                found.append(identity)
        return found

    def clear(self) -> None:
        """End what a failed sweep, or one that had to spare it, has left here."""
        while inhabitants := self.inhabitants():
            for identity in inhabitants:
                signal_process(identity, signal.SIGKILL)


def named(word: str, lines: list[str]) -> list[int]:
    """The processes that the agent named after that word."""
    return [int(line.split()[1]) for line in lines if line.startswith(f"{word} ")]
