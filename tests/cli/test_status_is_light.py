"""`ralph status` and `ralph --version` are asked often: they import nothing that they do not need."""

from __future__ import annotations

import subprocess
import sys

import pytest
from program import DONE, Program

pytest_plugins = ["program_fixtures"]

# Runs the program as `python -m ralphloop` does, and then says on standard error what has been imported.
WATCHED = """\
import runpy, sys

sys.argv = ["ralph", *sys.argv[1:]]
try:
    runpy.run_module("ralphloop", run_name="__main__")
finally:
    print(*sorted(sys.modules), sep="\\n", file=sys.stderr)
"""

HEAVY = (
    "asyncio",
    "concurrent",
    "email",
    "http",
    "hypothesis",
    "importlib.metadata",
    "logging",
    "multiprocessing",
    "rich",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "tomllib",
    "urllib.request",
    "xml",
    "yaml",
    "ralphloop.agents",
    "ralphloop.checks",
    "ralphloop.core.claims",
    "ralphloop.core.model",
    "ralphloop.core.messages",
    "ralphloop.core.decide",
    "ralphloop.core.evolve",
    "ralphloop.core.messages",
    "ralphloop.ledger.codec",
    "ralphloop.ledger.store",
    "ralphloop.loop",
    "ralphloop.process.supervise",
    "ralphloop.views.console",
    "ralphloop.work",
    "ralphloop.workspace",
)


def imported(program: Program, *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *arguments], cwd=program.workspace, env=program.environ, capture_output=True, check=True, timeout=60
    )
    return set(done.stderr.decode().split())


def among(modules: set[str], unwanted: tuple[str, ...]) -> list[str]:
    return sorted(module for module in modules if any(module == name or module.startswith(f"{name}.") for name in unwanted))


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        pytest.param(("status",), (*HEAVY, "json", "ralphloop.views.show"), id="status"),
        pytest.param(("status", "--json"), HEAVY, id="status --json"),
        pytest.param(("--version",), (*HEAVY, "json", "click", "sqlite3", "pathlib", "dataclasses", "typing", "ralphloop.cli"), id="--version"),
    ],
)
def test_what_is_asked_often_imports_nothing_heavy(program: Program, arguments: tuple[str, ...], unwanted: tuple[str, ...]) -> None:
    program.run("run", "-p", "x", "--agent-command", program.agent(f"echo '{DONE}'"))
    modules = imported(program, *arguments)
    assert "ralphloop" in modules
    assert among(modules, unwanted) == []


def test_what_runs_a_loop_is_seen_by_this_very_test(program: Program) -> None:
    """The list of modules is not empty by accident."""
    modules = imported(program, "run", "-p", "x", "--agent-command", program.agent(f"echo '{DONE}'"))
    assert {"subprocess", "json", "ralphloop.loop.start", "ralphloop.core.decide"} <= modules
