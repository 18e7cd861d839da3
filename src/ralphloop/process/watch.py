"""One poll loop per run: read, feed, keep the deadlines, climb the ladder, and end whatever the agent does.

The exit of the leader ends the run, not the end of its output: a grandchild may hold a pipe open for ever. Everything is driven from here,
on the caller's thread and the monotonic clock. Time in which the machine slept, or this process was stopped, is nobody's: it is not counted, and
idle time begins anew after it.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from math import ceil, inf
from typing import IO

from ralphloop.core.model import EndedBy
from ralphloop.core.ports import Launch, Sign
from ralphloop.process.child import Child
from ralphloop.process.kinship import Member, members_of
from ralphloop.process.patience import PATIENCE_S
from ralphloop.process.pidfd import signal_process
from ralphloop.process.signals import StopFlag
from ralphloop.process.stopwatch import Stopwatch, SystemStopwatch

READ_BYTES = 256 * 1024
WRITE_BYTES = 64 * 1024
DRAIN_S = 0.25
BEAT_S = 1.0  # how often to look at what tells by itself: requests in the inbox, orphans that died
SUSPENDED_S = 30.0  # what is shorter may be a busy machine
LONGEST_AFTER_RESULT_S = 300.0  # however much the process goes on saying or doing after its final result
TICK_S = 0.02  # how often to look for an exit where no descriptor tells of it

# A stopped process acts on SIGTERM only once it continues.
ASK = (signal.SIGTERM, signal.SIGCONT)
FORCE = (signal.SIGKILL,)


class Watch:
    """The life of one child, from its start to an empty group. `stop` is None where nobody may interrupt; `beat` is called about every second.

    Others: what the child has started. They are asked to end once the leader has exited.
    """

    def __init__(  # noqa: PLR0913 - one run, and these are its parts
        self,
        child: Child,
        launch: Launch,
        *,
        on_stdout: Callable[[bytes], Sign],
        on_stderr: Callable[[bytes], Sign],
        stop: StopFlag | None,
        beat: Callable[[], None] = lambda: None,
        ask_others: Callable[[], None] = lambda: None,
        others_gone: Callable[[], bool] = lambda: True,
        clock: Stopwatch | None = None,
    ) -> None:
        self.slept_s = 0.0
        self.stopped_s = 0.0
        self._child = child
        self._launch = launch
        self._stop = stop
        self._beat = beat
        self._ask_others = ask_others
        self._others_gone = others_gone
        self._clock = clock or SystemStopwatch()
        self._ended_by = EndedBy.EXIT
        self._rungs: list[tuple[float, tuple[signal.Signals, ...]]] = []
        self._kill_at = -inf
        self._asked: set[Member] = set()
        self._limits = {
            EndedBy.TOTAL_TIMEOUT: launch.timeout_s,
            EndedBy.IDLE_TIMEOUT: launch.idle_timeout_s,
            EndedBy.AFTER_RESULT: launch.after_result_s,
        }
        now = self._clock.monotonic()
        self._beat_at = now
        self._asleep_s = self._clock.boottime() - now
        self._since = {EndedBy.TOTAL_TIMEOUT: now, EndedBy.IDLE_TIMEOUT: now}
        self._result_at = inf
        self._input = memoryview(launch.stdin or b"")
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], None]] = {}
        self._outputs = {child.stdout.fileno(), child.stderr.fileno()}
        self._register(child.stdout.fileno(), select.POLLIN, lambda: self._read(child.stdout, on_stdout))
        self._register(child.stderr.fileno(), select.POLLIN, lambda: self._read(child.stderr, on_stderr))
        if child.stdin is not None:
            stdin = child.stdin
            os.set_blocking(stdin.fileno(), False)
            self._register(stdin.fileno(), select.POLLOUT, lambda: self._feed(stdin))
        if child.exit_fd is not None:
            self._register(child.exit_fd, select.POLLIN, lambda: None)
        for fd in () if stop is None else stop.filenos():
            self._register(fd, select.POLLIN, self._hear)

    def run(self) -> EndedBy:
        """Return when the leader is gone, its group is ended and its pipes are read; and why it ended."""
        while not self._child.has_exited():
            self._step(self._next_deadline())
            if not self._climb():
                break
        self._end_group()
        return self._ended_by

    def _climb(self) -> bool:
        """Do what is due now; False when nothing is left to be tried."""
        now = self._clock.monotonic()
        if self._beat_at + BEAT_S <= now:
            self._beat_at = now
            self._beat()
        if self._ended_by is EndedBy.EXIT and (cause := self._cause(now)):
            self._ended_by = cause
            self._kill_at = now + self._launch.grace_s
            self._asked = members_of(self._child.pid)
            self._rungs = [(now, ASK), (self._kill_at, FORCE), (self._kill_at + PATIENCE_S, ())]
        while self._rungs and self._rungs[0][0] <= now:
            self._child.signal_group(*self._rungs.pop(0)[1])
        return self._ended_by is EndedBy.EXIT or bool(self._rungs)

    def _cause(self, now: float) -> EndedBy | None:
        if self._stop is not None and self._stop.level >= 2:
            return EndedBy.STOPPED
        at, cause = self._first_limit()
        return cause if at <= now else None

    def _first_limit(self) -> tuple[float, EndedBy]:
        return min((since + self._limits[cause] if self._limits[cause] > 0 else inf, cause) for cause, since in self._since.items())

    def _next_deadline(self) -> float:
        return self._rungs[0][0] if self._rungs else self._first_limit()[0]

    def _end_group(self) -> None:
        for fd in self._handlers.keys() - self._outputs:
            self._forget(fd)
        self._ask_others()  # before their group is signalled: who is asked is counted
        if self._ended_by is EndedBy.EXIT:
            self._child.signal_group(*ASK)
        # Where the ladder was climbed, the group was asked already; who is behind a wrapper that went at once has its grace all the same.
        while self._clock.monotonic() < self._kill_at and not self._others_gone():
            self._ask_latecomers()
            self._tick()
        until = self._clock.monotonic() + DRAIN_S
        while self._handlers:
            self._tick()  # before the clock is looked at: what the leader left in the pipes is read however slow the machine is
            if self._clock.monotonic() >= until:
                break
        self._child.signal_group(*FORCE)

    def _ask_latecomers(self) -> None:
        """Who joined the group when it had been asked; and who took the place, by `exec`, of one that was asked: a shell that forks takes note, and goes."""
        for member in members_of(self._child.pid) - self._asked:
            for signum in ASK:
                signal_process(member.identity, signum)
            self._asked.add(member)

    def _tick(self) -> None:
        """Read what there is, and ask those whose parents have ended meanwhile."""
        self._step(self._clock.monotonic() + TICK_S)
        self._ask_others()

    def _step(self, until: float) -> None:
        """Wait until then at most, and handle once whatever is ready."""
        longest = BEAT_S if self._child.exit_fd is not None else TICK_S
        began = self._clock.monotonic()
        timeout_s = min(max(until - began, 0), longest)
        ready = self._poll.poll(ceil(timeout_s * 1000))
        self._forgive(self._clock.monotonic() - began - timeout_s)
        for fd, _ in ready:
            if fd in self._handlers:
                self._handlers[fd]()

    def _forgive(self, late_s: float) -> None:
        """Leave out of the count what was nobody's time: this process came back so late, or the machine has slept since the last look."""
        now = self._clock.monotonic()
        asleep_s = self._clock.boottime() - now
        slept_s, self._asleep_s = asleep_s - self._asleep_s, asleep_s
        if max(late_s, slept_s) < SUSPENDED_S:
            return
        stopped_s = late_s if late_s >= SUSPENDED_S else 0.0
        self.slept_s += max(slept_s, 0.0)
        self.stopped_s += stopped_s
        self._since = {cause: since + stopped_s for cause, since in self._since.items()} | {EndedBy.IDLE_TIMEOUT: now}
        self._result_at += stopped_s

    def _hear(self) -> None:
        """Somebody asked for an end, or the guardian is gone, and its descriptor with it."""
        assert self._stop is not None
        before = self._stop.filenos()
        self._stop.drain()
        for fd in set(before) - set(self._stop.filenos()):
            self._forget(fd)

    def _read(self, pipe: IO[bytes], take: Callable[[bytes], Sign]) -> None:
        chunk = os.read(pipe.fileno(), READ_BYTES)
        if not chunk:
            self._forget(pipe.fileno())
            return
        sign = take(chunk)
        now = self._clock.monotonic()  # afterwards: while the reader was busy, the agent was held back and not idle
        self._since[EndedBy.IDLE_TIMEOUT] = now
        if sign is Sign.ASTRAY:
            self._since[EndedBy.AFTER_RESULT] = -inf  # nothing that it still says prolongs it
        elif sign is not Sign.WORKING:
            self._result_at = min(self._result_at, now)
            last = self._result_at + max(LONGEST_AFTER_RESULT_S - self._launch.after_result_s, 0.0)
            self._since[EndedBy.AFTER_RESULT] = last if sign is Sign.BACKGROUND else min(now, last)

    def _feed(self, stdin: IO[bytes]) -> None:
        try:
            sent = os.write(stdin.fileno(), self._input[:WRITE_BYTES])
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not want to know the rest
            self._input = self._input[:0]
        else:
            self._input = self._input[sent:]
        if not self._input:
            self._forget(stdin.fileno())
            stdin.close()

    def _register(self, fd: int, events: int, handler: Callable[[], None]) -> None:
        self._poll.register(fd, events)
        self._handlers[fd] = handler

    def _forget(self, fd: int) -> None:
        self._poll.unregister(fd)
        del self._handlers[fd]
