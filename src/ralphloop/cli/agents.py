"""`ralph agents`: which agents there are here."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ralphloop.agents.catalogue import CATALOGUE, adapter, others
from ralphloop.agents.command_line import split_command
from ralphloop.agents.installed import Installed, dotted, look_at
from ralphloop.config.choose_agent import NOT_IMPLIED, choose_agent, own_agents
from ralphloop.config.environment import agent_environment, current
from ralphloop.config.layers import load_layers, merge
from ralphloop.config.request import RunRequest
from ralphloop.config.setting import Setting
from ralphloop.core.model import EndedBy
from ralphloop.core.ports import Access, CallReport, Launch, Sign
from ralphloop.errors import ConfigError
from ralphloop.process.signals import StopFlag
from ralphloop.process.supervise import Supervisor
from ralphloop.views.agents import AgentRow, render_agents
from ralphloop.views.style import style_for

LOGIN = {Access.UNKNOWN: "?", Access.LOGGED_IN: "yes", Access.LOGGED_OUT: "no"}
PATIENCE_S = 20.0
MOST_LINES = 200
NOT_THERE = "not installed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was seen of one agent. `path` is None where its program is not here; `own`: it is made by settings, and was not started."""

    agent: Installed
    path: str | None
    own: bool = False


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print the agents as JSON.")
def command(*, as_json: bool) -> None:
    """Show the agents that Ralph knows, and what is installed of them here: version, login, remedy. Nothing is asked of a provider."""
    environ = current()
    seen = list(_look(merge(load_layers(Path.cwd(), environ, {})), environ))
    if as_json:
        click.echo(json.dumps([_as_dict(each) for each in seen], indent=2))
    else:
        click.echo(render_agents([_row(each) for each in seen], style_for(sys.stdout, environ)), nl=False)


def _look(settings: Mapping[str, Setting], environ: dict[str, str]) -> Iterator[Seen]:
    """Every agent, as it would be started here."""
    known = [name for name in (*CATALOGUE, *others()) if name not in NOT_IMPLIED]
    own = sorted(own_agents(settings, CATALOGUE, others))
    for name in (*known, *own):
        try:
            spec, variables = choose_agent(RunRequest(workspace=Path.cwd(), agent=name), settings, CATALOGUE, others)
            path = shutil.which(split_command(spec.command)[0], path=environ.get("PATH"))
            if name in own or path is None:  # only of a known client it is known that `--version` starts nothing
                minimum = "" if name in own else dotted(adapter(name).MINIMUM)
                yield Seen(agent=Installed(name=name, program=spec.command, minimum=minimum), path=path, own=name in own)
                continue
            env = agent_environment(environ, variables, {})
            yield Seen(agent=look_at(name, spec.command, lambda argv, env=env: _answer(argv, env), env), path=path)  # type: ignore[misc]
        except ConfigError as error:
            yield Seen(agent=Installed(name=name, program="", minimum="", problem=str(error)), path="?", own=name in own)
        except Exception as error:  # noqa: BLE001 - an adapter of somebody else's
            yield Seen(agent=Installed(name=name, program="", minimum="", problem=f"its adapter failed: {error!r:.500}"), path="?")


def _answer(argv: Sequence[str], env: Mapping[str, str]) -> CallReport:
    """What a client answers to a short question: its first lines, within bounds."""
    lines: list[bytes] = []

    def listen(line: bytes) -> Sign:
        lines.append(line[:1000])
        return Sign.WORKING if len(lines) < MOST_LINES else Sign.ASTRAY

    run = Supervisor(StopFlag()).supervise(Launch(argv=tuple(argv), cwd=Path.cwd(), env=env, timeout_s=PATIENCE_S, grace_s=1.0), listen)
    error = run.start_error
    if run.ended_by is EndedBy.TOTAL_TIMEOUT:
        error = f"`{argv[0]}` did not end within {PATIENCE_S:g} s"
    elif run.signal is not None and error is None and run.ended_by is EndedBy.EXIT:
        error = f"`{argv[0]}` was ended by signal {run.signal}"
    return CallReport(exit_code=None if error else run.exit_code, stdout=b"\n".join(lines), stderr=run.stderr_tail.encode(), error=error)


def _row(seen: Seen) -> AgentRow:
    agent = seen.agent
    if seen.path is None:
        return AgentRow(name=agent.name, version="-", needs=agent.minimum or "-", login="-", program=NOT_THERE, usable=False)
    return AgentRow(
        name=agent.name,
        version=agent.version or "?",
        needs=agent.minimum or "-",
        login=LOGIN[agent.access],
        program=seen.path,
        remark=agent.problem or "",
    )


def _as_dict(seen: Seen) -> dict[str, Any]:
    agent = seen.agent
    return {
        "name": agent.name,
        "kind": "your own" if seen.own else "known",
        "program": seen.path,
        "installed": seen.path is not None,
        "version": agent.version,
        "minimum": agent.minimum or None,
        "login": agent.access.name.lower(),
        "problem": agent.problem,
    }
