"""`ralph explain LOOP N`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ralphloop.cli.finding import artifacts, open_queries, read_entries
from ralphloop.cli.options import Iterations
from ralphloop.config.environment import current
from ralphloop.core.messages import AttemptEnded, AttemptStarted, Entry
from ralphloop.errors import ConfigError
from ralphloop.files.artifacts import read_artifact
from ralphloop.loop.finding import find_loop
from ralphloop.views.explain import render_explain
from ralphloop.views.style import style_for


@click.command
@click.argument("name", metavar="LOOP")
@click.argument("number", metavar="N", type=Iterations())
def command(name: str, number: int) -> None:
    """Explain why iteration N was (not) taken for done: what was looked at, each tag, and the two keys."""
    with open_queries() as queries:
        row = find_loop(queries, name)
        entries = read_entries(queries, row)
    attempt = last_attempt(entries, number)
    words = None if attempt is None else final_words(artifacts(row, number, attempt) / "final.md")
    try:
        explained = render_explain(entries, number, words, style_for(sys.stdout, current()))
    except LookupError as error:
        raise ConfigError(str(error)) from error
    click.echo(explained, nl=False)


def last_attempt(entries: list[Entry], number: int) -> int | None:
    """The last attempt of an iteration that came to an end."""
    last = ended = None
    for entry in entries:
        if isinstance(entry, AttemptStarted):
            last = entry.attempt if entry.iteration == number else None
        if isinstance(entry, AttemptEnded) and last is not None:
            ended = last
    return ended


def final_words(path: Path) -> str | None:
    """The final words as they were kept, or None where they are gone."""
    content = read_artifact(path)
    return None if content is None else content.decode("utf-8", "replace")
