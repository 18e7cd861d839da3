"""Exit codes and words: what a run says at its end, and what `status`, `show` and `explain` say of it afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from program import COMPLETE, DONE, RALPH, Program

from ralphloop import __version__

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

CLAIM = f"echo '{DONE}'"
ESCAPE = "\x1b"

SESSION_000 = {
    "name",
    "dir",
    "task_file",
    "pid",
    "tmux_session",
    "started_at",
    "iteration",
    "max_iterations",
    "status",
    "last_task_count",
    "completion_marker",
    "log_file",
}


@pytest.mark.parametrize(
    ("script", "flags", "end"),
    [
        pytest.param(CLAIM, ("--gate", "true"), (0, "done (proved): 1 gate green", "complete"), id="proved"),
        pytest.param(CLAIM, (), (0, "done (attested: nothing was checked)", "complete"), id="attested"),
        pytest.param("echo on it", ("-m", "2"), (1, "limit: 2 of 2 iterations are used up", "failed"), id="limit of iterations"),
        pytest.param(CLAIM, ("--gate", "false", "-m", "2"), (1, "limit: 2 of 2 iterations are used up", "failed"), id="red gate"),
        pytest.param("exit 1", ("--max-calls", "2"), (1, "limit: 2 agent calls are used up", "failed"), id="limit of calls"),
        pytest.param("exit 42", (), (3, "waiting: the agent asked to wait", "waiting"), id="waiting"),
    ],
)
def test_a_run_ends_with_its_code_and_the_reason_in_words(program: Program, script: str, flags: tuple[str, ...], end: tuple[int, str, str]) -> None:
    code, words, status = end
    program.settings()
    ended = program.run("run", "-p", "x", "--agent-command", program.agent(script), *flags)
    assert ended.code == code, ended
    assert words in ended.out
    assert ended.err == ""
    assert program.status()["project"]["status"] == status
    assert program.status()["project"]["exit_code"] == code


@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        pytest.param(None, 0, "there is no such program", id="not there"),
        pytest.param("#!/bin/sh\n", 0o644, "permission denied: make the file executable", id="not executable"),
        pytest.param("#!/no/such/interpreter\n", 0o755, "the interpreter in its #! line is not", id="no interpreter"),
    ],
)
def test_an_agent_that_cannot_be_started_fails_the_loop_after_one_attempt(program: Program, content: str | None, mode: int, reason: str) -> None:
    path = program.root / "agents" / "the-agent"
    if content is not None:
        path.write_text(content)
        path.chmod(mode)
    ended = program.run("run", "-p", "x", "--agent-command", str(path))
    assert ended.code == 4, ended
    assert "failed: cannot start" in ended.out
    assert reason in ended.out
    assert [attempt["ending"] for attempt in program.attempts()] == ["fatal"]
    assert program.show()["outcome"]["kind"] == "failed"


def test_completion_on_the_last_allowed_iteration_is_done(program: Program) -> None:
    program.tasks("one", "two")
    program.settings(agent={"type": "demo", "flags": ["--script work,finish"]})
    ended = program.run("run", "-m", "2")
    assert ended.code == 0, ended
    assert "Iteration 2/2" in ended.out


def test_a_lie_about_open_tasks_is_not_believed(program: Program) -> None:
    program.tasks("one", "two")
    program.settings(agent={"type": "demo", "flags": ["--script", "lie"]})
    ended = program.run("run", "-m", "2")
    assert ended.code == 1
    assert ended.out.count("claim   not believed: 2 tasks are still open") == 2


def test_a_list_of_done_tasks_with_green_gates_needs_no_claim(program: Program) -> None:
    program.tasks("one")
    program.settings(agent={"type": "demo"})
    assert program.run("run", "--gate", "test -f one.txt").code == 0


# --- status ---


def test_without_loops_status_says_so_and_makes_nothing(program: Program) -> None:
    assert program.run("status").out == "No loops yet.\n"
    assert program.status() == {}
    assert not program.state.exists()


def test_status_is_a_table_and_the_json_of_the_seed(program: Program) -> None:
    program.tasks("one", "two")
    program.settings(agent={"type": "demo"})
    program.run("run", "-m", "1", "--name", "login")
    heading, line = program.run("status").out.splitlines()
    assert heading.split() == ["NAME", "DIR", "ITERATION", "STATUS", "REMAINING"]
    assert line.split() == ["login", str(program.workspace), "1/1", "failed", "1", "task"]
    loop = program.status()["login"]
    assert set(loop) >= SESSION_000
    wanted = {
        "name": "login",
        "dir": str(program.workspace),
        "task_file": "PRD.md",
        "pid": None,
        "iteration": 1,
        "max_iterations": 1,
        "status": "failed",
        "last_task_count": 1,
    }
    assert loop | wanted == loop


def test_a_killed_loop_is_shown_as_crashed_at_once_and_a_living_one_as_running(program: Program) -> None:
    running = program.start("run", "-p", "x", "--agent-command", program.agent("at_work; await_go_on"))
    program.await_agent()
    living = program.status()["project"]
    assert living["status"] == "running"
    assert os.getpgid(living["pid"]) == living["pid"] != running.process.pid, "the loop has a group of its own; the command is its guardian"
    os.kill(living["pid"], signal.SIGKILL)
    running.end()
    assert (program.status()["project"]["status"], program.status()["project"]["pid"]) == ("crashed", None)
    assert program.run("status").out.splitlines()[1].split()[3] == "crashed"
    assert "no outcome yet" in program.run("show", "project").out


# --- show and explain ---


def test_show_tells_each_iteration_its_verdicts_cost_and_artifacts(program: Program) -> None:
    program.tasks("one", "two")
    program.settings(agent={"type": "demo", "flags": ["--script", "lie,work,finish"]}, gates=[{"command": "test -f two.txt"}])
    assert program.run("run").code == 0
    shown = program.run("show", "project").out
    for words in (
        "Iteration 1/30 · 2 tasks open · one",
        "test -f two.txt … failed with exit code 1",
        "claim   not believed",
        "$0.01",
        "done (proved)",
    ):
        assert words in shown
    record = program.show()
    assert [turn["done"] for turn in record["iterations"]] == [False, False, True]
    assert [turn["verdicts"][0]["result"] for turn in record["iterations"]] == ["failed", "failed", "passed"]
    assert record["outcome"] | {"kind": "done", "strength": "proved", "exit_code": 0} == record["outcome"]
    files = Path(program.attempts()[0]["files"])
    assert program.state in files.parents
    assert sorted(file.name for file in files.iterdir()) == ["events.ndjson", "final.md", "process", "prompt.md", "stderr.log"]


def test_explain_tells_why_an_iteration_was_or_was_not_taken_for_done(program: Program) -> None:
    program.tasks("one", "two")
    program.settings(agent={"type": "demo", "flags": ["--script", "mention,finish"]})
    assert program.run("run").code == 0
    mention, finish = (program.run("explain", "project", str(number)).out for number in (1, 2))
    assert f"for     {COMPLETE}" in mention
    assert "does not stand: " in mention
    assert "claim   no: " in mention
    assert "Not done, because 1 task is still open" in mention
    assert "claim   yes: " in finish
    assert "Done, but only attested: nothing was checked." in finish


def test_explain_of_an_iteration_that_never_was_is_bad_input(program: Program) -> None:
    program.run("run", "-p", "x", "--agent-command", program.agent(CLAIM))
    ended = program.run("explain", "project", "2")
    assert (ended.code, ended.err) == (2, "ralph: loop project has no iteration 2: it has 1 to 1\n")


# --- the rest of the words ---


@pytest.mark.parametrize("arguments", [("-v",), ("--version",), ("version",)])
def test_the_version_is_one_line(program: Program, arguments: tuple[str, ...]) -> None:
    ended = program.run(*arguments)
    assert (ended.code, ended.out, ended.err) == (0, f"ralph {__version__}\n", "")


def test_rloop_is_the_same_program(program: Program) -> None:
    rloop = subprocess.run([RALPH.with_name("rloop"), "--version"], capture_output=True, check=True, env=program.environ)
    assert rloop.stdout.decode() == f"ralph {__version__}\n"


def test_bare_ralph_says_what_would_run_and_starts_nothing(program: Program) -> None:
    nothing = program.run()
    assert nothing.code == 0
    assert "`ralph run` would start: nothing (no work found" in nothing.out
    program.tasks("one")
    program.settings(agent={"command": program.agent("true")}, gates=[{"command": "true"}])
    something = program.run()
    assert something.code == 0
    assert "`ralph run` would start: command on checklist: PRD.md is here, 1 gate, at most 30 iterations" in something.out
    assert "No loops yet." in something.out
    assert "explain" in something.out
    assert program.calls() == []
    assert not program.state.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("run",),
        ("resume",),
        ("status",),
        ("show",),
        ("explain",),
        ("cost",),
        ("agents",),
        ("tell",),
        ("stop",),
        ("start",),
        ("bus",),
        ("demo",),
        ("version",),
    ],
)
def test_every_command_has_help(program: Program, arguments: tuple[str, ...]) -> None:
    ended = program.run(*arguments, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("Usage: ralph")


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1", "TERM": "xterm-256color"}, {"TERM": "dumb"}])
def test_output_into_a_pipe_holds_no_escape_sequence(program: Program, env: dict[str, str]) -> None:
    program.tasks("one")
    program.settings(agent={"type": "demo", "flags": ["--script", "lie,finish"]}, gates=[{"command": "true"}])
    outputs = [program.run(*command, env=env) for command in (("run",), ("status",), ("show", "project"), ("explain", "project", "1"), ())]
    assert all(ended.code == 0 and ESCAPE not in ended.out + ended.err for ended in outputs)


def test_escape_sequences_of_an_agent_do_not_reach_the_terminal(program: Program) -> None:
    program.run("run", "-p", "x", "-m", "1", "--agent-command", program.agent(r"printf '\033]0;owned\007\033[2J words\n'"))
    for command in (("show", "project"), ("explain", "project", "1"), ("status",)):
        ended = program.run(*command)
        assert ended.code == 0
        assert ESCAPE not in ended.out


def test_the_agents_output_is_silent_when_it_is_not_wanted_and_read_all_the_same(program: Program) -> None:
    ended = program.run("run", "-p", "x", "--no-stream-agent-output", "--agent-command", program.agent(f"echo I fixed the parser.; echo; {CLAIM}"))
    assert ended.code == 0
    assert "I fixed the parser" not in ended.out


# --- output that nobody reads ---


def unread(program: Program, *arguments: str) -> tuple[int, str]:
    """Run with a reader that has gone before the first word."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [RALPH, *arguments], cwd=program.workspace, env=program.environ, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60
    )
    os.close(writing)
    return done.returncode, done.stderr.decode()


