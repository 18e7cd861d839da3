"""`ralph tell LOOP TEXT`: a message to the work, carried by the next prompt."""

from __future__ import annotations

import click

from ralphloop.cli.finding import open_queries
from ralphloop.cli.inside import for_people
from ralphloop.cli.people import ask
from ralphloop.core.messages import TELL
from ralphloop.core.model import OutcomeKind
from ralphloop.errors import ConfigError
from ralphloop.loop.finding import find_loop, is_running


@click.command
@click.argument("name", metavar="LOOP")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
@for_people
def command(name: str, words: tuple[str, ...]) -> None:
    """Tell a loop something: the prompt of its next attempt carries it.

    A loop that does not run carries it when it goes on.
    """
    text = " ".join(words).strip()
    if not text:
        raise ConfigError("the message is empty: write what the agent should know")
    with open_queries() as queries:
        row = find_loop(queries, name)
    if row.outcome == OutcomeKind.DONE:
        raise ConfigError(f"loop {name} is done, and has no next prompt: write it into the work, then `ralph run`")
    ask(row, TELL, text)
    when = (
        "its next prompt carries it, if there is one" if is_running(row) else f"its next prompt carries it, once it goes on (`ralph resume {name}`)"
    )
    click.echo(f"Loop {name} is told; {when}.")
