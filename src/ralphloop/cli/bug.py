"""A bug of Ralph's own: a report to paste, and where it is."""

from __future__ import annotations

import platform
import tempfile
import traceback
from pathlib import Path

import click

from ralphloop import __version__
from ralphloop.config.environment import current, state_home
from ralphloop.files.artifacts import write_artifact


def report(error: BaseException, arguments: list[str]) -> None:
    """Write what happened to a file and say so. The report holds the command's name, not its arguments: a prompt may be private."""
    lines = [
        f"ralph {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"command: {arguments[0] if arguments else '(none)'} with {max(len(arguments) - 1, 0)} arguments",
        "",
        *traceback.format_exception(error),
    ]
    path = _report_path()
    write_artifact(path, "\n".join(lines).encode("utf-8", "replace"))
    click.echo(f"ralph: this is a bug of Ralph's own: {type(error).__name__}: {error}", err=True)
    click.echo(f"A report that you can paste into an issue is in {path}", err=True)


def _report_path() -> Path:
    directory = Path(state_home(current()))
    try:
        directory.mkdir(parents=True, mode=0o700, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix="bug-", suffix=".txt", dir=directory)
    except OSError:
        handle, name = tempfile.mkstemp(prefix="ralph-bug-", suffix=".txt")
    with open(handle, "wb", closefd=True):  # noqa: PTH123 - a descriptor
        pass
    return Path(name)
