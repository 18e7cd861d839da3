"""An agent more: by settings alone, or by a package; and what `ralph agents` says of all of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from program import DONE, Program

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

ADAPTER = """
from ralphloop.agents.plain_text import PlainTextParser
from ralphloop.core.ports import Access, Invocation

NAME, MINIMUM = "tortoise", (2, 0)

def invocation(spec, order):
    return Invocation(argv=("sh", "-c", "echo carried by $SHELL_OF; cat", "sh"), stdin=order.prompt.encode(), env={"SHELL_OF": "tortoise"})

def streams(spec):
    return False

def parser(spec, order=None):
    return PlainTextParser()

def access(program, version, call, env):
    return Access.LOGGED_IN
"""


@pytest.fixture
def package(program: Program) -> Path:
    """A directory on Python's path in which a package of somebody else's is installed, with an agent."""
    site = program.root / "site"
    info = site / "tortoise-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tortoise\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[ralphloop.agents]\ntortoise = tortoise_for_ralph\n")
    (site / "tortoise_for_ralph.py").write_text(ADAPTER)
    program.environ["PYTHONPATH"] = str(site)
    return site


def executable(program: Program, name: str, script: str) -> None:
    """A program of that name on the path."""
    tools = program.root / "bin"
    tools.mkdir(exist_ok=True)
    (tools / name).write_text(f"#!/bin/sh\n{script}\n")
    (tools / name).chmod(0o755)
    program.environ["PATH"] = f"{tools}{os.pathsep}{program.environ['PATH']}"


def known(program: Program) -> dict[str, dict[str, object]]:
    return {agent["name"]: agent for agent in json.loads(program.run("agents", "--json").out)}


# --- by settings ---


def test_settings_alone_make_an_agent(program: Program) -> None:
    program.write("mine.sh", f'cat >/dev/null; echo "$@ in $MINE. Everything is done."; echo "{DONE}"\n')
    program.settings(agents={"mine": {"command": "sh mine.sh {model}", "flags": ["--fast"], "model": "m1", "env": {"MINE": "colour"}}})
    ended = program.run("run", "-p", "Do it.", "--agent", "mine", "--gate", "true")
    assert ended.code == 0, ended.out + ended.err
    assert "m1 --fast in colour" in ended.out
    assert program.show()["agent"]["name"] == "mine"


def test_the_model_of_the_command_line_comes_before_that_of_the_agent(program: Program) -> None:
    program.settings(agents={"mine": {"command": f"echo {{model}} {DONE}", "model": "m1"}})
    assert "m2" in program.run("run", "-p", "Do it.", "--agent", "mine", "--model", "m2").out


def test_an_agent_of_ones_own_is_gone_on_with_as_it_began(program: Program) -> None:
    program.settings(agents={"mine": {"command": "false"}}, limits={"iterations": 1, "attempts": 1})
    assert program.run("run", "-p", "Do it.", "--agent", "mine").code == 1
    program.settings(agents={"mine": {"command": f"echo {DONE}"}})
    again = program.run("resume", "project", "-m", "2")
    assert again.code == 1
    assert "agent   mine (false)" in again.out


def test_a_loop_goes_on_although_its_agent_is_gone_from_the_settings(program: Program) -> None:
    program.settings(agents={"mine": {"command": "echo working"}}, limits={"stall": 0})
    assert program.run("run", "-p", "Do it.", "--agent", "mine", "-m", "1").code == 1
    program.settings(agents={"other": {"model": "x"}})
    again = program.run("resume", "project", "-m", "2")
    assert again.code == 1, again.err
    assert "limit: 2 of 2 iterations" in again.out


def test_a_program_called_like_an_agent_of_ones_own_is_that_agent(program: Program) -> None:
    executable(program, "tortoise", f"cat >/dev/null; echo $SPEED. Everything is done.; echo '{DONE}'")
    program.settings(agents={"tortoise": {"command": "tortoise", "env": {"SPEED": "slow"}}})
    ended = program.run("run", "-p", "Do it.", "--agent-command", "tortoise")
    assert (ended.code, "slow" in ended.out) == (0, True)


@pytest.mark.parametrize(
    ("agents", "flags", "words"),
    [
        ({"mine": {"flags": ["-x"]}}, (), "agents.mine.command would make it one"),
        ({"claude": {"speaks": "codex"}}, (), "agents.claude.speaks is for an agent of your own, and claude is known"),
        ({"mine": {"command": "cat", "speaks": "klingon"}}, ("--agent", "mine"), "write text, claude, codex"),
        ({"mine": {"command": "cat 'x"}}, ("--agent", "mine"), "a quote is not closed"),
        ({"mine": {"command": "cat {model}"}}, ("--agent", "mine"), "names {model}, and no model is set"),
        ({}, ("--agent", "mine"), 'unknown agent "mine"'),
    ],
)
def test_a_mistake_is_told_before_anything_is_written(program: Program, agents: dict[str, object], flags: tuple[str, ...], words: str) -> None:
    program.settings(agents=agents)
    refused = program.run("run", "-p", "Do it.", *flags)
    assert refused.code == 2
    assert words in refused.err
    assert not program.state.exists()


def test_a_mode_that_a_client_lacks_is_refused_before_anything_is_written(program: Program) -> None:
    program.settings(agent={"permissions": "edits"})
    refused = program.run("run", "-p", "Do it.", "--agent", "amp")
    assert refused.code == 2
    assert "agent.permissions is edits, and amp has no such mode; it has skip and ask" in refused.err


# --- by a package ---


def test_a_package_brings_an_agent(program: Program, package: Path) -> None:
    assert package.exists()
    ended = program.run("run", "-p", f"Say {DONE}", "--agent", "tortoise", "-m", "1")
    assert "carried by tortoise" in ended.out
    assert program.show()["agent"]["type"] == "tortoise"


def test_settings_of_a_packages_agent_are_known(program: Program, package: Path) -> None:
    assert package.exists()
    program.settings(agents={"tortoise": {"model": "x"}})
    assert "model x" in program.run("run", "-p", f"Say {DONE}", "--agent", "tortoise", "-m", "1").out


def test_a_package_that_is_broken_is_named(program: Program, package: Path) -> None:
    (package / "tortoise_for_ralph.py").write_text("raise RuntimeError('no shell')\n")
    refused = program.run("run", "-p", "Do it.", "--agent", "tortoise")
    assert refused.code == 2
    assert "tortoise_for_ralph cannot be loaded: RuntimeError('no shell'); repair or remove that package" in refused.err
    (package / "tortoise_for_ralph.py").write_text("NAME = 'tortoise'\n")
    refused = program.run("run", "-p", "Do it.", "--agent", "tortoise")
    assert refused.code == 2
    assert "is no adapter: it lacks MINIMUM, invocation" in refused.err


@pytest.mark.parametrize("end", ["raise SystemExit(0)", "import sys; sys.exit(3)"])
def test_a_package_that_ends_the_program_when_it_is_imported_is_named(program: Program, package: Path, end: str) -> None:
    (package / "tortoise_for_ralph.py").write_text(end)
    refused = program.run("run", "-p", "Do it.", "--agent", "tortoise")
    assert (refused.code, "cannot be loaded: SystemExit" in refused.err) == (2, True)
    assert "cannot be loaded" in str(known(program)["tortoise"]["problem"])


def test_a_package_cannot_take_the_name_of_a_known_agent(program: Program, package: Path) -> None:
    (package / "tortoise-1.dist-info" / "entry_points.txt").write_text("[ralphloop.agents]\nclaude = tortoise_for_ralph\n")
    names = [agent["name"] for agent in json.loads(program.run("agents", "--json").out)]
    assert names.count("claude") == 1


# --- ralph agents ---


def test_every_agent_is_listed_and_what_is_not_installed_says_so(program: Program) -> None:
    program.environ["PATH"] = f"{program.root / 'empty'}"
    table = program.run("agents")
    assert table.code == 0
    for name in ("claude", "codex", "amp", "opencode", "gemini", "copilot", "qwen"):
        assert any(line.startswith(f"{name} ") and "not installed" in line for line in table.out.splitlines()), table.out


def test_a_client_that_is_too_old_is_told_with_the_remedy(program: Program) -> None:
    executable(program, "codex", "echo codex-cli 0.9.1")
    assert known(program)["codex"]["problem"] == "version 0.9.1 is older than 0.44, the oldest whose flags and stream are known to fit: upgrade it"
    assert "upgrade it" in program.run("agents").out


@pytest.mark.parametrize(("code", "login"), [(0, "logged_in"), (1, "logged_out"), (7, "unknown")])
def test_whether_somebody_is_logged_in_is_what_the_client_says(program: Program, code: int, login: str) -> None:
    executable(program, "claude", f'case "$1" in --version) echo "2.1.400 (Claude Code)";; auth) exit {code};; esac')
    claude = known(program)["claude"]
    assert (claude["version"], claude["login"]) == ("2.1.400", login)
    assert (claude["problem"] is not None) == (login == "logged_out")


def test_an_old_claude_is_not_asked_what_it_would_take_for_a_prompt(program: Program) -> None:
    executable(program, "claude", f'case "$1" in --version) echo "2.0.0 (Claude Code)";; *) touch {program.root}/asked;; esac')
    assert known(program)["claude"]["login"] == "unknown"
    assert not (program.root / "asked").exists()


def test_a_client_that_does_not_answer_is_no_reason_to_hang_or_to_fail(program: Program) -> None:
    executable(program, "claude", "kill -9 $$")
    executable(program, "codex", "echo hello")
    agents = known(program)
    assert "was ended by signal 9" in str(agents["claude"]["problem"])
    assert agents["codex"]["problem"] == "it does not say which version it is"


def test_agents_of_ones_own_are_listed_and_not_started(program: Program, package: Path) -> None:
    assert package.exists()
    executable(program, "mine", f"touch {program.root}/started")
    program.settings(agents={"mine": {"command": "mine --now"}})
    agents = known(program)
    assert (agents["mine"]["kind"], agents["mine"]["installed"]) == ("your own", True)
    assert agents["tortoise"]["minimum"] == "2.0"
    assert not (program.root / "started").exists()


def test_a_client_is_asked_in_the_environment_that_it_would_get(program: Program) -> None:
    executable(program, "claude", 'case "$1" in --version) echo "2.1.400 (Claude Code)";; auth) test -n "$KEY";; esac')
    program.settings(agents={"claude": {"env": {"KEY": "k"}}})
    assert known(program)["claude"]["login"] == "logged_in"


def test_a_client_that_prints_for_ever_is_cut_off(program: Program) -> None:
    executable(program, "claude", "yes 2.1.400")
    claude = known(program)["claude"]
    assert claude["version"] == "2.1.400"


def test_a_mistake_in_one_agent_does_not_hide_the_others(program: Program) -> None:
    tools = program.root / "my tools"
    tools.mkdir()
    (tools / "run").write_text("#!/bin/sh\n")
    (tools / "run").chmod(0o755)
    program.settings(agents={"broken": {"command": "cat 'x"}, "mine": {"command": f"'{tools}/run' --x"}})
    agents = known(program)
    assert "a quote is not closed" in str(agents["broken"]["problem"])
    assert agents["mine"]["installed"] is True
    assert "codex" in agents
