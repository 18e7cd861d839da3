from __future__ import annotations

from typing import Any

import pytest
from settings_project import Project

from ralphloop.core.model import Completion, Gate, Limits, OnFail, Output, Scm

SEED_EXAMPLE = """{
  "maximumIterations": 10,
  "completionResponse": "DONE",
  "outputTruncateChars": 5000,
  "streamAgentOutput": true,
  "includeIterationCountInPrompt": false,
  "agent": {
    "command": "claude",
    "flags": ["--model opus", "--no-auto-compact"]
  },
  "guardrails": [
    {
      "command": "make lint",
      "failAction": "APPEND",
      "hint": "Fix lint errors only. Do not change behavior."
    },
    {
      "command": "make test",
      "failAction": "APPEND"
    }
  ],
  "scm": {
    "command": "git",
    "tasks": ["commit", "push"]
  }
}
"""


def test_the_seeds_example_file_is_taken_as_it_is(project: Project) -> None:
    project.settings(SEED_EXAMPLE)
    resolved = project.resolve(prompt_text="go on")
    assert resolved.agent.type == resolved.agent.command == "claude"
    assert resolved.agent.flags == ("--model", "opus", "--no-auto-compact")
    assert resolved.gates == (Gate(command="make lint", hint="Fix lint errors only. Do not change behavior."), Gate(command="make test"))
    assert resolved.scm == Scm(tasks=("commit", "push"))
    assert resolved.completion == Completion(text="DONE")
    assert resolved.limits == Limits(iterations=10, calls=30)
    assert resolved.output == Output(truncate_chars=5000, stream=True, iteration_in_prompt=False)


@pytest.mark.parametrize(
    ("document", "key", "value"),
    [
        ({"maximumIterations": 7}, "limits.iterations", 7),
        ({"max_iterations": 7}, "limits.iterations", 7),
        ({"defaults": {"max_iterations": 7}}, "limits.iterations", 7),
        ({"completionResponse": "ALL"}, "completion.text", "ALL"),
        ({"completion_marker": "ALL"}, "completion.text", "ALL"),
        ({"defaults": {"completion_marker": "ALL"}}, "completion.text", "ALL"),
        ({"defaults": {"task_file": "TODO.md"}}, "work.task_file", "TODO.md"),
        ({"defaults": {"model": "opus"}}, "agent.model", "opus"),
        ({"outputTruncateChars": 9}, "output.truncate_chars", 9),
        ({"streamAgentOutput": False}, "output.stream", False),
        ({"includeIterationCountInPrompt": True}, "output.iteration_in_prompt", True),
        ({"claude": {"flags": ["--dangerously-skip-permissions"]}}, "agents.claude.flags", ("--dangerously-skip-permissions",)),
        ({"claude": {"env": {"IS_SANDBOX": "1"}}}, "agents.claude.env.IS_SANDBOX", "1"),
        ({"scm": {"tasks": ["commit", " merge   main "]}}, "scm.tasks", ("commit", "merge main")),
        ({"agent": {"permissions": "Edits"}}, "agent.permissions", "edits"),
        ({"gates": [{"command": "x", "hint": ""}]}, "gates", (Gate(command="x"),)),
        ({"gates": [{"command": "x", "timeout_s": 5}]}, "gates", (Gate(command="x", timeout_s=5.0),)),
    ],
)
def test_a_spelling_means_its_canonical_key(project: Project, document: Any, key: str, value: Any) -> None:
    project.settings(document)
    assert project.values()[key] == value


@pytest.mark.parametrize("word", ["APPEND", "prepend", "Replace"])
@pytest.mark.parametrize(("section", "key"), [("guardrails", "failAction"), ("gates", "on_fail")])
def test_the_fail_action_is_read_in_any_case(project: Project, word: str, section: str, key: str) -> None:
    project.settings({section: [{"command": "x", key: word}]})
    assert project.values()["gates"] == (Gate(command="x", on_fail=OnFail(word.lower())),)
