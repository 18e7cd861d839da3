"""`scripts/clients`: the clients are there as a whole or not at all. npm is played by a script: the registry that fails is the point."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
VERSIONS = json.loads((ROOT / "tests" / "clients" / "package.json").read_text())["dependencies"]

GOOD = f"""\
mkdir -p node_modules/.bin
for client in 'claude {VERSIONS["@anthropic-ai/claude-code"]}' 'codex {VERSIONS["@openai/codex"]}'; do
  program="node_modules/.bin/${{client%% *}}"
  printf '#!/bin/sh\\necho %s\\n' "${{client#* }}" > "$program"
  chmod +x "$program"
done
"""


class Machine:
    """A machine with an npm of our own, and a cache."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cache = root / "cache"
        self.npm_was_run = root / "npm-was-run"
        self.environ = {"PATH": f"{root}:{os.environ['PATH']}", "HOME": str(root), "RALPH_TEST_CLIENTS": str(self.cache)}

    def npm(self, script: str) -> None:
        """What `npm install` does."""
        (self.root / "npm").write_text(f"#!/bin/sh\necho run >> {self.npm_was_run}\n{script}")
        (self.root / "npm").chmod(0o755)

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, str(ROOT / "scripts" / "clients"), "--pause", "0"]
        return subprocess.Popen(command, env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0)

    def run(self) -> tuple[int, str, str]:
        with self.start() as process:
            out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def runs_of_npm(self) -> int:
        return len(self.npm_was_run.read_text().split())

    def installed(self) -> list[str]:
        return sorted(path.name for path in self.cache.iterdir() if path.is_dir())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_it_prints_where_the_clients_are_and_installs_them_once(machine: Machine) -> None:
    machine.npm(GOOD)
    code, out, err = machine.run()
    assert code == 0, err
    assert sorted(path.name for path in Path(out.strip()).iterdir()) == ["claude", "codex"]
    assert machine.run() == (0, out, "")
    assert machine.runs_of_npm() == 1


def test_two_at_once_install_them_once(machine: Machine) -> None:
    machine.npm(GOOD)
    with machine.start() as first, machine.start() as second:
        assert first.communicate(timeout=60)[0] == second.communicate(timeout=60)[0]
    assert (first.returncode, second.returncode) == (0, 0)
    assert machine.runs_of_npm() == 1


@pytest.mark.parametrize(
    "failure",
    [pytest.param("exit 1", id="npm fails"), pytest.param(GOOD.replace(VERSIONS["@openai/codex"], "0.1.0"), id="a client is another one")],
)
def test_what_fails_twice_is_tried_a_third_time(machine: Machine, failure: str) -> None:
    machine.npm(f"if [ $(wc -l < {machine.npm_was_run}) -lt 3 ]; then {failure}\nelse {GOOD}\nfi")
    code, _, err = machine.run()
    assert code == 0, err
    assert machine.runs_of_npm() == 3


def test_what_cannot_be_installed_is_not_there(machine: Machine) -> None:
    machine.npm(f"{GOOD}\nexit 1")
    code, out, err = machine.run()
    assert (code, out) == (1, "")
    assert "npm ended with exit code 1" in err
    assert machine.run()[0] == 1, "nothing was taken for installed"


def test_whoever_is_killed_half_way_leaves_nothing_that_is_taken_for_installed(machine: Machine) -> None:
    os.mkfifo(machine.root / "half-way")
    machine.npm(f"{GOOD}\necho > {machine.root}/half-way; while :; do sleep 1; done")
    with machine.start() as process:
        (machine.root / "half-way").read_text()
        os.killpg(process.pid, signal.SIGKILL)
    machine.npm(GOOD)
    code, _, err = machine.run()
    assert code == 0, err
    assert machine.runs_of_npm() == 2
    assert len(machine.installed()) == 1


def test_where_npm_runs_no_install_scripts_the_program_of_the_platform_is_taken(machine: Machine) -> None:
    native = "node_modules/@anthropic-ai/claude-code-this-platform"
    stub = f"mkdir -p {native}; mv node_modules/.bin/claude {native}/claude; printf '#!/bin/sh\\nexit 1\\n' > node_modules/.bin/claude"
    machine.npm(f"{GOOD}\n{stub}; chmod +x node_modules/.bin/claude")
    code, out, err = machine.run()
    assert code == 0, err
    claude = Path(out.strip(), "claude")
    assert claude.is_symlink()
    said = subprocess.run([claude, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.strip() == VERSIONS["@anthropic-ai/claude-code"]
    assert shutil.which("claude", path=str(claude.parent)) is not None
