"""`ralph start`: the same loop as `ralph run`, without a terminal."""

from __future__ import annotations

from typing import Any

import click

from ralphloop.cli.guarding import in_loop_process
from ralphloop.cli.options import Iterations, ModelName, loop_options

SHORT = {"prompt_text": "-p", "name": "-n", "task_file": "-f", "completion_text": "-c"}
HOSTS = ("detached", "foreground")


@click.command
@loop_options(SHORT)
@click.option("--maximum-iterations", "--max-iterations", "--max-restarts", "iterations", type=Iterations(), help="Stop after N iterations.")
@click.option("-m", "--model", metavar="MODEL", type=ModelName(), help="The model that the agent is told to use.")
@click.option("--host", type=click.Choice(HOSTS), default="detached", show_default=True, help="Where the loop lives.")
def command(*, host: str, **options: Any) -> int:
    """Start a loop that goes on without this terminal, and return once it runs.

    It is the loop that `ralph run` would start or go on with. What it says goes to .ralph/logs/NAME.log.
    """
    return in_loop_process("ralphloop.cli.hosted_run:main", detached=host == "detached", **options)
