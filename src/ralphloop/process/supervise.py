"""The two doors of this room: `supervise` for what is not trusted to end, `call` for a short trusted tool."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from ralphloop.core.model import EndedBy, RunReport
from ralphloop.core.ports import CallReport, Launch
from ralphloop.process.child import Child, NotStarted
from ralphloop.process.signals import StopFlag
from ralphloop.process.streams import ErrorStream, OutputStream, RawLog
from ralphloop.process.watch import Watch

CALL_GRACE_S = 2.0


class Supervisor:
    """Runs programs to their end, in bounded time; satisfies ports.Runner. `stop` at level 2 ends the run at hand."""

    def __init__(self, stop: StopFlag) -> None:
        self._stop = stop

    def supervise(self, launch: Launch, on_line: Callable[[bytes], bool]) -> RunReport:
        """Run to the end. `on_line` gets each line of stdout, without its line end, and says whether the final result has come."""
        if self._stop.level >= 2:
            return RunReport(ended_by=EndedBy.STOPPED)
        started = time.monotonic()
        with ExitStack() as stack:
            try:
                child = stack.enter_context(_start(launch))
            except NotStarted as error:
                return RunReport(ended_by=EndedBy.NOT_STARTED, start_error=str(error))
            out_log, err_log = (stack.enter_context(closing(RawLog(path))) for path in (launch.stdout_log, launch.stderr_log))
            out, err = OutputStream(out_log, on_line), ErrorStream(err_log)
            ended_by = Watch(child, launch, on_stdout=out.take, on_stderr=err.take, stop=self._stop).run()
            out.close()
            status = child.reap()
        return RunReport(
            ended_by=ended_by,
            exit_code=status if status is not None and status >= 0 else None,
            signal=-status if status is not None and status < 0 else None,
            duration_s=time.monotonic() - started,
            output_bytes=out.bytes + err.bytes,
            dropped_bytes=out.dropped_bytes + err.dropped_bytes,
            stdout_digest=out_log.digest,
            stderr_digest=err_log.digest,
            stderr_tail=err.tail,
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


def _collect(into: bytearray) -> Callable[[bytes], bool]:
    def take(chunk: bytes) -> bool:
        into.extend(chunk)
        return False

    return take


def _call_error(program: str, ended_by: EndedBy, status: int | None, timeout_s: float) -> str | None:
    if ended_by is EndedBy.TOTAL_TIMEOUT:
        return f"`{program}` did not end within {timeout_s:g} s"
    if status is None:
        return f"how `{program}` ended cannot be known: its exit status is lost"
    if status < 0:
        return f"`{program}` was ended by signal {-status}"
    return None
