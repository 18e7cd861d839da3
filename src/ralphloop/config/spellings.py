"""How other loop tools spell our settings: translated here, at the boundary, and known nowhere else."""

from __future__ import annotations

SPELLINGS: dict[str, str] = {
    "maximumIterations": "limits.iterations",
    "completionResponse": "completion.text",
    "outputTruncateChars": "output.truncate_chars",
    "streamAgentOutput": "output.stream",
    "includeIterationCountInPrompt": "output.iteration_in_prompt",
    "guardrails": "gates",
    "max_iterations": "limits.iterations",
    "completion_marker": "completion.text",
    "defaults.max_iterations": "limits.iterations",
    "defaults.completion_marker": "completion.text",
    "defaults.task_file": "work.task_file",
    "defaults.model": "agent.model",
    "claude.flags": "agents.claude.flags",
    "claude.env": "agents.claude.env",
}

GATE_SPELLINGS: dict[str, str] = {"failAction": "on_fail"}

VARIABLES: dict[str, str] = {
    "RLOOP_MAX_ITERATIONS": "limits.iterations",
    "RLOOP_TASK_FILE": "work.task_file",
    "RLOOP_COMPLETION_MARKER": "completion.text",
    "RLOOP_MODEL": "agent.model",
}
