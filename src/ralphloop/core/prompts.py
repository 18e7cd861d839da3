"""Template + task + feedback → text."""

from __future__ import annotations

from dataclasses import replace

from ralphloop.core.model import Kind, OnFail
from ralphloop.core.state import LoopState


def build_prompt(state: LoopState, brief: str) -> str:
    """The prompt of the next attempt: the brief as it is now, what failed before, messages from people, and the iteration line."""
    body = fill(brief, state) if state.spec.work.kind is Kind.CHECKLIST else brief
    replacing = [feedback.text for feedback in state.feedback if feedback.on_fail is OnFail.REPLACE]
    parts = [feedback.text for feedback in state.feedback if feedback.on_fail is OnFail.PREPEND]
    parts += replacing or [body]
    parts += [feedback.text for feedback in state.feedback if feedback.on_fail is OnFail.APPEND]
    parts += [f"Message from {tell.author}: {tell.text}" for tell in state.tells]
    if state.spec.output.iteration_in_prompt:
        parts.insert(0, iteration_line(state))
    return "\n\n".join(parts)


def iteration_line(state: LoopState) -> str:
    """Where in the loop this prompt stands."""
    allowed = state.spec.limits.iterations
    if not allowed:
        return f"Iteration {state.iteration}."
    return f"Iteration {state.iteration} of {allowed}, {allowed - state.iteration} remaining."


def commit_message(state: LoopState) -> str:
    """The message of this iteration's commit: `{task}` is the task that the iteration began with."""
    return fill(state.spec.scm.message, replace(state, survey=state.open_turn.survey))


def fill(template: str, state: LoopState) -> str:
    """The template with its known placeholders filled; every other brace is left as it is."""
    survey = state.survey
    values = {
        "task_file": state.spec.work.task_file or "",
        "iteration": str(state.iteration),
        "max_iterations": str(state.spec.limits.iterations or "unlimited"),
        "completion_marker": state.spec.completion.text,
        "task": (survey.task if survey else None) or "",
        "name": state.spec.name,
    }
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template
