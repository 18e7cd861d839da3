"""The two doors of this room: `supervise` for what is not trusted to end, `call` for a short trusted tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Protocol

from ralphloop.core.model import EndedBy, RunReport
from ralphloop.core.ports import CallReport, Launch, Sign
from ralphloop.files.artifacts import write_artifact
from ralphloop.process.child import Child, NotStarted
from ralphloop.process.identity import identify, written
from ralphloop.process.kinship import group_is_empty
from ralphloop.process.signals import StopFlag
from ralphloop.process.stopwatch import Stopwatch, SystemStopwatch
from ralphloop.process.streams import ErrorStream, OutputStream, RawLog
from ralphloop.process.sweep import Swept
from ralphloop.process.watch import Watch

CALL_GRACE_S = 2.0


class Broom(Protocol):
    """Finds what one run left behind, and ends it."""

    def reap(self, leader: int) -> None:
        """While the run lasts: bury what we adopted and what has died, but never the leader."""

    def ask(self, leader: int) -> None:
        """The leader is gone and not reaped: ask the rest to end, each only once."""

    def is_empty(self, leader: int) -> bool:
        """The leader is gone and not reaped: whether nothing else is left."""

    def end(self) -> Swept:
        """End the rest."""


class Supervisor:
    """Runs programs to their end, in bounded time; satisfies ports.Runner. `stop` at level 2 ends the run at hand.

    `broom` is for a process that owns all its children, as the loop does: whatever a run left is ended after it. Without one (in a program that
    uses us as a library) a run is its process group. `beat` is called about every second of a run.
    """

    def __init__(
        self,
        stop: StopFlag,
        *,
        broom: Callable[[Launch], Broom] | None = None,
        beat: Callable[[], None] = lambda: None,
        clock: Stopwatch | None = None,
    ) -> None:
        self._stop = stop
        self._broom = broom
        self._beat = beat
        self._clock = clock or SystemStopwatch()

    def supervise(self, launch: Launch, on_line: Callable[[bytes], Sign]) -> RunReport:
        """Run to the end. `on_line` gets each line of stdout, without its line end, and says how far the run is."""
        if self._stop.level >= 2:
            return RunReport(ended_by=EndedBy.STOPPED)
        started = self._clock.monotonic()
        broom = None if self._broom is None else self._broom(launch)
        swept = Swept()
        try:
            with ExitStack() as stack:
                child = stack.enter_context(_start(launch))
                _write_down(child, launch.identity_file)
                out_log, err_log = (stack.enter_context(closing(RawLog(path))) for path in (launch.stdout_log, launch.stderr_log))
                out, err = OutputStream(out_log, on_line), ErrorStream(err_log)
                watch = self._watch(child, launch, out, err, broom)
                ended_by = watch.run()
                out.close()
                status = child.reap()
        except NotStarted as error:
            return RunReport(ended_by=EndedBy.NOT_STARTED, start_error=str(error))
        finally:  # also when a reader fails
            if broom is not None:
                swept = broom.end()
        return RunReport(
            ended_by=ended_by,
            exit_code=status if status is not None and status >= 0 else None,
            signal=-status if status is not None and status < 0 else None,
            duration_s=self._clock.monotonic() - started - watch.stopped_s,
            output_bytes=out.bytes + err.bytes,
            dropped_bytes=out.dropped_bytes + err.dropped_bytes,
            stdout_digest=out_log.digest,
            stderr_digest=err_log.digest,
            stderr_tail=err.tail,
            strays=swept.strays,
            leaked=swept.leaked,
            suspended_s=watch.slept_s + watch.stopped_s,
        )

    def _watch(self, child: Child, launch: Launch, out: OutputStream, err: ErrorStream, broom: Broom | None) -> Watch:
        def beat() -> None:
            self._beat()
            if broom is not None:
                broom.reap(child.pid)

        return Watch(
            child,
            launch,
            on_stdout=out.take,
            on_stderr=err.take,
            stop=self._stop,
            beat=beat,
            ask_others=(lambda: None) if broom is None else lambda: broom.ask(child.pid),
            others_gone=lambda: group_is_empty(child.pid) if broom is None else broom.is_empty(child.pid),
            clock=self._clock,
        )

    def call(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout_s: float, stdin: bytes = b"") -> CallReport:
        """Run a short trusted tool. A wish to stop does not interrupt it: half a commit is worse than a moment's wait."""
        launch = Launch(argv=tuple(argv), cwd=cwd, env=env, stdin=stdin, timeout_s=timeout_s, grace_s=CALL_GRACE_S)
        out, err = bytearray(), bytearray()
        try:
            with _start(launch) as child:
                ended_by = Watch(child, launch, on_stdout=_collect(out), on_stderr=_collect(err), stop=None).run()
                status = child.reap()
        except NotStarted as error:
            return CallReport(exit_code=None, error=str(error))
        error_text = _call_error(argv[0], ended_by, status, timeout_s)
        return CallReport(exit_code=None if error_text else status, stdout=bytes(out), stderr=bytes(err), error=error_text)


def _start(launch: Launch) -> Child:
    return Child(launch.argv, cwd=launch.cwd, env=launch.env, stdin=bool(launch.stdin))


def _write_down(child: Child, path: Path | None) -> None:
    """Which process this became, for whoever finds it after a crash; the run goes on without."""
    if path is not None and (identity := identify(child.pid)) is not None:
        with suppress(OSError):
            write_artifact(path, written(identity))


def _collect(into: bytearray) -> Callable[[bytes], Sign]:
    def take(chunk: bytes) -> Sign:
        into.extend(chunk)
        return Sign.WORKING

    return take


def _call_error(program: str, ended_by: EndedBy, status: int | None, timeout_s: float) -> str | None:
    if ended_by is EndedBy.TOTAL_TIMEOUT:
        return f"`{program}` did not end within {timeout_s:g} s"
    if status is None:
        return f"how `{program}` ended cannot be known: its exit status is lost"
    if status < 0:
        return f"`{program}` was ended by signal {-status}"
    return None
