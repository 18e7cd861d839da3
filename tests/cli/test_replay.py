"""`ralph show LOOP N --events`: what an agent said can be seen again, as it was seen when it said it."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest
from program import Program

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow


@pytest.fixture
def worked(program: Program) -> list[str]:
    """A loop of one task with the demo agent; what was shown of its first iteration while it ran."""
    program.tasks("Write a greeting", "Write a farewell")
    program.settings(agents={"demo": {"flags": ["--script work"]}})
    shown = program.run("run", "--agent", "demo", "-m", "1").out.splitlines()
    begin = next(number for number, line in enumerate(shown) if line.startswith("── Iteration 1"))
    end = next(number for number, line in enumerate(shown) if line.startswith("agent   complete"))
    return shown[begin + 1 : end]


def log_of(program: Program) -> Path:
    return Path(program.attempts()[0]["files"], "events.ndjson")


def test_a_replay_shows_what_the_live_view_showed(program: Program, worked: list[str]) -> None:
    replay = program.run("show", "project", "1", "--events")
    assert replay.code == 0, replay.err
    title, *lines = replay.out.strip("\n").splitlines()
    assert title.startswith("── Iteration 1 of project, attempt 1")
    assert [line for line in lines if "Complete" not in line] == worked
    assert any("⎿" in line for line in worked), "a tool was shown"


def test_a_replay_ends_with_the_final_figures(program: Program, worked: list[str]) -> None:
    assert worked
    last = program.run("show", "project", "1", "--events").out.splitlines()[-1]
    assert last.startswith("  [OK] Complete (cost: $")
    assert all(word in last for word in ("tokens:", "tools:", "errors:"))


def test_one_iteration_can_be_shown_alone(program: Program, worked: list[str]) -> None:
    assert worked
    shown = program.run("show", "project", "1")
    assert shown.code == 0
    assert shown.out.startswith("── Iteration 1")
    assert shown.out in program.run("show", "project").out


def test_all_that_a_tool_put_out_can_be_shown(program: Program) -> None:
    result = {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "\n".join(map(str, range(2000)))}]}}
    end = {"type": "result", "subtype": "success", "is_error": False, "result": "Looked."}
    program.write("out.ndjson", f"{json.dumps(result)}\n{json.dumps(end)}\n")
    program.settings(agents={"mine": {"command": "cat out.ndjson", "speaks": "claude"}})
    program.run("run", "-p", "Look.", "--agent", "mine", "-m", "1")
    short, full = (program.run("show", "project", "1", "--events", *more).out for more in ((), ("--full",)))
    assert ("1999" in short, "1999" in full) == (False, True)


def test_a_replay_looks_as_the_settings_say(program: Program, worked: list[str]) -> None:
    assert worked
    program.settings(output={"max_lines": 0, "color": "always"})
    shown = program.run("show", "project", "1", "--events").out
    assert "⎿" not in shown
    assert "\x1b[" in shown
    program.write(".ralph/settings.json", "broken")
    assert program.run("show", "project", "1", "--events").code == 0


def test_a_log_that_was_changed_since_is_not_passed_off_as_what_was_said(program: Program, worked: list[str]) -> None:
    assert worked
    log = log_of(program)
    log.chmod(stat.S_IRUSR | stat.S_IWUSR)
    log.write_bytes(log.read_bytes() + b'{"type":"assistant","message":{"content":"I never said this."}}\n')
    shown = program.run("show", "project", "1", "--events").out
    assert "this is not what the agent put out when it ran" in shown.splitlines()[-1]


def test_a_log_that_is_gone_is_said_to_be_gone(program: Program, worked: list[str]) -> None:
    assert worked
    shutil.rmtree(log_of(program).parent)
    shown = program.run("show", "project", "1", "--events")
    assert (shown.code, "its raw stream is gone" in shown.out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--events",), "say which, as in `ralph show LOOP 3 --events`"),
        (("1", "--json"), "leave the number"),
        (("1", "--full"), "--full is for --events"),
        (("9", "--events"), "has no iteration 9: it has 1 to 1"),
        (("9",), "has no iteration 9: it has 1 to 1"),
        (("none", "--events"), "'none' is not a number of iterations"),
    ],
)
def test_what_cannot_be_shown_is_explained(program: Program, worked: list[str], arguments: tuple[str, ...], words: str) -> None:
    assert worked
    refused = program.run("show", "project", *arguments)
    assert refused.code == 2
    assert words in refused.err
