"""A loop keeps the settings that it began with; whoever spells them, and wherever they come from."""

from __future__ import annotations

import json
from typing import Any

import pytest
from program import DONE, Program

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

SETTINGS = ".ralph/settings.json"


def test_an_agent_that_rewrites_the_settings_changes_nothing_and_its_edit_is_undone(program: Program) -> None:
    lax = json.dumps({"limits": {"iterations": 50}, "gates": [], "completion": {"require": "any"}})
    program.settings(
        agent={"command": program.agent(f"echo '{lax}' > {SETTINGS}; echo '{DONE}'")}, gates=[{"command": "false"}], limits={"iterations": 2}
    )
    before = (program.workspace / SETTINGS).read_text()
    ended = program.run("run", "-p", "x")
    assert ended.code == 1, ended
    assert "limit: 2 of 2 iterations are used up" in ended.out
    assert ended.out.count(f"undone  {SETTINGS} is protected and was changed; it is as it was.") == 2
    assert (program.workspace / SETTINGS).read_text() == before
    assert [verdict["result"] for turn in program.show()["iterations"] for verdict in turn["verdicts"]] == ["failed", "failed"]


@pytest.mark.parametrize("path", [SETTINGS, ".ralph/settings.local.json"])
def test_an_agent_that_makes_or_deletes_a_settings_file_has_that_undone(program: Program, path: str) -> None:
    there = path == SETTINGS
    if there:
        program.settings()
    agent = program.agent("echo on it; " + (f"rm {path}" if there else f"mkdir -p .ralph; echo '{{}}' > {path}"))
    program.run("run", "-p", "x", "-m", "1", "--agent-command", agent)
    assert (program.workspace / path).exists() == there
    assert [restored["path"] for turn in program.show()["iterations"] for restored in turn["restored"]] == [path]


def test_settings_that_a_person_edits_do_not_change_a_loop_that_goes_on(program: Program) -> None:
    agent = {"command": program.agent("exit 42")}
    program.settings(agent=agent, gates=[{"command": "true"}], limits={"iterations": 4})
    assert program.run("run", "-p", "x").code == 3
    before = pinned(program)
    program.settings(agent={"command": "false"}, gates=[], limits={"iterations": 9})
    again = program.run("run", "-p", "x")
    assert again.code == 3
    told = next(line for line in again.out.splitlines() if line.startswith("Pinned when the loop began"))
    assert all(key in told for key in ("agent.command", "gates", "limits.iterations"))
    assert program.show()["runs"] == 2
    assert pinned(program) == before


SPELLINGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {
            "maximumIterations": 3,
            "completionResponse": "FINISHED",
            "outputTruncateChars": 99,
            "streamAgentOutput": False,
            "includeIterationCountInPrompt": True,
            "guardrails": [{"command": "true", "failAction": "PREPEND", "hint": "look"}],
        },
        {
            "limits": {"iterations": 3},
            "completion": {"text": "FINISHED"},
            "output": {"truncate_chars": 99, "stream": False, "iteration_in_prompt": True},
            "gates": [{"command": "true", "on_fail": "prepend", "hint": "look"}],
        },
    ),
]


@pytest.mark.parametrize(("seed", "canonical"), SPELLINGS)
def test_both_spellings_of_the_settings_give_the_same_loop(program: Program, seed: dict[str, Any], canonical: dict[str, Any]) -> None:
    agent = program.agent("cat > ../prompt; echo '<response>FINISHED</response>'")
    loops = []
    for name, settings in (("seed", seed), ("canonical", canonical)):
        program.write(SETTINGS, json.dumps(settings))
        ended = program.run("run", "-p", "tidy up", "--name", name, "--agent-command", agent)
        assert ended.code == 0, ended
        loops.append(pinned(program, name))
    assert loops[0] == loops[1]
    assert loops[0]["limits"]["iterations"] == 3
    assert loops[0]["completion"]["text"] == "FINISHED"


def pinned(program: Program, name: str = "project") -> dict[str, Any]:
    return {key: value for key, value in program.show(name).items() if key in {"agent", "gates", "limits", "completion", "kind"}}


@pytest.mark.parametrize(
    ("local", "env", "flags", "iterations"),
    [
        (None, None, (), 2),
        (3, None, (), 3),
        (3, 4, (), 4),
        (None, 4, (), 4),
        (3, 4, ("-m", "5"), 5),
        (3, None, ("--max-iterations", "5"), 5),
        (None, None, ("--maximum-iterations", "5"), 5),
    ],
)
def test_flags_win_over_the_environment_over_local_settings_over_settings(
    program: Program, local: int | None, env: int | None, flags: tuple[str, ...], iterations: int
) -> None:
    program.settings(limits={"iterations": 2})
    if local:
        program.write(".ralph/settings.local.json", json.dumps({"limits": {"iterations": local}}))
    environ = {"RALPH_LIMITS__ITERATIONS": str(env)} if env else {}
    assert program.run("run", "-p", "x", "--agent-command", program.agent(f"echo '{DONE}'"), *flags, env=environ).code == 0
    assert program.show()["limits"]["iterations"] == iterations
    assert program.show()["limits"]["calls"] == 3 * iterations


def test_gates_of_the_command_line_replace_those_of_the_settings(program: Program) -> None:
    program.settings(gates=[{"command": "false"}])
    assert program.run("run", "-p", "x", "--gate", "true", "--gate", "test -d .", "--agent-command", program.agent(f"echo '{DONE}'")).code == 0
    assert program.show()["gates"] == ["true", "test -d ."]


def test_a_script_that_a_gate_runs_cannot_be_made_green_by_the_agent(program: Program) -> None:
    program.tasks("One")
    (program.workspace / "check.sh").write_text("exit 1\n")
    agent = program.agent("echo 'exit 0' > check.sh; sed -i.bak 's/\\[ \\]/[x]/' PRD.md; echo ticked")
    ended = program.run("run", "--gate", "sh check.sh", "-m", "1", "--agent-command", agent)
    assert ended.code == 1, ended
    assert "check.sh is protected and was changed; it is as it was." in ended.out
    assert (program.workspace / "check.sh").read_text() == "exit 1\n"
