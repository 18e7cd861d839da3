"""`ralph demo`, in the process of the loop."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from ralphloop.agents.catalogue import CATALOGUE, others
from ralphloop.agents.demo_project import DEMO_GATE, DEMO_SCRIPT, write_demo_project
from ralphloop.cli.guarding import Hosting
from ralphloop.cli.hosting import Look, hosted, say
from ralphloop.cli.inside import enclosing_loop
from ralphloop.config.environment import current, tool_environment
from ralphloop.config.layers import load_layers
from ralphloop.config.request import RunRequest
from ralphloop.config.resolve import resolve
from ralphloop.errors import ConfigError
from ralphloop.loop.start import Wanted, start
from ralphloop.process.signals import StopFlag
from ralphloop.process.supervise import Supervisor

INTRODUCTION = """\
A scripted agent gets three tasks in {directory}, and a gate: {gate}.
It will claim to be done when nothing is, break the gate, and delete a task from the list. Watch what happens.
"""


def main(hosting: Hosting, directory: Path | None, pause: float | None, default_pause_s: float) -> int:
    """Write the demo project, and run its loop."""
    project = directory or Path(tempfile.mkdtemp(prefix="ralph-demo-"))
    try:
        write_demo_project(project)
    except OSError as error:
        raise ConfigError(f"the demo project cannot be written into {project}: {error.strerror}; name another directory") from error
    begin_repository(project)
    pause = pause if pause is not None else default_pause_s if sys.stdout.isatty() else 0.0
    request = RunRequest(workspace=project, task_file="PRD.md", agent="demo", gates=(DEMO_GATE,), iterations=10)
    resolved = resolve(request, load_layers(project, {}, request.flags()), CATALOGUE, others)
    flags = ("--script", ",".join(DEMO_SCRIPT), "--pause", str(pause))
    resolved = replace(resolved, agent=replace(resolved.agent, flags=flags))
    say(INTRODUCTION.format(directory=project, gate=DEMO_GATE))
    with hosted(hosting) as host:
        house = host.house(Look())
        return start(Wanted(workspace=project, resolved=resolved, check=lambda: None, inside=enclosing_loop()), house, say).exit_code


def begin_repository(project: Path) -> None:
    """A repository, so that what the agent commits can be seen to be undone in history too; without git the demo runs all the same."""
    runner = Supervisor(StopFlag())
    ours = ("-c", "user.name=You", "-c", "user.email=you@localhost", "-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null")
    for arguments in (("init", "-q"), ("add", "-A"), (*ours, "commit", "-q", "-m", "A plan with three tasks")):
        runner.call(("git", *arguments), cwd=project, env=tool_environment(current()), timeout_s=30)