def test_a_loop_goes_on_when_nobody_reads_its_output_any_more(program: Program) -> None:
    program.tasks("one", "two")
    program.settings(agent={"type": "demo", "flags": ["--script", "work,finish"]})
    assert unread(program, "run") == (0, "")
    assert program.status()["project"]["status"] == "complete"


def test_a_loop_is_resumed_and_goes_on_when_nobody_reads_its_output(program: Program) -> None:
    agent = program.agent(f'if [ "$(wc -l < ../calls)" = 1 ]; then exit 42; else {CLAIM}; fi')
    assert program.run("run", "-p", "x", "--agent-command", agent).code == 3
    assert unread(program, "run", "-p", "x", "--agent-command", agent) == (0, "")
    assert program.status()["project"]["status"] == "complete"


def test_a_loop_that_gets_another_name_goes_on_when_nobody_reads_its_output(program: Program) -> None:
    agent = program.agent(CLAIM)
    program.run("run", "-p", "x", "--agent-command", agent)
    elsewhere = program.root / "elsewhere" / "project"
    elsewhere.mkdir(parents=True)
    assert unread(program, "run", str(elsewhere), "-p", "x", "--agent-command", agent) == (0, "")
    assert set(program.status()) == {"project", "project-2"}


def test_a_loop_runs_without_any_standard_stream(program: Program) -> None:
    """As a service manager or a careless daemon may start it: `ralph run … <&- >&- 2>&-`."""
    command = [str(RALPH), "run", "-p", "x", "--agent-command", program.agent(CLAIM)]
    done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command], cwd=program.workspace, env=program.environ, check=False, timeout=60)
    assert done.returncode == 0
    assert program.status()["project"]["status"] == "complete"
    assert program.files() == set()
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", RALPH, "status"], env=program.environ, check=False, timeout=60)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "command", [("status",), ("status", "--json"), ("show", "project"), ("explain", "project", "1"), ("--help",), ("--version",), ()]
)
def test_a_view_that_nobody_reads_ends_without_a_word(program: Program, command: tuple[str, ...]) -> None:
    program.run("run", "-p", "x", "--agent-command", program.agent(CLAIM))
    assert unread(program, *command) == (0, "")


@pytest.mark.parametrize("command", [("show", "project"), ("show", "project", "--json"), ("explain", "project", "1"), ("status",)])
def test_views_of_foreign_words_work_where_the_terminal_knows_only_ascii(program: Program, command: tuple[str, ...]) -> None:
    poor = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    assert program.run("run", "-p", "ünïcödé ✓", "--agent-command", program.agent(f"echo '✓ Fertig.'; {CLAIM}"), "-m", "1").code in {0, 1}
    ended = program.run(*command, env=poor)
    assert (ended.code, ended.err) == (0, "")
