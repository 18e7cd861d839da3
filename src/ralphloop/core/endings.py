"""How an attempt ended: one pure classification of everything that Ralph saw of it.

Exit codes lie (Claude Code ends with 0 after SIGINT, Qwen after a 401), so what the stream says outranks them; but nothing that the agent
merely *wrote* counts: limits and failures are read from structured events, or from the error text of a run that failed.
"""

from __future__ import annotations

from ralphloop.core.model import Cause, EndedBy, Ending, RunReport, StreamReport

WAITING_EXIT_CODE = 42

_TIMEOUTS = {
    EndedBy.TOTAL_TIMEOUT: "it ran into the total time-out",
    EndedBy.IDLE_TIMEOUT: "it said nothing for longer than the idle time-out",
}

CAUSES = {
    Cause.CONTEXT_WINDOW: "the context window was full",
    Cause.OUTPUT_LIMIT: "the answer was longer than the model may write",
    Cause.REFUSAL: "the model refused",
    Cause.TURNS: "the turns that the client allows were used up",
    Cause.BUDGET: "what the attempt may cost was used up",
    Cause.OVERLOADED: "the provider is overloaded",
}


def classify(run: RunReport, stream: StreamReport, *, changed: bool, waiting: str = "") -> tuple[Ending, str]:
    """The ending of an attempt, and the reason in words. `waiting`: what asked the loop to wait during the attempt."""
    if run.leaked:
        return Ending.FATAL, f"processes that it started cannot be ended: {run.leaked}; end them, then resume the loop"
    if run.ended_by is EndedBy.NOT_STARTED:
        return Ending.FATAL, run.start_error or "the agent could not be started"
    if run.ended_by is EndedBy.STOPPED:
        return Ending.INTERRUPTED, "it was stopped"
    if stream.limit is not None:
        return Ending.USAGE_LIMIT, stream.limit.text
    if stream.fatal is not None:
        return Ending.FATAL, stream.fatal
    if run.exit_code == WAITING_EXIT_CODE:
        return Ending.WAITING, f"the agent asked to wait (exit code {WAITING_EXIT_CODE})"
    if waiting:
        return Ending.WAITING, waiting
    failure = _failure(run, stream)
    if failure is not None:
        return Ending.FAILED, failure
    if not stream.final_words.strip() and not changed:
        return Ending.EMPTY, "it said nothing and changed nothing"
    return Ending.OK, ""


def _failure(run: RunReport, stream: StreamReport) -> str | None:
    if run.ended_by in _TIMEOUTS:
        return _TIMEOUTS[run.ended_by]
    if stream.error is not None:
        return stream.error if stream.cause is None else f"{CAUSES[stream.cause]}: {stream.error}"
    if run.ended_by is EndedBy.AFTER_RESULT:
        return None
    if run.signal is not None:
        return f"it was killed by signal {run.signal}"
    if run.exit_code is None:
        return "its exit status could not be obtained"
    if run.exit_code != 0:
        return f"it ended with exit code {run.exit_code}{_last_line(run.stderr_tail)}"
    if not stream.result_seen:
        return "its stream broke off without a result"
    return None


def _last_line(stderr_tail: str) -> str:
    lines = [line.strip() for line in stderr_tail.splitlines() if line.strip()]
    return f": {lines[-1][:200]}" if lines else ""
