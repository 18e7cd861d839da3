from __future__ import annotations

from typing import Any

import pytest
from settings_project import AGENTS, BASE, Project

from ralphloop.config.layers import load_layers
from ralphloop.config.request import RunRequest
from ralphloop.config.resolve import resolve
from ralphloop.core.model import Completion, Gate, Limits, Require

OWN = (".ralph/settings.json", ".ralph/settings.local.json", ".ralph.yaml")


def test_without_settings_each_kind_has_its_own_defaults(checklist: Project) -> None:
    prompt, tasks = checklist.resolve(prompt_text="go"), checklist.resolve()
    assert (prompt.limits, prompt.completion) == (Limits(iterations=10, calls=30), Completion(text="DONE"))
    assert (tasks.limits, tasks.completion) == (Limits(iterations=30, calls=90), Completion(text="COMPLETE"))
    assert str(tasks.origins["limits.iterations"]) == "default of checklist work"
    assert str(tasks.origins["limits.calls"]) == "default: 3 x limits.iterations"


def test_folder_work_counts_every_run_and_takes_no_silence_for_a_stall(checklist: Project) -> None:
    resolved = checklist.resolve(task_dir=".")
    assert resolved.limits == Limits(iterations=100, calls=300, attempts=1, empty_retries=0, delay_s=1.0, stall=0)
    assert resolved.completion == Completion(text="COMPLETE")
    assert str(resolved.origins["limits.delay_s"]) == str(resolved.origins["limits.stall"]) == "default of folder work"


@pytest.mark.parametrize("limit", ["iterations", "attempts", "empty_retries", "delay_s", "stall"])
def test_the_defaults_of_folder_work_give_way_to_files_variables_and_flags(checklist: Project, limit: str) -> None:
    checklist.settings({"limits": {limit: 7}})
    assert getattr(checklist.resolve(task_dir=".").limits, limit) == 7
    assert getattr(checklist.resolve({f"RALPH_LIMITS__{limit.upper()}": "8"}, task_dir=".").limits, limit) == 8
    flag: dict[str, Any] = {limit: 9}
    if limit in {"iterations", "delay_s"}:
        assert getattr(checklist.resolve(task_dir=".", **flag).limits, limit) == 9


def test_a_setting_that_equals_the_general_default_still_wins_over_that_of_folder_work(checklist: Project) -> None:
    checklist.settings({"limits": {"stall": 5, "attempts": 3, "delay_s": 0}})
    limits = checklist.resolve(task_dir=".").limits
    assert (limits.stall, limits.attempts, limits.delay_s) == (5, 3, 0.0)


def test_the_defaults_of_folder_work_are_for_folder_work_alone(checklist: Project) -> None:
    checklist.settings({"work": {"task_dir": "."}})
    assert checklist.resolve(kind="checklist").limits == Limits(iterations=30, calls=90)


def test_a_value_in_the_settings_holds_for_every_kind(checklist: Project) -> None:
    checklist.settings({"maximumIterations": 4, "completionResponse": "ALL"})
    for resolved in (checklist.resolve(prompt_text="go"), checklist.resolve(), checklist.resolve(task_dir=".")):
        assert (resolved.limits.iterations, resolved.limits.calls, resolved.completion.text) == (4, 12, "ALL")


def test_iterations_switched_off_in_the_settings_switch_off_the_calls_as_well(checklist: Project) -> None:
    checklist.settings({"limits": {"iterations": 0}})
    assert (checklist.resolve().limits.iterations, checklist.resolve().limits.calls) == (0, 0)
    checklist.settings({"limits": {"iterations": 0, "calls": 7}})
    assert checklist.resolve().limits.calls == 7


def test_every_limit_is_settable(checklist: Project) -> None:
    wanted: dict[str, Any] = {field: number for number, field in enumerate(Limits.__dataclass_fields__, start=100)}
    checklist.settings({"limits": wanted})
    assert checklist.resolve().limits == Limits(**wanted)


def test_flags_override_every_file(checklist: Project) -> None:
    checklist.settings({"maximumIterations": 4, "gates": [{"command": "x"}, {"command": "y"}], "agent": {"model": "opus"}, "streamAgentOutput": True})
    resolved = checklist.resolve(
        iterations=2,
        minutes=3,
        max_cost=1.5,
        delay_s=1,
        wait_timeout_s=60,
        poll_interval_s=0.5,
        completion_text="ALL",
        require="proved",
        stream=False,
        model="haiku",
        gates=("make test",),
    )
    assert resolved.limits == Limits(iterations=2, calls=6, minutes=3.0, cost_usd=1.5, delay_s=1.0, wait_timeout_s=60.0, poll_interval_s=0.5)
    assert resolved.completion == Completion(text="ALL", require=Require.PROVED)
    assert (resolved.output.stream, resolved.agent.model, resolved.gates) == (False, "haiku", (Gate(command="make test"),))
    assert str(resolved.origins["gates"]) == str(resolved.origins["agent.model"]) == "command line"


def test_the_flags_of_a_request_cannot_be_forgotten(checklist: Project) -> None:
    request = RunRequest(workspace=checklist.root, iterations=2)
    with pytest.raises(AssertionError, match=r"limits\.iterations"):
        resolve(request, load_layers(checklist.root, {}, {}), AGENTS)


def test_proved_without_a_gate_refuses_to_start(checklist: Project) -> None:
    assert checklist.complaint(require="proved").startswith("command line: completion.require is proved, and no gate could prove anything; ")
    assert checklist.resolve(require="proved", gates=("true",)).completion.require is Require.PROVED


def test_the_files_that_gates_name_are_protected_but_not_the_task_list(checklist: Project) -> None:
    for name in ("check.sh", "conf/lint.toml", "my test.py"):
        checklist.write(name)
    gates = [{"command": "./check.sh && lint --config=conf/lint.toml src"}, {"command": "(grep -c x PRD.md; sh ../outside.sh; no-such-file)"}]
    checklist.settings({"gates": gates})
    assert checklist.resolve().protect == (*OWN, "check.sh", "conf/lint.toml")


def test_the_settings_themselves_and_the_files_of_the_user_are_protected(checklist: Project) -> None:
    assert checklist.resolve().protect == OWN
    checklist.settings({"protect": ["./tests/check.py", ".ralph.yaml", str(checklist.root / "Makefile"), "app/[id].tsx"]})
    assert checklist.resolve().protect == (*OWN, "tests/check.py", "Makefile", "app/[id].tsx")


def test_the_dress_of_the_console_is_not_pinned_with_the_output(checklist: Project) -> None:
    checklist.settings({"output": {"color": "never", "emoji": False, "truncate_chars": 7}})
    resolved = checklist.resolve()
    assert (resolved.console.color, resolved.console.emoji, resolved.output.truncate_chars) == ("never", False, 7)


def test_the_origin_of_every_value_is_known(checklist: Project) -> None:
    checklist.settings('{\n"scm": {\n"tasks": ["commit"],\n"message": "done {iteration}"}}')
    resolved = checklist.resolve()
    assert (resolved.scm.tasks, resolved.scm.message) == (("commit",), "done {iteration}")
    assert [str(resolved.origins[key]) for key in ("scm.tasks", "scm.message", "scm.command")] == [f"{BASE}:3", f"{BASE}:4", "default"]
