"""The environment of an agent: the context names and what the settings add; no marks of other sessions, no settings, and no secret anywhere else."""

from __future__ import annotations

from pathlib import Path

from program import DONE, Program

pytest_plugins = ["program_fixtures"]

SECRET = "sk-a8f2b1-very-secret"
REMEMBER = f"env > ../seen; echo '{DONE}'"


def seen(program: Program) -> dict[str, str]:
    """What the agent had in its environment."""
    return dict(line.split("=", 1) for line in (program.root / "seen").read_text().splitlines() if "=" in line)


def test_an_agent_is_told_its_loop_iteration_run_and_state_home(program: Program) -> None:
    program.run("run", "-p", "x", "--name", "login", "--agent-command", program.agent(REMEMBER))
    loop_id = program.status()["login"]["id"]
    wanted = {"RALPH_LOOP": "login", "RALPH_ITERATION": "1", "RALPH_RUN_ID": f"{loop_id}/1/1", "RALPH_STATE_HOME": str(program.state)}
    assert wanted.items() <= seen(program).items()


def test_an_agent_keeps_the_users_environment_but_no_session_marks_and_no_settings(program: Program) -> None:
    marks = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "RALPH_LIMITS__ITERATIONS": "7",
        "RLOOP_COMPLETION_MARKER": "DONE",
        "RALPH_LOOP": "outer",
    }
    kept = {"EDITOR": "ed", "CLAUDE_CODE_MAX_RETRIES": "3"}
    program.run("run", "-p", "x", "--agent-command", program.agent(REMEMBER), env=marks | kept)
    environ = seen(program)
    assert kept.items() <= environ.items()
    assert environ["RALPH_LOOP"] == "project"
    assert not (marks.keys() - {"RALPH_LOOP"}) & environ.keys()


def test_a_gate_gets_no_marks_no_settings_and_no_secret(program: Program) -> None:
    program.settings(agent={"command": program.agent(f"echo '{DONE}'"), "env": {"API_KEY": SECRET}}, gates=[{"command": "env > ../seen"}])
    program.run("run", "-p", "x", env={"CLAUDECODE": "1", "RALPH_LIMITS__ITERATIONS": "7"})
    assert not {"CLAUDECODE", "RALPH_LIMITS__ITERATIONS", "API_KEY"} & seen(program).keys()


def test_a_secret_reaches_the_agent_and_is_not_recorded(program: Program) -> None:
    """The settings file itself is protected, so a private copy of it is kept among the blobs while a loop runs: that is the one exception."""
    program.settings(agent={"command": program.agent(REMEMBER), "env": {"API_KEY": SECRET}})
    said = [program.run("run", "-p", "x", "--gate", "true", "-V", env={"RALPH_AGENT__ENV__TOKEN": SECRET})]
    assert seen(program)["API_KEY"] == seen(program)["TOKEN"] == SECRET
    said += [program.run(*command) for command in (("show", "project", "--json"), ("show", "project"), ("explain", "project", "1"), ("status",))]
    assert all(ended.code == 0 and SECRET not in ended.out + ended.err for ended in said)
    assert program.state.stat().st_mode & 0o077 == 0
    settings = (program.workspace / ".ralph/settings.json").read_bytes()
    assert [path.read_bytes() for path in holding(SECRET, program.state)] == [settings]


def holding(secret: str, directory: Path) -> list[Path]:
    """The files with the secret in them; the ledger, its log and the artifacts are among those looked at."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    assert {"ledger.db", "prompt.md", "events.ndjson"} <= {path.name for path in files}
    return [path for path in files if secret.encode() in path.read_bytes()]


def test_a_secret_that_has_changed_or_gone_is_refused_when_the_loop_goes_on(program: Program) -> None:
    agent = program.agent("exit 42")
    program.settings(agent={"command": agent, "env": {"API_KEY": SECRET}})
    assert program.run("run", "-p", "x").code == 3
    for env, words in (({"API_KEY": "another"}, "has changed in"), ({}, "is gone from")):
        program.settings(agent={"command": agent, "env": env})
        for command in (("resume", "project"), ("run", "-p", "x")):
            ended = program.run(*command)
            assert ended.code == 2
            assert ended.err == (
                f"ralph: agent.env.API_KEY {words} the settings since the loop began: put it back, or begin afresh with `ralph run --new`\n"
            )
    assert program.calls() == [1]
    assert program.status()["project"]["status"] == "waiting", "the refusal has changed nothing"
    program.settings(agent={"command": agent, "env": {"API_KEY": SECRET}})
    assert program.run("resume", "project").code == 3
    assert program.calls() == [1, 1]


def test_a_prompt_reaches_the_agent_whole(program: Program) -> None:
    program.write("PROMPT.md", "Ünïcödé ✓ 'quotes' \"more\" $HOME `date`\n\nlast line\n")
    agent = program.root / "agents" / "keep.sh"
    agent.write_text(f"#!/bin/sh\ncat > ../prompt; echo '{DONE}'\n")
    agent.chmod(0o755)
    assert program.run("run", "-f", "PROMPT.md", "--agent-command", str(agent)).code == 0
    assert (program.workspace / "PROMPT.md").read_text().strip() in (program.root / "prompt").read_text()
