"""`ralph run`: start the loop that the work here means, or go on with it."""

from __future__ import annotations

from typing import Any

import click

from ralphloop.cli.guarding import in_loop_process
from ralphloop.cli.options import Iterations, loop_options

SHORT = {"prompt_text": "-p", "prompt_file": "-f", "completion_text": "-c"}


@click.command
@loop_options(SHORT)
@click.option("-m", "--maximum-iterations", "--max-iterations", "--max-restarts", "iterations", type=Iterations(), help="Stop after N iterations.")
@click.option("--model", metavar="MODEL", help="The model that the agent is told to use.")
def command(**options: Any) -> int:
    """Run an agent on a piece of work until it is done.

    The work is a prompt (-p, -f), a Markdown task list (--task-file, PRD.md), or a task folder (--task-dir). A loop that crashed or was
    stopped here is resumed.
    """
    return in_loop_process("ralphloop.cli.hosted_run:main", **options)
