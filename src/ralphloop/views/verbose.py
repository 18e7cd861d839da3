"""The `[ralph] …` lines of `--verbose`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ralphloop.core import messages as m
from ralphloop.core.model import LoopSpec
from ralphloop.views.facts import Moment
from ralphloop.views.figures import duration
from ralphloop.views.text import one_line


def verbose_lines(seen: Moment) -> Iterator[str]:
    """What a person who looks for a fault wants to know beside the facts; without the `[ralph]`."""
    entry, before, after = seen.entry, seen.before, seen.after
    match entry:
        case m.LoopStarted() | m.LoopResumed():
            yield f"Agent command: {_command(entry.spec)}"
            yield f"Loop {entry.spec.loop_id}, run {after.incarnation}"
        case m.IterationStarted():
            allowed = after.spec.limits.iterations
            yield f"Iteration {entry.number}{f'/{allowed}' if allowed else ''} starting"
        case m.AttemptStarted():
            yield f"Attempt {one_line(entry.run_id)} starting"
        case m.AttemptEnded():
            yield f"Agent ended by {entry.run.ended_by.value}, {_status(entry)} ({duration(entry.run.duration_s)})"
            yield f"Completion: {'claimed' if entry.claim.claimed else 'not claimed'}: {one_line(entry.claim.why)}"
            for tag in entry.claim.tags:
                yield f"Completion: line {tag.line}: {one_line(tag.excerpt)}: {one_line(tag.why)}"
        case m.GatesEnded():
            for verdict in entry.verdicts:
                code = "no exit code" if verdict.exit_code is None else f"code {verdict.exit_code}"
                yield f"Guardrail exited with {code} ({duration(verdict.duration_s)})"
        case _:
            pass
    if before.step is not None and after.step is None:
        yield f"{before.step.value} took {duration(entry.at - before.step_since)}"


def _command(spec: LoopSpec) -> str:
    model = f" --model {spec.agent.model}" if spec.agent.model else ""
    return one_line(" ".join((spec.agent.command, *map(shlex.quote, spec.agent.flags))) + model)


def _status(entry: m.AttemptEnded) -> str:
    if entry.run.signal is not None:
        return f"signal {entry.run.signal}"
    return "no exit code" if entry.run.exit_code is None else f"code {entry.run.exit_code}"
