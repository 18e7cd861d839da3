"""The guardian: a small process above the loop, so that no agent outlives Ralph, whichever of its processes is killed.

The command forks once, before the heavy imports. The parent stays as guardian, in the terminal's process group; the child is the loop, in a group of
its own. Both are subreapers. So:

- Ctrl-C reaches the guardian alone, and it forwards each signal once: one Ctrl-C is one signal.
- `kill -9` of the loop: what it ran falls to the guardian, which ends it.
- `kill -9` of the guardian: the loop sees the other end of a pipe close, ends its run by the ladder, and ends.
- `kill -9` of both at one instant: the next start finds what is left (`leftovers`).

What was a child of this process before the fork (a shell that became us by `exec` may have had jobs) is nobody's business, nor is what these leave
behind: while the loop lives, its orphans come to the loop, and all others to us.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, NoReturn

from ralphloop.core.identity import ProcessIdentity
from ralphloop.process.identity import identify, is_alive
from ralphloop.process.kinship import children_of
from ralphloop.process.patience import AGAIN_S, PATIENCE_S
from ralphloop.process.subreaper import become_subreaper
from ralphloop.process.sweep import Sweep, Swept

LOOK_S = 1.0

_FORWARDED = frozenset({signal.SIGINT, signal.SIGTERM})
# SIGHUP is taken and dropped: a closed terminal ends nothing.
_WATCHED = _FORWARDED | {signal.SIGHUP, signal.SIGTSTP, signal.SIGCHLD}


class Guarded(NamedTuple):
    """What the loop has of its guardian: a descriptor that closes when the guardian dies, and whether orphans come to the loop."""

    life_fd: int
    subreaper: bool


def split(at_end: Callable[[], None], *, quiet: bool = False) -> Guarded:
    """Fork. Returns in the loop; the guardian calls `at_end` when the loop is over, and exits with its status.

    A `quiet` guardian lets go of standard input and output at once: whoever started it may wait for their end. In the loop the signals stay blocked
    until there are handlers for them.
    """
    # A handler, not "ignore" (under which every status reads 0), and not the default, which some systems drop although it is blocked.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    strangers = _children()
    adopts = become_subreaper()
    life_fd, held_fd = os.pipe()  # closed on exec: no agent ever holds an end
    gc.freeze()  # what the collector never looks at, loop and guardian go on sharing: 0.7 MB
    loop = os.fork()
    if loop:
        os.close(life_fd)
        with suppress(OSError):  # the loop does the same; whoever is first
            os.setpgid(loop, loop)
        if quiet:
            _let_go()
        _stand_guard(loop, strangers, at_end, adopts=adopts)
    os.close(held_fd)
    os.setpgid(0, 0)
    subreaper = become_subreaper()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # it is not in the terminal's group, and prints all the same; agents have no terminal
    return Guarded(life_fd=life_fd, subreaper=subreaper)


def _stand_guard(loop: int, strangers: set[ProcessIdentity], at_end: Callable[[], None], *, adopts: bool) -> NoReturn:
    code = 70
    try:
        status = _await_end(loop, strangers)
        code = status if status >= 0 else 128 - status
        sweep = Sweep(lambda: filter(is_alive, strangers), patience_s=PATIENCE_S if status < 0 else AGAIN_S)
        swept = sweep.end() if adopts else Swept()
        if status < 0:
            left = f" Left running, because it cannot be ended: {swept.leaked}." if swept.leaked else ""
            _say(f"ralph: the loop was killed by signal {-status}; what it ran is ended.{left} Go on with `ralph run` or `ralph resume`.")
        at_end()
    finally:
        os._exit(code)


def _await_end(loop: int, strangers: set[ProcessIdentity]) -> int:
    """The exit code of the loop, or minus the signal that ended it; meanwhile, forward what comes, and note which strangers come."""
    while True:
        signum = _next_signal(strangers)
        present = _children() if strangers else set()  # before we look whether the loop lives: its own orphans are not among them
        if (status := _reaped(loop)) is not None:
            return status
        strangers |= {child for child in present if child.pid != loop}
        if signum == signal.SIGTSTP:
            _suspend(loop)
        elif signum in _FORWARDED:
            os.kill(loop, signum)  # it is our child and not reaped: the number is its own


def _next_signal(strangers: set[ProcessIdentity]) -> int:
    """Wait for one. Nothing is lost between two rounds: they are blocked. Strangers leave orphans without a signal: then look now and then."""
    if not strangers:
        return signal.sigwait(_WATCHED)
    came = signal.sigtimedwait(_WATCHED, LOOK_S)
    return 0 if came is None else came.si_signo


def _children() -> set[ProcessIdentity]:
    return {identity for pid in children_of(os.getpid()) if (identity := identify(pid))}


def _reaped(loop: int) -> int | None:
    """Reap whoever is dead: the guardian runs nothing whose status anybody wants, but for the loop's."""
    status = None
    with suppress(ChildProcessError):
        while (dead := os.waitpid(-1, os.WNOHANG))[0]:
            if dead[0] == loop:
                status = os.waitstatus_to_exitcode(dead[1])
    return status


def _suspend(loop: int) -> None:
    """Ctrl-Z: loop and guardian stand still until `fg` or `bg`; an agent goes on for as long as its pipe takes what it says."""
    os.kill(loop, signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGTSTP)
    # Delivered now, with its default action: the system itself drops it where there is no shell that could let us go on.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})
    os.kill(loop, signal.SIGCONT)


def _let_go() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    if null > 2:
        os.close(null)


def _say(words: str) -> None:
    with suppress(OSError):
        os.write(2, f"{words}\n".encode())
