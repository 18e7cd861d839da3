"""What the next prompt is told about this turn."""

from __future__ import annotations

from ralphloop.core.model import Cause, Feedback, Gate, Kind, StreamReport, Verdict
from ralphloop.core.state import LoopState

LONGEST_QUESTION = 500
NO_RESULT = "The last attempt ended without a result"

ADVICE = {
    Cause.CONTEXT_WINDOW: "Read less at once, and take a smaller step: what is on disk is kept, what you have read is not.",
    Cause.OUTPUT_LIMIT: "Write large files in pieces, and answer in few words.",
    Cause.REFUSAL: "Where a part of the task cannot be done, say which and why, and do the rest.",
    Cause.TURNS: "Take a smaller step, and bring it to its end.",
    Cause.BUDGET: "Take a smaller step, and bring it to its end.",
}
"""What an agent can do about a cause: another attempt of the same kind would only meet it again. An overloaded provider is none of its business."""


def no_result(reason: str, cause: Cause | None) -> Feedback:
    """What the next prompt is told of an attempt that failed."""
    return Feedback(text=" ".join(filter(None, (f"{NO_RESULT}: {reason.rstrip('.')}.", ADVICE.get(cause, "") if cause else ""))))


def without_no_result(feedback: tuple[Feedback, ...]) -> tuple[Feedback, ...]:
    """Everything but what was said of earlier attempts that failed."""
    return tuple(each for each in feedback if not each.text.startswith(NO_RESULT))


def question_of(stream: StreamReport, *, courteous: bool) -> str:
    """What the agent asked a person: with a tool for that; or at its end, unless that may be courtesy ("Anything else?")."""
    last = "" if courteous else stream.final_words.rstrip()[-LONGEST_QUESTION:].rpartition("\n")[2].strip()
    return stream.question or (last if last.endswith("?") else "")


def hindrances(stream: StreamReport, *, courteous: bool) -> tuple[str, ...]:
    """What kept an agent from getting on, in words for the next prompt."""
    denied = (
        f"You were not allowed to use {', '.join(stream.denied)}. Do the task by other means, or say why it cannot be done." if stream.denied else ""
    )
    question = question_of(stream, courteous=courteous)
    asked = f'You asked: "{question}" Nobody is there to answer. Decide by yourself, say how you decided, and go on.' if question else ""
    return tuple(filter(None, (denied, asked)))


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
