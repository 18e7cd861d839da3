"""`ralph agents`: which agents there are here."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ralphloop.agents.catalogue import CATALOGUE, others
from ralphloop.agents.installed import Installed, look_at
from ralphloop.config.choose_agent import NOT_IMPLIED, own_agents
from ralphloop.config.environment import current, tool_environment
from ralphloop.config.layers import load_layers, merge
from ralphloop.config.setting import Setting
from ralphloop.core.ports import Access, CallReport
from ralphloop.process.signals import StopFlag
from ralphloop.process.supervise import Supervisor
from ralphloop.views.agents import AgentRow, render_agents
from ralphloop.views.style import style_for

LOGIN = {Access.UNKNOWN: "?", Access.LOGGED_IN: "yes", Access.LOGGED_OUT: "no"}
PATIENCE_S = 20.0


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print the agents as JSON.")
def command(*, as_json: bool) -> None:
    """Show the agents that Ralph knows, and what is installed of them here: version, login, remedy. Nothing is asked of a provider."""
    environ = current()
    settings = merge(load_layers(Path.cwd(), environ, {}))
    seen = [(*each, shutil.which(each[0].program, path=environ.get("PATH"))) for each in _look(settings, environ)]
    if as_json:
        click.echo(json.dumps([_as_dict(*each) for each in seen], indent=2))
    else:
        click.echo(render_agents([_row(*each) for each in seen], style_for(sys.stdout, environ)), nl=False)


def _look(settings: Mapping[str, Setting], environ: dict[str, str]) -> Iterator[tuple[Installed, str]]:
    """Every agent, and what kind it is."""
    runner, env = Supervisor(StopFlag()), tool_environment(environ)

    def call(argv: Sequence[str]) -> CallReport:
        return runner.call(argv, cwd=Path.cwd(), env=env, timeout_s=PATIENCE_S)

    for name in (*CATALOGUE, *others()):
        if name not in NOT_IMPLIED:
            program = settings.get(f"agents.{name}.command")
            yield look_at(name, str(program.value) if program else name, call, env), "known"
    for name in sorted(own_agents(settings, CATALOGUE, others)):
        # Only the start of a client is known to be harmless with --version.
        yield Installed(name=name, program=str(settings[f"agents.{name}.command"].value).split()[0], minimum=""), "your own"


def _row(agent: Installed, kind: str, path: str | None) -> AgentRow:
    if path is None:
        return AgentRow(name=agent.name, version="-", needs=agent.minimum, login="-", program="not installed", usable=False)
    return AgentRow(
        name=agent.name,
        version=agent.version or "?",
        needs=agent.minimum or "-",
        login=LOGIN[agent.access] if kind == "known" else "?",
        program=path,
        remark=agent.problem or "",
    )


def _as_dict(agent: Installed, kind: str, path: str | None) -> dict[str, Any]:
    return {
        "name": agent.name,
        "kind": kind,
        "program": path,
        "installed": path is not None,
        "version": agent.version,
        "minimum": agent.minimum or None,
        "login": agent.access.name.lower(),
        "problem": agent.problem if path is not None else None,
    }
