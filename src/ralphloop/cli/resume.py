"""`ralph resume NAME`: go on with a loop, whatever it ended with."""

from __future__ import annotations

from typing import Any

import click

from ralphloop.cli.guarding import in_loop_process
from ralphloop.cli.inside import for_people
from ralphloop.cli.options import Iterations, Positive, Seconds


@click.command
@click.argument("name")
@click.option(
    "-m",
    "--maximum-iterations",
    "--max-iterations",
    "--max-restarts",
    "iterations",
    type=Iterations(),
    help="The new limit of iterations, in all.",
)
@click.option("--max-minutes", "minutes", type=Positive(), help="The new limit of minutes of work, in all.")
@click.option("--max-cost", "cost_usd", type=Positive(), help="The new limit of dollars, in all.")
@click.option("--max-calls", "calls", type=Iterations(), help="The new limit of agent processes, in all.")
@click.option(
    "--wait-timeout", "wait_timeout_s", metavar="SECONDS", type=Seconds(), help="Task folder: wait for child loops after DONE; 0: for ever."
)
@click.option("-V", "--verbose", is_flag=True, help="Say more, on standard error.")
@for_people
def command(**options: Any) -> int:
    """Go on with a loop that crashed, was stopped, waits, failed, or met a limit.

    It keeps the settings that it began with, but for the limits that are given here.
    """
    return in_loop_process("ralphloop.cli.hosted_resume:main", **options)
