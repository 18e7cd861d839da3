"""Gates: commands that must pass after an attempt. What one says is its exit status; its output is evidence and feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ralphloop.checks.gate_log import discard, publish
from ralphloop.checks.log_names import gate_log_names
from ralphloop.core.model import EndedBy, Gate, Result, RunReport, Verdict
from ralphloop.core.ports import Launch, Runner, Sign

# Errors and output share one pipe, so that they stand in the log in the order in which they were written.
_SHELL = ("sh", "-c", 'exec sh -c "$1" 2>&1', "sh")


class GateRunner:
    """Runs gates in the workspace; satisfies ports.Gates. `logs` is a private directory for logs in the making."""

    def __init__(self, root: Path, runner: Runner, env: Mapping[str, str], truncate_chars: int, logs: Path) -> None:
        self._root = root
        self._runner = runner
        self._env = env
        self._truncate_chars = truncate_chars
        self._logs = logs

    def log_names(self, gates: Sequence[Gate], iteration: int) -> tuple[str, ...]:
        """The name of each gate's log in that iteration."""
        return gate_log_names(gates, iteration)

    def run(self, gate: Gate, iteration: int, log: str, run_id: str) -> Verdict | None:
        """The gate's verdict, its full output in `.ralph/<log>`; None where a person interrupted it."""
        private = self._logs / log
        discard(private)
        launch = Launch(
            argv=(*_SHELL, gate.command),
            cwd=self._root,
            env={**self._env, "RALPH_ITERATION": str(iteration), "RALPH_RUN_ID": run_id},
            stdout_log=private,
            timeout_s=gate.timeout_s,
        )
        run = self._runner.supervise(launch, lambda _: Sign.WORKING)
        if run.ended_by is EndedBy.STOPPED:
            return None
        if run.leaked:
            reason = f"left processes that cannot be ended: {run.leaked}; end them, then resume the loop"
            return Verdict(name=gate.command, result=Result.ERRORED, reason=reason, fatal=True)
        result, reason = _judged(run, gate)
        if run.ended_by is EndedBy.NOT_STARTED:
            return Verdict(name=gate.command, result=result, reason=reason)
        output = publish(private, self._root, log, self._truncate_chars)
        return Verdict(
            name=gate.command,
            result=result,
            reason=reason,
            exit_code=run.exit_code,
            duration_s=run.duration_s,
            log=output.log,
            output=output.beginning,
            output_digest=output.digest,
        )


def _judged(run: RunReport, gate: Gate) -> tuple[Result, str]:
    """The result, and the words that follow the gate's name in the failure message."""
    if run.ended_by is EndedBy.NOT_STARTED:
        return Result.ERRORED, f"could not be run: {run.start_error}"
    if run.ended_by is EndedBy.TOTAL_TIMEOUT:
        return Result.FAILED, f"timed out after {gate.timeout_s:g} s"
    if run.signal is not None:
        return Result.FAILED, f"was killed by signal {run.signal}"
    if run.exit_code is None:
        return Result.ERRORED, "ended, and its exit status could not be obtained"
    if run.exit_code != 0:
        return Result.FAILED, f"failed with exit code {run.exit_code}"
    return Result.PASSED, "passed"
