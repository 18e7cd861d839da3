"""What the next prompt is told about this turn."""

from __future__ import annotations

from ralphloop.core.model import Feedback, Gate, Kind, Verdict
from ralphloop.core.state import LoopState

NO_RESULT = "The last attempt ended without a result"


def gate_feedback(gate: Gate, verdict: Verdict) -> Feedback:
    """The failure message of a gate: its wording is an interface, agents are prompted with it."""
    lines = [f'Guardrail "{gate.command}" {verdict.reason}.']
    if gate.hint:
        lines.append(f"Hint: {gate.hint}")
    if verdict.log:
        lines.append(f"Output file: {verdict.log}")
    lines += ["Output (truncated):", verdict.output]
    return Feedback(text="\n".join(lines), on_fail=gate.on_fail)


def unproven_claim(state: LoopState) -> str | None:
    """What is said to an agent that claimed to be done while tasks are open."""
    survey = state.survey
    if survey is None or not survey.remaining:
        return None
    if state.spec.work.kind is Kind.FOLDER:
        return "You said that everything is complete, but there is no file DONE in the task folder: only that file ends the task."
    count = f"{survey.remaining} task{' is' if survey.remaining == 1 else 's are'} still open"
    return f"You said that everything is complete, but {count} in {state.spec.work.task_file}. The next one: {survey.task}"
