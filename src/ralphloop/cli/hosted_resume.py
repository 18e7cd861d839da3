"""`ralph resume NAME`: go on with a loop, whatever it ended with."""

from __future__ import annotations

from pathlib import Path

import click

from ralphloop.agents.catalogue import CATALOGUE
from ralphloop.cli.finding import open_queries, read_entries
from ralphloop.cli.hosting import hosted, say
from ralphloop.cli.options import Iterations, Positive
from ralphloop.config.environment import current
from ralphloop.config.layers import load_layers
from ralphloop.config.request import RunRequest
from ralphloop.config.resolve import Resolved, resolve
from ralphloop.core.evolve import fold
from ralphloop.core.model import LoopSpec
from ralphloop.loop.start import find_loop, resume, settle_crashed


@click.command
@click.argument("name")
@click.option("-m", "--maximum-iterations", "--max-iterations", "iterations", type=Iterations(), help="The new limit of iterations, in all.")
@click.option("--max-minutes", "minutes", type=Positive(), help="The new limit of minutes of work, in all.")
@click.option("--max-cost", "cost_usd", type=Positive(), help="The new limit of dollars, in all.")
@click.option("--max-calls", "calls", type=Iterations(), help="The new limit of agent processes, in all.")
@click.option("-V", "--verbose", is_flag=True, help="Say more, on standard error.")
def command(name: str, *, verbose: bool, **limits: float | None) -> int:
    """Go on with a loop that crashed, was stopped, waits, failed, or met a limit.

    It keeps the settings that it began with, but for the limits that are given here.
    """
    raised = {limit: value for limit, value in limits.items() if value is not None}
    with open_queries() as queries:
        spec = fold(read_entries(queries, find_loop(queries, name))).spec
    with hosted(color="auto", emoji=True, stream=False, verbose=False) as house:
        settle_crashed(Path(spec.workspace), house, say)
    settings = settings_of(spec)
    with hosted(color=settings.color, emoji=settings.emoji, stream=spec.output.stream, verbose=verbose) as house:
        return resume(name, house, say, raised=raised, agent_env=settings.agent_env)


def settings_of(spec: LoopSpec) -> Resolved:
    """What the settings of that loop's workspace say today: secrets are read again, never recorded."""
    workspace = Path(spec.workspace)
    work = spec.work
    request = RunRequest(
        workspace=workspace,
        prompt_text=work.prompt_text,
        prompt_file=work.prompt_file,
        task_file=work.task_file,
        agent=spec.agent.type,
        agent_command=spec.agent.command,
    )
    return resolve(request, load_layers(workspace, current(), request.flags()), CATALOGUE)
