"""Bad input ends with exit code 2 and one clear line on standard error; nothing was started, and nothing was written."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

import pytest
from program import RALPH, Ended, Program

pytest_plugins = ["program_fixtures"]
pytestmark = pytest.mark.slow

NO_TEXT = b"\xff\xfe\x00caf\xe9"

Prepare = Callable[[Program], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """Something that a user does wrong, and what the line about it says."""

    arguments: tuple[str, ...]
    said: tuple[str, ...]
    prepare: Prepare = field(default=lambda _: None)


def wrong(*arguments: str, said: str, prepare: Prepare = lambda _: None) -> Mistake:
    return Mistake(arguments=arguments, said=tuple(said.split(" … ")), prepare=prepare)


def having(path: str, content: str | bytes) -> Prepare:
    return lambda program: program.write(path, content)


def settings_with(text: str) -> Prepare:
    return having(".ralph/settings.json", text)


def folder_with(path: str) -> Prepare:
    return lambda program: (program.write("TASK.md", "Tidy up."), program.write(path, ""))


WORK = {
    "no work": wrong(said="no work found in … -p TEXT … --task-file FILE … PRD.md"),
    "a task file that is not there": wrong("--task-file", "TODO.md", said="TODO.md … no such file … --task-file"),
    "a task file without tasks": wrong(prepare=having("PRD.md", "# Plan\n\nSome words.\n"), said="PRD.md … has no tasks in it … - [ ]"),
    "an empty task file": wrong(prepare=having("PRD.md", ""), said="PRD.md … has no tasks in it"),
    "a directory as task file": wrong(prepare=having("PRD.md/file", "x"), said="PRD.md … it is a directory … --task-file"),
    "a binary as task file": wrong(prepare=having("PRD.md", NO_TEXT), said="PRD.md … is not text … --task-file"),
    "a task file outside": wrong("--task-file", "../PRD.md", said="--task-file: … does not lie in"),
    "a dangling link as task file": wrong(prepare=lambda p: (p.workspace / "PRD.md").symlink_to("nowhere"), said="PRD.md … is a link"),
    "two prompts": wrong("-p", "x", "-f", "PROMPT.md", said="-p and --prompt-file name two pieces of work; give one of them"),
    "a prompt and a task file": wrong("-p", "x", "--task-file", "PRD.md", said="-p and --task-file name two pieces of work; give one of them"),
    "an empty prompt": wrong("-p", " ", said="-p: the prompt is empty"),
    "a prompt file that is not there": wrong("-f", "PROMPT.md", said="the prompt file PROMPT.md … no such file … --prompt-file"),
    "a prompt file with too long a name": wrong("-f", "a" * 300, said="cannot be read: File name too long"),
    "an empty prompt file": wrong("-f", "PROMPT.md", prepare=having("PROMPT.md", " \n"), said="PROMPT.md … is empty: write into it"),
    "a prompt file that is not UTF-8": wrong("-f", "PROMPT.md", prepare=having("PROMPT.md", b"caf\xe9"), said="PROMPT.md … save it as UTF-8"),
    "a directory as prompt file": wrong("-f", "docs", prepare=having("docs/file", "x"), said="docs … it is a directory"),
    "a dangling link as prompt file": wrong(
        "-f", "PROMPT.md", prepare=lambda p: (p.workspace / "PROMPT.md").symlink_to("nowhere"), said="PROMPT.md … is a link"
    ),
    "a task folder that is not there": wrong("--task-dir", "task", said="--task-dir: task is not there: name the directory that holds TASK.md"),
    "a file as task folder": wrong("--task-dir", "task", prepare=having("task", "x"), said="task is no directory"),
    "a task folder without a task": wrong("--task-dir", "task", prepare=having("task/notes", "x"), said="TASK.md … no such file … --task-dir"),
    "a task folder with an empty task": wrong("--task-dir", "task", prepare=having("task/TASK.md", " "), said="TASK.md … is empty"),
    "a task folder whose DONE is a directory": wrong("--kind", "folder", prepare=folder_with("DONE/file"), said="DONE is a directory"),
    "a prompt and a task folder": wrong("-p", "x", "--task-dir", ".", said="-p and --task-dir name two pieces of work; give one of them"),
    "a kind of a later version": wrong(
        "--kind", "stories", said="stories, which is not available in this version; write prompt, checklist or folder"
    ),
    "an unknown kind": wrong("--kind", "chcklist", said='did you mean "checklist"?'),
    "a directory that is not there": wrong("nowhere", said="nowhere is not there: name the directory to work in"),
    "a directory with too long a name": wrong("a" * 300, said="is not there: name the directory to work in"),
    "a file as directory": wrong("notes.md", prepare=having("notes.md", "x"), said="notes.md is no directory"),
}

FLAGS = {
    "an unknown agent": wrong("-p", "x", "--agent", "clude", said='--agent: unknown agent "clude"; did you mean "claude"?'),
    "no iterations": wrong("-p", "x", "-m", "0", said="'-m' … 0 is not a number of iterations: give 1 or more"),
    "negative iterations": wrong("-p", "x", "-m", "-3", said="'-m' … -3 is not a number of iterations: give 1 or more"),
    "a model for -m": wrong("-p", "x", "-m", "opus", said="'-m' … 'opus' is not a number of iterations … the model is --model"),
    "a negative delay": wrong("-p", "x", "--delay", "-1", said="'--delay' … -1"),
    "an endless delay": wrong("-p", "x", "--delay", "inf", said="'--delay' … inf is not a number of seconds"),
    "a delay in words": wrong("-p", "x", "--delay", "soon", said="'--delay' … 'soon' is not a number of seconds"),
    "a task folder where nobody named it": wrong(prepare=having("TASK.md", "x"), said="no work found … a TASK.md … give --task-dir ."),
    "a name of dots": wrong("-p", "x", "--name", "..", said="--name '..' is no name for a loop"),
    "no minutes": wrong("-p", "x", "--max-minutes", "0", said="'--max-minutes': 0 is not above zero"),
    "no number of minutes": wrong("-p", "x", "--max-minutes", "nan", said="'--max-minutes': nan is not above zero"),
    "no money": wrong("-p", "x", "--max-cost", "0", said="'--max-cost': 0 is not above zero"),
    "an empty gate": wrong("-p", "x", "--gate", " ", said="command is empty"),
    "an unknown flag": wrong("-p", "x", "--modle", "opus", said="No such option '--modle' … Did you mean … '--model' … `ralph run --help`"),
    "a flag without its value": wrong("-p", said="'-p' requires an argument"),
    "two directories": wrong("a", "b", said="unexpected extra argument (b) … `ralph run --help`"),
    "the tags in the completion text": wrong("-p", "x", "-c", "<promise>X</promise>", said="write DONE, not <promise>DONE</promise>"),
    **{
        f"the name {name!r}": wrong("-p", "x", f"--name={name}", said="is no name for a loop: use … letters, digits")
        for name in ("", "-x", "a b", "../x", "a/b", "a\nb", "*", "x" * 51)
    },
}

SETTINGS = {
    "a syntax error": wrong(prepare=settings_with('{\n  "agent": {"type": "demo",}\n}\n'), said=".ralph/settings.json:2"),
    "a file that is not UTF-8": wrong(
        prepare=having(".ralph/settings.json", b'{"agent": {"model": "caf\xe9"}}'), said=".ralph/settings.json … UTF-8"
    ),
    "an unknown key": wrong(
        prepare=settings_with('{\n"limits": {\n"iteratons": 3}}'),
        said='.ralph/settings.json:3: unknown key "limits.iteratons"; did you mean "limits.iterations"?',
    ),
    "a wrong type": wrong(prepare=settings_with('{"maximumIterations": "5"}'), said=".ralph/settings.json:1: maximumIterations … a whole number"),
    "a duplicate key": wrong(prepare=settings_with('{"protect": [],\n"protect": []}'), said='.ralph/settings.json:2 … "protect"'),
    "both spellings": wrong(
        prepare=settings_with('{"maximumIterations": 5,\n"limits": {"iterations": 5}}'),
        said='.ralph/settings.json:2: "limits.iterations" and "maximumIterations" on line 1 are the same setting; keep one of them',
    ),
    "a mistake in the local file": wrong(prepare=having(".ralph/settings.local.json", '{"gates": {}}'), said=".ralph/settings.local.json:1: gates"),
    "a directory as settings": wrong(prepare=having(".ralph/settings.json/x", ""), said=".ralph/settings.json: this is no regular file"),
    "a proof without gates": wrong(
        prepare=settings_with('{"completion": {"require": "proved"}}'),
        said="settings.json:1: completion.require is proved … add a command under gates",
    ),
    "an unknown agent": wrong(prepare=settings_with('{"agent": {"type": "cluade"}}'), said='settings.json:1: unknown agent "cluade" … "claude"'),
}


def one_line(ended: Ended, *said: str) -> None:
    """It ended with 2 and one line, which says all of this, in this order."""
    assert ended.code == 2, ended
    assert ended.out == ""
    assert ended.err.startswith("ralph: ")
    assert ended.err.count("\n") == 1, ended.err
    rest = ended.err
    for words in said:
        assert words in rest, ended.err
        rest = rest.partition(words)[2]


def nothing_happened(program: Program, before: set[str]) -> None:
    assert program.calls() == []
    assert program.files() == before
    assert not program.state.exists() or not list(program.state.iterdir())


@pytest.mark.parametrize("mistake", [pytest.param(each, id=name) for table in (WORK, FLAGS) for name, each in table.items()])
def test_bad_work_and_bad_flags_are_told_in_one_line_and_nothing_is_done(program: Program, mistake: Mistake) -> None:
    mistake.prepare(program)
    before = program.files()
    agent = () if "--agent" in mistake.arguments else ("--agent-command", program.agent("true"))
    one_line(program.run("run", *agent, *mistake.arguments), *mistake.said)
    nothing_happened(program, before)


@pytest.mark.parametrize("mistake", [pytest.param(each, id=name) for name, each in SETTINGS.items()])
def test_bad_settings_are_told_with_their_place_and_nothing_is_done(program: Program, mistake: Mistake) -> None:
    mistake.prepare(program)
    before = program.files()
    one_line(program.run("run", "-p", "x", "--agent-command", program.agent("true")), *mistake.said)
    nothing_happened(program, before)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("RALPH_LIMITS__ITERATONS", "3", "did you mean RALPH_LIMITS__ITERATIONS?"),
        ("RALPH_LIMITS__ITERATIONS", "many", "RALPH_LIMITS__ITERATIONS: limits.iterations is "),
        ("RLOOP_MAX_ITERATION", "3", "did you mean RLOOP_MAX_ITERATIONS?"),
    ],
)
def test_a_bad_setting_in_the_environment_is_told_by_its_name(program: Program, name: str, value: str, said: str) -> None:
    one_line(program.run("run", "-p", "x", "--agent-command", program.agent("true"), env={name: value}), said)
    nothing_happened(program, set())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rnu",), "there is no command 'rnu'; did you mean \"run\"?"),
        (("xyzzy",), "known here: agents, bus, cost, demo, explain, resume, run, show, start, status, stop, tell and version"),
        (("--vresion",), "No such option '--vresion'"),
        (("resume", "nope"), "there is no loop called nope: `ralph status` lists the loops"),
        (("show", "nope"), "there is no loop called nope"),
        (("explain", "nope", "1"), "there is no loop called nope"),
        (("explain", "nope"), "Missing argument 'N'"),
        (("explain", "nope", "0"), "0 is not a number of iterations"),
        (("resume", "nope", "-m", "opus"), "the model is --model"),
        (("resume", "nope", "-m", "9" * 20), "is more than 1000000000"),
        (("resume", "nope", "--max-cost", "1e300"), "is not above zero and at most 1000000000"),
        (("demo", "--pause", "-1"), "'--pause'"),
        (("demo", "/proc/demo"), "the demo project cannot be written into /proc/demo: "),
        (("demo", "a" * 300), "File name too long; name another directory"),
        (("demo", "/dev/null"), "the demo project cannot be written into /dev/null: File exists; name another directory"),
    ],
)
def test_a_bad_command_is_told_in_one_line_and_nothing_is_written(program: Program, arguments: tuple[str, ...], said: str) -> None:
    one_line(program.run(*arguments), said)
    nothing_happened(program, set())


def test_the_demo_overwrites_no_file_of_the_user(program: Program) -> None:
    program.write("PRD.md", "- [ ] mine\n")
    one_line(program.run("demo", program.workspace), "PRD.md is there already: choose an empty directory")
    nothing_happened(program, {"PRD.md"})


def test_a_directory_that_was_deleted_under_the_shell_is_told(program: Program) -> None:
    def standing_in_it(*arguments: str) -> Ended:
        script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
        (program.root / "gone").mkdir()
        command = ["sh", "-c", script, "sh", str(program.root / "gone"), str(RALPH), *arguments]
        done = subprocess.run(command, env=program.environ, capture_output=True, text=True, check=False)
        return Ended(code=done.returncode, out=done.stdout, err=done.stderr)

    one_line(standing_in_it("run", "-p", "x"), ". is not there: name the directory to work in")
    assert standing_in_it().code == standing_in_it("status").code == 0
    nothing_happened(program, set())


def test_a_loop_whose_workspace_is_gone_is_not_resumed(program: Program) -> None:
    assert program.run("run", "-p", "x", "--agent-command", program.agent("exit 42")).code == 3
    program.workspace.rename(program.root / "elsewhere")
    one_line(program.run("resume", "project", cwd=program.root), str(program.workspace), "No such file or directory")
    assert program.calls() == [1]


def test_the_nearest_loop_is_named_when_a_name_is_mistyped(program: Program) -> None:
    program.run("run", "-p", "x", "--agent-command", program.agent("true"), "-m", "1", "--name", "login")
    for command in (("resume", "logn"), ("show", "logn"), ("explain", "logn", "1")):
        one_line(program.run(*command), "there is no loop called logn: did you mean login?")


# --- the state home and the ledger ------------------------------------------------------------------------------------


def test_a_file_where_the_state_home_should_be_is_told(program: Program) -> None:
    program.state.write_text("a file")
    one_line(
        program.run("run", "-p", "x", "--agent-command", program.agent("true")),
        f"the directory {program.state}",
        "cannot be made",
        "RALPH_STATE_HOME",
    )
    assert program.calls() == []
    assert program.state.read_text() == "a file"


def test_a_state_home_that_cannot_be_made_is_told(program: Program) -> None:
    ended = program.run("run", "-p", "x", "--agent-command", program.agent("true"), env={"RALPH_STATE_HOME": "/proc/ralph"})
    one_line(ended, "the directory /proc/ralph cannot be made", "RALPH_STATE_HOME")
    assert program.calls() == []


@pytest.mark.parametrize("command", [("run", "-p", "x"), ("status",), ("show", "x"), ("resume", "x")])
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(program: Program, command: tuple[str, ...]) -> None:
    program.state.mkdir()
    ledger = program.state / "ledger.db"
    ledger.write_bytes(b"These are my notes, and not a database.\n" * 200)
    before = ledger.read_bytes()
    agent = ("--agent-command", program.agent("true")) if command[0] == "run" else ()
    ended = program.run(*command, *agent)
    assert_refused_ledger(ended, f"ralph: the ledger {ledger} cannot be used", "is not a ledger: move it")
    assert ledger.read_bytes() == before
    assert program.calls() == []
    assert program.files() == set()
    ledger.unlink()  # the fixture asks the ledger for loops that still run


@pytest.mark.parametrize("command", [("run", "-p", "x"), ("status",), ("show", "x"), ("resume", "x")])
def test_a_ledger_of_a_newer_version_is_refused_and_left_alone(program: Program, command: tuple[str, ...]) -> None:
    program.state.mkdir()
    ledger = program.state / "ledger.db"
    with closing(sqlite3.connect(ledger)) as connection:
        connection.execute("CREATE TABLE loop (id TEXT)")
        connection.execute("PRAGMA user_version = 999")
    before = ledger.read_bytes()
    agent = ("--agent-command", program.agent("true")) if command[0] == "run" else ()
    assert_refused_ledger(program.run(*command, *agent), "has schema version 999", "upgrade ralphloop")
    assert ledger.read_bytes() == before
    assert program.calls() == []
    assert program.files() == set()
    ledger.unlink()  # the fixture asks the ledger for loops that still run


def assert_refused_ledger(ended: Ended, *said: str) -> None:
    assert ended.code == 4, ended
    assert ended.out == ""
    assert ended.err.count("\n") == 1, ended.err
    assert all(words in ended.err for words in said), ended.err


def test_a_state_home_that_is_read_only_is_told(program: Program) -> None:
    program.state.mkdir(mode=0o500)
    ended = program.run("run", "-p", "x", "--agent-command", program.agent("true"), privileged=False)
    one_line(ended, f"the directory {program.state}", "cannot be written", "RALPH_STATE_HOME")
    nothing_happened(program, set())


@pytest.mark.parametrize("flag", ["-f", "--task-file"])
def test_a_file_that_the_user_may_not_read_is_told(program: Program, flag: str) -> None:
    program.write("secret.md", "- [ ] a task").chmod(0)
    ended = program.run("run", flag, "secret.md", "--agent-command", program.agent("true"), privileged=False)
    one_line(ended, "secret.md", "Permission denied")
    nothing_happened(program, {"secret.md"})


def test_a_state_home_inside_the_workspace_is_refused(program: Program) -> None:
    program.tasks("One")
    ended = program.run("run", "--agent-command", "true", env={"RALPH_STATE_HOME": str(program.workspace / "state")})
    assert ended.code == 2
    assert "lies in the workspace" in ended.err
    assert program.files() == {"PRD.md"}
