from __future__ import annotations

from typing import Any

import pytest
from settings_project import Project

from ralphloop.config.environment import OUTER_LOOP


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("RALPH_LIMITS__ITERATIONS", "5", "limits.iterations", 5),
        ("RALPH_LIMITS__MINUTES", "1.5", "limits.minutes", 1.5),
        ("RALPH_LIMITS__COST_USD", "3", "limits.cost_usd", 3.0),
        ("RALPH_LIMITS__WAIT_TIMEOUT_S", "600", "limits.wait_timeout_s", 600.0),
        ("RALPH_LIMITS__POLL_INTERVAL_S", "0.5", "limits.poll_interval_s", 0.5),
        ("RALPH_WORK__KIND", "folder", "work.kind", "folder"),
        ("RALPH_WORK__TASK_DIR", "task", "work.task_dir", "task"),
        ("RALPH_AGENT__COMMAND", "/opt/bin/claude", "agent.command", "/opt/bin/claude"),
        ("RALPH_AGENT__FLAGS", "--model opus --verbose", "agent.flags", ("--model", "opus", "--verbose")),
        ("RALPH_AGENT__FLAGS", "", "agent.flags", ()),
        ("RALPH_AGENT__ENV__API_KEY", "k", "agent.env.API_KEY", "k"),
        ("RALPH_AGENT__ENV__A__b", "", "agent.env.A__b", ""),
        ("RALPH_AGENTS__CLAUDE__MODEL", "opus", "agents.claude.model", "opus"),
        ("RALPH_AGENTS__CLAUDE__ENV__IS_SANDBOX", "1", "agents.claude.env.IS_SANDBOX", "1"),
        ("RALPH_OUTPUT__STREAM", "False", "output.stream", False),
        ("RALPH_OUTPUT__EMOJI", "0", "output.emoji", False),
        ("RALPH_OUTPUT__ITERATION_IN_PROMPT", "yes", "output.iteration_in_prompt", True),
        ("RALPH_SCM__TASKS", "commit, merge main", "scm.tasks", ("commit", "merge main")),
        ("RALPH_COMPLETION__REQUIRE", "any", "completion.require", "any"),
        ("RLOOP_MAX_ITERATIONS", "12", "limits.iterations", 12),
        ("RLOOP_TASK_FILE", "TODO.md", "work.task_file", "TODO.md"),
        ("RLOOP_COMPLETION_MARKER", "ALL_DONE", "completion.text", "ALL_DONE"),
        ("RLOOP_MODEL", "opus", "agent.model", "opus"),
    ],
)
def test_a_variable_sets_its_key_by_the_type_of_the_schema(project: Project, name: str, text: str, key: str, value: Any) -> None:
    setting = project.load({name: text})[key]
    assert (setting.value, type(setting.value), str(setting.origin)) == (value, type(value), name)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("RALPH_LIMITS__ITERATION", "5", "unknown setting in the environment; did you mean RALPH_LIMITS__ITERATIONS?"),
        ("RALPH_LIMIT__ITERATIONS", "5", "unknown setting in the environment; did you mean RALPH_LIMITS__ITERATIONS?"),
        ("RALPH_AGENT__ENV", "x", "unknown setting in the environment; did you mean RALPH_AGENT__ENV__NAME?"),
        ("RALPH_AGENTS__CLAUDE__FLAG", "x", "unknown setting in the environment; did you mean RALPH_AGENTS__CLAUDE__FLAGS?"),
        ("RALPH_X__Y", "1", "unknown setting in the environment; names are made as RALPH_LIMITS__ITERATIONS is made of limits.iterations"),
        ("RALPH___", "1", "unknown setting in the environment; "),
        ("RLOOP_MAX_ITERATION", "1", "unknown setting in the environment; did you mean RLOOP_MAX_ITERATIONS?"),
        ("RALPH_LIMITS__ITERATIONS", "many", 'limits.iterations is "many"; write a whole number from 0 to 1000000000'),
        ("RALPH_LIMITS__ITERATIONS", "-1", "limits.iterations is -1; write a whole number from 0 to 1000000000"),
        ("RALPH_LIMITS__ITERATIONS", "", 'limits.iterations is ""; write a whole number from 0 to 1000000000'),
        ("RALPH_LIMITS__MINUTES", "nan", "limits.minutes is nan; write a number from 0 to 1000000000"),
        ("RALPH_OUTPUT__STREAM", "maybe", 'output.stream is "maybe"; write true or false'),
        ("RALPH_AGENT__COMMAND", "", "agent.command is empty; write some text, or take the key away"),
        ("RALPH_AGENT__MODEL", "\udcff", "agent.model is not UTF-8 text; write it in UTF-8"),
        ("RALPH_AGENT__PERMISSIONS", "al", "agent.permissions is "),
        ("RALPH_AGENT__ENV__", "x", 'agent.env has the name ""; a variable has a name without = in it'),
    ],
)
def test_a_wrong_variable_is_told_by_its_name(checklist: Project, name: str, text: str, message: str) -> None:
    assert checklist.complaint({name: text}).startswith(f"{name}: {message}")


def test_two_variables_for_one_key_are_told(checklist: Project) -> None:
    environ = {"RALPH_LIMITS__ITERATIONS": "1", "RLOOP_MAX_ITERATIONS": "1"}
    assert checklist.complaint(environ) == "RLOOP_MAX_ITERATIONS: it is the same setting as RALPH_LIMITS__ITERATIONS; keep one of them"


@pytest.mark.parametrize(
    "name", [*sorted(OUTER_LOOP), "RALPH_STATE_HOME", "RALPH_MODEL", "RALPH", "MY_RALPH_LIMITS__ITERATIONS", "ralph_limits__iterations"]
)
def test_a_context_name_and_a_name_without_two_underscores_are_no_settings(project: Project, name: str) -> None:
    assert project.load({name: "x"}) == project.load()
