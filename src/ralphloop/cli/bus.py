"""`ralph bus`: for agents, which post from their shell, and for people, who read along."""

from __future__ import annotations

import getpass
import json
import select
import sys
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from ralphloop.bus.board import PROJECT_BUS, TASK_BUS, Bus
from ralphloop.bus.messages import MAX_TEXT_BYTES, TYPES, Message, MessageType, utc
from ralphloop.config.environment import RUN_ID, TASK_FOLDER, current
from ralphloop.config.wording import quoted, suggestion
from ralphloop.errors import ConfigError
from ralphloop.views.text import clean, one_line

POLL_MS = 200


class TypeName(click.ParamType[MessageType]):
    """A type of message, in small or large letters."""

    name = "TYPE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> MessageType:
        """The type, or a usage error with the nearest one."""
        type_ = TYPES.get(str(value).casefold())
        if type_ is None:
            self.fail(f"{quoted(str(value))} is no type of message; {suggestion(str(value), MessageType)}", param, ctx)
        return type_


def place(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say which bus."""
    project = click.option("--project", is_flag=True, help="The bus of the project, in the directory above the task's.")
    task_dir = click.option(
        "--task-dir", metavar="DIR", type=click.Path(path_type=Path), help="The task's directory (default: $TASK_FOLDER, or here)."
    )
    return project(task_dir(command))


@click.group(no_args_is_help=False)
def command() -> None:
    """Post to and read the message bus of a task folder."""


@command.command
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@click.option("--type", "type_", type=TypeName(), default=MessageType.INFO, help=f"One of {', '.join(MessageType)} (default: INFO).")
@place
@click.option("--author", metavar="NAME", help="Who says so (default: $RALPH_RUN_ID, or your login name).")
def post(words: tuple[str, ...], type_: MessageType, *, project: bool, task_dir: Path | None, author: str | None) -> None:
    """Post TEXT; without it, or with `-`, what standard input holds."""
    bus = find_bus(task_dir, project=project)
    text = " ".join(words) if words and words != ("-",) else _standard_input(asked=bool(words))
    if not text.strip():
        raise ConfigError("the message is empty: give its text, or write it to standard input")
    bus.post(Message(at=time.time(), type=type_, author=_login() if author is None else author, text=text))
    if len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
        click.echo(f"ralph: the message is longer than {MAX_TEXT_BYTES // 1024} KiB, and was cut there: put long texts into a file", err=True)


@command.command
@click.option("--follow", is_flag=True, help="Go on with what is posted, until Ctrl-C.")
@place
@click.option("--type", "types", type=TypeName(), multiple=True, help="Only messages of this type; may be given again.")
@click.option("--json", "as_json", is_flag=True, help="Print each message as one line of JSON.")
def read(types: tuple[MessageType, ...], *, follow: bool, project: bool, task_dir: Path | None, as_json: bool) -> None:
    """Print the messages, oldest first."""
    bus = find_bus(task_dir, project=project)
    shown = partial(_shown, types=types or tuple(MessageType), as_json=as_json)
    if not follow:
        click.echo(shown(bus.messages()), nl=False)
        return
    for messages in following(bus):
        click.echo(shown(messages), nl=False)


def find_bus(task_dir: Path | None, *, project: bool) -> Bus:
    """The bus of the task that is meant here, or of its project; ConfigError where none is."""
    if project and task_dir is None and TASK_FOLDER not in current() and Path(PROJECT_BUS).exists():
        return Bus(_real(Path(), "the current directory"), PROJECT_BUS)
    directory = _task_directory(task_dir)
    return Bus(directory.parent, PROJECT_BUS) if project else Bus(directory, TASK_BUS)


def _task_directory(given: Path | None) -> Path:
    if given is not None:
        return _real(given, "--task-dir")
    if named := current().get(TASK_FOLDER):
        return _real(Path(named), TASK_FOLDER)
    here = _real(Path(), "the current directory")
    if not any((here / name).exists() for name in ("TASK.md", TASK_BUS)):
        raise ConfigError(f"{here} holds neither TASK.md nor {TASK_BUS}: give the task's directory with --task-dir DIR, or set TASK_FOLDER")
    return here


def _real(directory: Path, source: str) -> Path:
    try:
        real = directory.resolve(strict=True)
        if real.is_dir():
            return real
    except (OSError, RuntimeError):  # not there, closed, a loop of links, too long a name
        pass
    raise ConfigError(f"{source}: {one_line(str(directory))} is no directory: give the directory that holds TASK.md")


def _standard_input(*, asked: bool) -> str:
    """What somebody pipes into us; a person at a terminal is waited for only when asked for with `-`."""
    if sys.stdin.isatty() and not asked:
        return ""
    return sys.stdin.buffer.read(2 * MAX_TEXT_BYTES).decode("utf-8", "replace").strip("\n")  # more than is kept, so that a cut is seen


def _login() -> str:
    if run_id := current().get(RUN_ID):
        return run_id
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # a user without a name, as in many containers
        return ""


def following(bus: Bus) -> Iterator[list[Message]]:
    """What is there, and then whatever comes, until nobody reads our output any more."""
    reader = select.poll()
    reader.register(sys.stdout.fileno(), 0)
    mark = ""
    while True:
        messages, mark = bus.since(mark)
        yield messages
        if reader.poll(POLL_MS):
            return


def _shown(messages: list[Message], types: Collection[MessageType], *, as_json: bool) -> str:
    write = _as_json if as_json else _as_text
    return "".join(write(message) for message in messages if message.type in types)


def _as_json(message: Message) -> str:
    at = utc(message.at) if message.at else None
    return json.dumps({"at": at, "type": message.type, "author": message.author, "text": message.text}) + "\n"


def _as_text(message: Message) -> str:
    """The text is indented, so that no line of it passes for a heading."""
    heading = " ".join(part for part in (utc(message.at) if message.at else "", message.type, one_line(message.author)) if part)
    lines = clean(message.text).split("\n")
    return "\n".join([heading, *(f"  {line}".rstrip() for line in lines)]) + "\n\n"
