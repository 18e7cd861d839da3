"""`ralph resume`, in the process of the loop."""

from __future__ import annotations

from pathlib import Path

from ralphloop.cli.finding import open_queries, read_entries
from ralphloop.cli.guarding import Hosting
from ralphloop.cli.hosting import Look, hosted, say
from ralphloop.config.choose_agent import variables_of
from ralphloop.config.environment import current
from ralphloop.config.layers import load_layers, merge
from ralphloop.config.resolve import dress
from ralphloop.core.evolve import fold
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
        # The rest is pinned: an agent, or a task list, that has gone from the settings since is no reason not to go on.
        settings = merge(load_layers(Path(spec.workspace), current(), {}))
        look = Look(dress=dress(settings), stream=spec.output.stream, verbose=verbose)
        return resume(name, host.house(look), say, raised=raised, agent_env=variables_of(spec.agent.called, settings)).exit_code
