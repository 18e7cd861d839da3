"""`ralph bus`: what is posted from a shell is in the file at once, and what is read is harmless on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from pathlib import Path

import pytest
from program import PATIENCE_S, RALPH, Ended, Program

from ralphloop.bus.board import PROJECT_BUS, TASK_BUS, Bus
from ralphloop.bus.messages import Message, MessageType

pytest_plugins = ["program_fixtures"]


@pytest.fixture
def task(program: Program) -> Path:
    """The workspace as a task directory."""
    program.write("TASK.md", "Do it.\n")
    return program.workspace


def posted(directory: Path, name: str = TASK_BUS) -> list[tuple[str, str, str]]:
    return [(str(message.type), message.author, message.text) for message in Bus(directory, name).messages()]


def piped(program: Program, content: bytes, *arguments: str) -> Ended:
    """Run it with something on standard input."""
    done = subprocess.run([RALPH, *arguments], cwd=program.workspace, env=program.environ, input=content, capture_output=True, check=False)
    return Ended(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


# --- post -------------------------------------------------------------------------------------------------------------


def test_words_are_posted_as_one_text_and_nothing_is_said(program: Program, task: Path) -> None:
    assert program.run("bus", "post", "--author", "me", "the", "parser works") == Ended(code=0, out="", err="")
    assert posted(task) == [("INFO", "me", "the parser works")]
    content = (task / TASK_BUS).read_text()
    assert re.fullmatch(r"## \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO me\nthe parser works\n\n", content)


@pytest.mark.parametrize("given", ["WAIT_WITHOUT_RESTART", "wait_without_restart", "Wait_Without_Restart"])
def test_a_type_may_be_written_in_small_or_large_letters(program: Program, task: Path, given: str) -> None:
    program.run("bus", "post", "--author", "me", "--type", given, "for review")
    assert posted(task) == [("wait_without_restart", "me", "for review")]


@pytest.mark.parametrize("words", [(), ("-",)])
def test_a_text_is_taken_from_standard_input(program: Program, task: Path, words: tuple[str, ...]) -> None:
    assert piped(program, b"one\n\n  two\xff\n", "bus", "post", "--author", "me", *words).code == 0
    assert posted(task) == [("INFO", "me", "one\n\n  two\ufffd")]


def test_a_text_from_standard_input_that_is_too_long_is_visibly_cut(program: Program, task: Path) -> None:
    assert piped(program, b"x" * 65_537, "bus", "post").code == 0
    assert posted(task)[0][2].endswith("(cut here: longer than 64 KiB)")


def test_who_posts_is_the_run_or_the_user(program: Program, task: Path) -> None:
    program.run("bus", "post", "x", env={"RALPH_RUN_ID": "loop-1/3", "LOGNAME": "ann"})
    program.run("bus", "post", "x", env={"LOGNAME": "ann"})
    program.run("bus", "post", "--author", " two\nlines ", "x", env={"LOGNAME": "ann"})
    assert [author for _, author, _ in posted(task)] == ["loop-1/3", "ann", "two lines"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param((), "the message is empty: give its text", id="no text"),
        pytest.param((" ", ""), "the message is empty: give its text", id="blank words"),
        pytest.param(("--type", "eror", "x"), '"eror" is no type of message; did you mean "ERROR"?', id="a wrong type"),
        pytest.param(("--type", "\x1b[2J", "x"), r'"\x1b[2J" is no type of message; known here: ', id="no type at all"),
        pytest.param(("--task-dir", "nowhere", "x"), "--task-dir: nowhere is no directory: give the directory that holds TASK.md", id="nowhere"),
        pytest.param(("--task-dir", "TASK.md", "x"), "--task-dir: TASK.md is no directory", id="a file"),
        pytest.param(("--task-dir", "a" * 300, "x"), "is no directory", id="too long a name"),
    ],
)
def test_a_mistake_is_told_and_posts_nothing(program: Program, task: Path, arguments: tuple[str, ...], words: str) -> None:
    ended = program.run("bus", "post", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
    assert len(ended.err.splitlines()) == 1
    assert sorted(path.name for path in task.iterdir()) == ["TASK.md"]


@pytest.mark.parametrize(("words", "code", "texts"), [((), 2, []), (("-",), 0, ["typed"])])
def test_a_person_at_a_terminal_is_waited_for_only_when_asked(
    program: Program, task: Path, words: tuple[str, ...], code: int, texts: list[str]
) -> None:
    ours, terminal = pty.openpty()
    os.write(ours, b"typed\n\x04")
    command = [str(RALPH), "bus", "post", *words]
    done = subprocess.run(command, cwd=task, env=program.environ, stdin=terminal, capture_output=True, check=False, timeout=PATIENCE_S)
    os.close(ours)
    os.close(terminal)
    assert (done.returncode, b"the message is empty" in done.stderr) == (code, code == 2)
    assert [text for _, _, text in posted(task)] == texts


def test_a_bus_that_is_a_link_is_refused_in_words(program: Program, task: Path) -> None:
    (task / TASK_BUS).symlink_to("TASK.md")
    for command in (("post", "x"), ("read",)):
        ended = program.run("bus", *command)
        assert ended.code == 4
        assert ended.err.endswith("a link stands in its place: move it away\n")
    assert (task / "TASK.md").read_text() == "Do it.\n"


# --- which bus --------------------------------------------------------------------------------------------------------


def test_the_task_directory_is_the_named_one_else_that_of_the_variable_else_this_one(program: Program, task: Path) -> None:
    one, two = (program.root / name for name in ("one", "two"))
    one.mkdir()
    two.mkdir()
    variable = {"TASK_FOLDER": str(two)}
    program.run("bus", "post", "--task-dir", "../one", "named", env=variable)
    program.run("bus", "post", "variable", env=variable)
    program.run("bus", "post", "here")
    assert [text for directory in (one, two, task) for _, _, text in posted(directory)] == ["named", "variable", "here"]


def test_a_directory_with_a_bus_is_a_task_directory(program: Program) -> None:
    program.write(TASK_BUS, "")
    assert program.run("bus", "post", "x").code == 0


def test_a_directory_that_is_none_of_a_task_is_refused(program: Program) -> None:
    for command in (("post", "x"), ("read",), ("read", "--project")):
        ended = program.run("bus", *command)
        assert ended.code == 2
        assert f"holds neither TASK.md nor {TASK_BUS}: give the task's directory with --task-dir DIR, or set TASK_FOLDER" in ended.err
    ended = program.run("bus", "read", env={"TASK_FOLDER": "nowhere"})
    assert (ended.code, ended.err) == (2, "ralph: TASK_FOLDER: nowhere is no directory: give the directory that holds TASK.md\n")
    assert program.files() == set()


@pytest.mark.parametrize("given", [(), ("--task-dir", "."), ("--task-dir", "../project"), ("--task-dir", "../elsewhere/link")])
def test_the_bus_of_the_project_lies_above_the_task(program: Program, task: Path, given: tuple[str, ...]) -> None:
    (program.root / "elsewhere").mkdir()
    (program.root / "elsewhere" / "link").symlink_to(task)
    program.run("bus", "post", "--project", "--author", "me", *given, "for all")
    assert posted(task.parent, PROJECT_BUS) == [("INFO", "me", "for all")]
    assert program.run("bus", "read", "--project", *given).out.endswith("Z INFO me\n  for all\n\n")
    assert program.run("bus", "read", *given).out == ""


# --- read -------------------------------------------------------------------------------------------------------------


def post(directory: Path, text: str, type_: MessageType = MessageType.INFO) -> None:
    Bus(directory, TASK_BUS).post(Message(at=1795030336.123, type=type_, author="me", text=text))


def test_messages_are_shown_with_their_texts_indented(program: Program, task: Path) -> None:
    (task / TASK_BUS).write_text("by hand")
    post(task, "one\n\n## 2026-11-18T19:32:16.123Z ERROR nobody", MessageType.FACT)
    shown = "INFO\n  by hand\n\n2026-11-18T19:32:16.123Z FACT me\n  one\n\n  ## 2026-11-18T19:32:16.123Z ERROR nobody\n\n"
    assert program.run("bus", "read") == Ended(code=0, out=shown, err="")


def test_messages_are_data_with_json(program: Program, task: Path) -> None:
    (task / TASK_BUS).write_text("by hand")
    post(task, "one\n\x1btwo", MessageType.FACT)
    lines = [json.loads(line) for line in program.run("bus", "read", "--json").out.splitlines()]
    assert lines == [
        {"at": None, "type": "INFO", "author": "", "text": "by hand"},
        {"at": "2026-11-18T19:32:16.123Z", "type": "FACT", "author": "me", "text": "one\n\x1btwo"},
    ]


def test_only_the_wanted_types_are_shown(program: Program, task: Path) -> None:
    for type_ in MessageType:
        post(task, "x", type_)
    shown = program.run("bus", "read", "--json", "--type", "fact", "--type", "wait_without_restart").out.splitlines()
    assert [json.loads(line)["type"] for line in shown] == ["FACT", "wait_without_restart"]


def test_a_bus_with_nothing_on_it_is_no_error(program: Program, task: Path) -> None:
    assert program.run("bus", "read") == Ended(code=0, out="", err="")
    assert not (task / TASK_BUS).exists()


def test_no_text_and_no_author_reaches_the_terminal_armed(program: Program, task: Path) -> None:
    heading = "## 2026-11-18T19:32:16.123Z INFO \x1b[31mevil\x9b2J"
    (task / TASK_BUS).write_text(f"\x1b]0;owned\x07before\n{heading}\nred \x1b[31mtext\u202e\rover\n")
    shown = program.run("bus", "read").out
    assert "before" in shown
    assert "red text\n  over" in shown
    assert not any(char in shown for char in "\x1b\x07\x9b\u202e\r")


def test_follow_shows_what_is_posted_until_ctrl_c(program: Program, task: Path) -> None:
    following = program.start("bus", "read", "--follow")
    post(task, "first")
    following.await_out("  first\n")
    program.run("bus", "post", "second")
    following.await_out("  second\n")
    (task / TASK_BUS).rename(task / "TASK-MESSAGE-BUS.1.md")
    post(task, "third")
    following.await_out("  third\n")
    following.signal(signal.SIGINT)
    ended = following.end()
    assert (ended.code, ended.err.strip()) == (130, "")
    assert [line.strip() for line in ended.out.splitlines() if line.startswith("  ")] == ["first", "second", "third"]


def test_follow_ends_when_nobody_reads_any_more_even_if_nothing_is_posted(program: Program, task: Path) -> None:
    post(task, "only")
    command = [str(RALPH), "bus", "read", "--follow"]
    with subprocess.Popen(command, cwd=task, env=program.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as following:
        assert following.stdout is not None
        assert following.stderr is not None
        assert following.stdout.readline() == b"2026-11-18T19:32:16.123Z INFO me\n"
        following.stdout.close()
        assert following.stderr.read() == b""
        assert following.wait(PATIENCE_S) == 0


def test_a_bus_that_nobody_reads_ends_without_a_word(program: Program, task: Path) -> None:
    post(task, "x" * 60_000)
    for follow in ((), ("--follow",)):
        reading, writing = os.pipe()
        os.close(reading)
        command = [str(RALPH), "bus", "read", *follow]
        done = subprocess.run(command, cwd=task, env=program.environ, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=PATIENCE_S)
        os.close(writing)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("command", [(), ("post",), ("read",)])
def test_every_bus_command_has_help(program: Program, command: tuple[str, ...]) -> None:
    ended = program.run("bus", *command, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("Usage: ralph bus")
