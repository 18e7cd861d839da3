"""`ralph resume`, in the process of the loop."""

from __future__ import annotations

from pathlib import Path

from ralphloop.agents.catalogue import CATALOGUE, others
from ralphloop.cli.finding import open_queries, read_entries
from ralphloop.cli.guarding import Hosting
from ralphloop.cli.hosting import Look, hosted, say
from ralphloop.config.environment import current
from ralphloop.config.layers import load_layers
from ralphloop.config.request import RunRequest
from ralphloop.config.resolve import Resolved, resolve
from ralphloop.core.evolve import fold
from ralphloop.core.model import LoopSpec
from ralphloop.loop.finding import find_loop
from ralphloop.loop.pinned import refuse_function
from ralphloop.loop.settling import settle_crashed
from ralphloop.loop.start import resume


def main(hosting: Hosting, name: str, *, verbose: bool, **limits: float | None) -> int:
    """Go on with that loop; its exit code."""
    raised = {limit: value for limit, value in limits.items() if value is not None}
    with open_queries() as queries:
        spec = fold(read_entries(queries, find_loop(queries, name))).spec
    with hosted(hosting) as host:
        settle_crashed(Path(spec.workspace), host.house(), say)
        refuse_function(spec)
        settings = settings_of(spec)
        look = Look(dress=settings.console, stream=spec.output.stream, verbose=verbose)
        return resume(name, host.house(look), say, raised=raised, agent_env=settings.agent_env).exit_code


def settings_of(spec: LoopSpec) -> Resolved:
    """What the settings of that loop's workspace say today: secrets are read again, never recorded."""
    workspace = Path(spec.workspace)
    work = spec.work
    request = RunRequest(
        workspace=workspace,
        prompt_text=work.prompt_text,
        prompt_file=work.prompt_file,
        task_file=work.task_file,
        task_dir=work.task_dir,
        agent=spec.agent.called,
        agent_command=spec.agent.command,
    )
    return resolve(request, load_layers(workspace, current(), request.flags()), CATALOGUE, others)
