"""`ralph status` has a table and JSON that scripts rely on, and costs nothing to import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ralphloop
from ralphloop.ledger.queries import LoopRow
from ralphloop.views.status import render_json, render_table, status_word
from ralphloop.views.text import width

HOME = "/srv"
SOURCE = Path(ralphloop.__file__).parent.parent


def row(**changes: Any) -> LoopRow:
    values: dict[str, Any] = dict.fromkeys(LoopRow._fields)
    values |= {"id": "01JX", "name": "app1", "workspace": "/srv/projects/app1", "kind": "checklist", "task_file": "PRD.md"}
    values |= {"created_at": 1_769_162_400.0, "pid": 12345, "status": "running", "iteration": 5, "max_iterations": 30, "remaining": 12}
    return LoopRow(**(values | {"cost_usd": 0.5} | changes))


def lives(_row: LoopRow) -> bool:
    return True


def is_gone(_row: LoopRow) -> bool:
    return False


SEED_ROWS = [
    row(),
    row(name="app2", workspace="/srv/projects/app2", iteration=3, remaining=8),
    row(name="app3", workspace="/srv/projects/app3", iteration=15, status="complete", remaining=0),
]
SEED_TABLE = """\
NAME          DIR                      ITERATION  STATUS     REMAINING
app1          ~/projects/app1          5/30       running    12 tasks
app2          ~/projects/app2          3/30       running    8 tasks
app3          ~/projects/app3          15/30      complete   0 tasks
"""


def test_the_table_is_the_one_of_the_seed_to_the_letter() -> None:
    assert render_table(SEED_ROWS, lives, home=HOME) == SEED_TABLE


def test_without_an_iteration_limit_only_the_iteration_is_shown_and_without_tasks_a_dash() -> None:
    line = render_table([row(max_iterations=0, remaining=None)], lives, home=HOME).splitlines()[1]
    assert line.split() == ["app1", "~/projects/app1", "5", "running", "-"]


def test_one_task_is_one_task() -> None:
    assert render_table([row(remaining=1)], lives).splitlines()[1].endswith("1 task")


def test_only_home_itself_and_what_lies_in_it_gets_a_tilde() -> None:
    table = render_table([row(workspace="/srv"), row(workspace="/srvless/app")], lives, home=HOME)
    assert [line.split()[1] for line in table.splitlines()[1:]] == ["~", "/srvless/app"]


def test_a_loop_that_says_it_runs_and_whose_process_is_gone_has_crashed() -> None:
    assert status_word(row(), is_gone) == "crashed"
    assert status_word(row(), lives) == "running"
    assert status_word(row(status="complete"), is_gone) == "complete"


@pytest.mark.parametrize(("status", "code"), [("complete", "32"), ("running", "33"), ("failed", "31")])
def test_colours_say_how_it_stands(status: str, code: str) -> None:
    table = render_table([row(status=status)], lives, colour=True)
    assert f"\x1b[{code}m{status}\x1b[0m" in table
    assert "\x1b[31mcrashed\x1b[0m" in render_table([row()], is_gone, colour=True)


def test_colours_do_not_move_the_columns() -> None:
    plain = render_table(SEED_ROWS, lives, home=HOME)
    coloured = render_table(SEED_ROWS, lives, home=HOME, colour=True)
    assert plain == coloured.replace("\x1b[33m", "").replace("\x1b[32m", "").replace("\x1b[0m", "")


def test_no_loops_is_said_in_words() -> None:
    assert render_table([], lives) == "No loops yet.\n"


@pytest.mark.parametrize("columns", [60, 70, 80, 100])
def test_no_line_is_wider_than_the_terminal_and_the_end_of_a_path_stays(columns: int) -> None:
    rows = [row(name="a-rather-long-name-for-a-loop", workspace="/srv/very/deep/down/in/some/tree/of/project-seven"), row(name="你好" * 20)]
    table = render_table(rows, lives, columns=columns)
    assert all(width(line) <= columns for line in table.splitlines())
    assert "seven" in table
    assert "12 tasks" in table


def test_names_and_directories_cannot_command_the_terminal() -> None:
    table = render_table([row(name="a\x1b]0;x\x07b\nc", workspace="/tmp/\x1b[2Jd\u202e")], lives)
    assert "\x1b" not in table
    assert "\u202e" not in table
    assert len(table.splitlines()) == 2


def test_json_has_the_shape_of_the_seed_and_more() -> None:
    [session] = json.loads(render_json([row()], lives))["sessions"].items()
    assert session == (
        "app1",
        {
            "name": "app1",
            "dir": "/srv/projects/app1",
            "task_file": "PRD.md",
            "pid": 12345,
            "tmux_session": None,
            "started_at": "2026-01-23T10:00:00Z",
            "iteration": 5,
            "max_iterations": 30,
            "status": "running",
            "last_task_count": 12,
            "completion_marker": None,
            "log_file": None,
            "outcome": None,
            "strength": None,
            "exit_code": None,
            "cost_usd": 0.5,
            "kind": "checklist",
            "id": "01JX",
        },
    )


def test_a_pid_is_given_only_while_its_process_lives() -> None:
    sessions = json.loads(render_json([row(), row(name="b", status="complete")], is_gone))["sessions"]
    assert [(session["status"], session["pid"]) for session in sessions.values()] == [("crashed", None), ("complete", None)]


def test_loops_of_one_name_all_appear_in_json() -> None:
    rows = [row(id="3"), row(id="2", workspace="/srv/app1"), row(id="1", workspace="/srv/app1"), row(id="0")]
    sessions = json.loads(render_json(rows, lives))["sessions"]
    assert {key: session["id"] for key, session in sessions.items()} == {
        "app1": "3",
        "app1 (/srv/app1)": "2",
        "app1 (/srv/app1) 1": "1",
        "app1 (/srv/projects/app1)": "0",
    }


def test_json_without_loops_is_still_json() -> None:
    assert json.loads(render_json([], lives)) == {"sessions": {}}


def test_the_fast_path_loads_nothing_heavy() -> None:
    heavy = ("dataclasses", "inspect", "json", "sqlite3", "datetime", "pathlib", "subprocess", "click", "logging", "shutil", "ralphloop.core")
    program = (
        "import sys; before = set(sys.modules); from ralphloop.views.status import render_table; render_table([], bool);"
        f"print([name for name in set(sys.modules) - before if name.startswith({heavy})])"
    )
    ran = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(SOURCE)})
    assert ran.stdout.strip() == "[]"
