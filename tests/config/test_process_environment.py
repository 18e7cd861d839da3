from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ralphloop.config.environment import OUTER_LOOP, agent_environment, current, is_setting, outer_loop, state_home, tool_environment

USER = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "CLAUDE_CODE_MAX_RETRIES": "1",
    "CLAUDE_CONFIG_DIR": "/c",
    "RALPH_STATE_HOME": "/s",
}
MARKERS = {"CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"}
SETTINGS = {"RALPH_LIMITS__ITERATIONS", "RALPH_AGENT__ENV__X", "RALPH_NO__SUCH", "RLOOP_MODEL", "RLOOP_ANYTHING"}
SURROUNDED = USER | dict.fromkeys(MARKERS | SETTINGS | OUTER_LOOP, "x")


@pytest.mark.parametrize(
    ("environ", "home"),
    [
        ({"RALPH_STATE_HOME": "/s", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/s"),
        ({"RALPH_STATE_HOME": "", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/ralph"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/ralph"),
        ({"XDG_STATE_HOME": "", "HOME": "/h"}, "/h/.local/state/ralph"),
        ({"HOME": "/h"}, "/h/.local/state/ralph"),
    ],
)
def test_the_state_home_is_ours_else_xdg_else_beneath_home(environ: dict[str, str], home: str) -> None:
    assert state_home(environ) == home


def test_a_relative_state_home_and_a_missing_home_still_give_an_absolute_path() -> None:
    assert state_home({"RALPH_STATE_HOME": "state"}) == str(Path.cwd() / "state")
    assert Path(state_home({})).is_absolute()


def test_tools_get_the_users_environment_without_session_markers_and_settings() -> None:
    assert tool_environment(SURROUNDED) == USER


def test_agents_get_what_the_settings_add_and_the_context_wins() -> None:
    extra = {"PATH": "/agent/bin", "IS_SANDBOX": "1", "RALPH_LOOP": "forged"}
    context = {"RALPH_LOOP": "inner", "RALPH_ITERATION": "3"}
    assert agent_environment(SURROUNDED, extra, context) == {**USER, "PATH": "/agent/bin", "IS_SANDBOX": "1", **context}


@pytest.mark.parametrize(
    ("run_id", "loop"),
    [
        ("01JX/2/1", "01JX"),
        ("01JX/2/gates", None),
        ("", None),
        ("/2/1", None),
        ("../2/1", None),
        ("./2/1", None),
    ],
)
def test_the_loop_whose_agent_runs_ralph_is_known_by_its_run_and_a_gates_is_none(run_id: str, loop: str | None) -> None:
    assert outer_loop({"RALPH_RUN_ID": run_id}) == loop
    assert outer_loop({"RALPH_LOOP": "01JX"}) is None


def test_the_environment_that_was_given_is_left_as_it_is() -> None:
    given = dict(SURROUNDED)
    agent_environment(given, {"A": "1"}, {})["B"] = "2"
    assert given == SURROUNDED


def test_context_names_are_no_settings() -> None:
    assert not any(is_setting(name) for name in {*OUTER_LOOP, "RALPH_STATE_HOME"})


def test_the_current_environment_is_a_copy() -> None:
    environ = current()
    assert environ == dict(os.environ)
    environ["RALPH_TEST_COPY"] = "x"
    assert "RALPH_TEST_COPY" not in os.environ


def test_the_environment_room_costs_no_import_but_os() -> None:
    program = (
        "import sys, os; import ralphloop.config; before = set(sys.modules); import ralphloop.config.environment; print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ralphloop.config.environment"]
