"""`ralph run`: start the loop that the work here means, or go on with it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import click

from ralphloop.agents.catalogue import CATALOGUE
from ralphloop.cli.finding import open_queries
from ralphloop.cli.hosting import hosted, say
from ralphloop.cli.options import Iterations, Positive
from ralphloop.config.environment import current
from ralphloop.config.layers import load_layers
from ralphloop.config.request import RunRequest
from ralphloop.config.resolve import Resolved, resolve
from ralphloop.core.model import Kind, WorkSpec
from ralphloop.errors import ConfigError, NoWorkFound
from ralphloop.loop.start import LONGEST_NAME, Wanted, may_go_on, settle_crashed, start
from ralphloop.work.checklist import check_task_file, check_template
from ralphloop.work.prompt import check_prompt_file


@click.command
@click.argument("directory", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("-p", "--prompt", "prompt_text", metavar="TEXT", help="Work on this prompt.")
@click.option("-f", "--prompt-file", metavar="FILE", help="Work on the prompt in this file, read anew for each iteration.")
@click.option("--task-file", metavar="FILE", help="Work on this Markdown task list (default: PRD.md where there is one).")
@click.option("--kind", metavar="KIND", help="The kind of work: prompt or checklist.")
@click.option("-m", "--maximum-iterations", "--max-iterations", "iterations", type=Iterations(), help="Stop after N iterations.")
@click.option("-c", "--completion-response", "--completion-marker", "completion_text", metavar="TEXT", help="The text of a claim.")
@click.option("--gate", "gates", multiple=True, metavar="CMD", help="A command that must pass after each attempt; may be given again.")
@click.option("--agent", metavar="NAME", help=f"The agent: {', '.join(CATALOGUE)}.")
@click.option("--agent-command", metavar="CMD", help="The agent's command line, where it is not the name of the agent.")
@click.option("--model", metavar="MODEL", help="The model that the agent is told to use.")
@click.option("--name", metavar="NAME", help="The loop's name (default: that of the directory).")
@click.option("--new", is_flag=True, help="Begin afresh, whatever a loop of that name did before.")
@click.option("--delay", "delay_s", metavar="NUMBER", type=click.FloatRange(min=0), help="Seconds between iterations.")
@click.option("--max-minutes", "minutes", type=Positive(), help="Stop after so many minutes of work; waits do not count.")
@click.option("--max-cost", type=Positive(), help="Stop when so many dollars are spent; looked at before each attempt.")
@click.option("--max-calls", "calls", type=Iterations(), help="Stop after N agent processes (default: 3 for each iteration).")
@click.option("--stream-agent-output/--no-stream-agent-output", "stream", default=None, help="Show what the agent says and does.")
@click.option("-V", "--verbose", is_flag=True, help="Say more, on standard error.")
def command(directory: Path, *, name: str | None, new: bool, verbose: bool, **flags: object) -> int:
    """Run an agent on a piece of work until it is done.

    The work is a prompt (-p, -f) or a Markdown task list (--task-file, PRD.md). A loop that crashed or was stopped here is resumed.
    """
    directory = check_directory(directory)
    if flags["gates"] == ():
        flags["gates"] = None
    request = RunRequest(workspace=directory, **flags)  # type: ignore[arg-type] # click has checked the types
    check_name(name)
    with hosted(color="auto", emoji=True, stream=False, verbose=False) as house:
        settle_crashed(directory, house, say)
    resolved = resolved_for(request) if new else resolved_or_open(request, name)
    wanted = Wanted(
        workspace=directory,
        resolved=resolved,
        check=lambda: check_work(directory, resolved.work),
        name=name,
        new=new,
        raised=raised_limits(request),
    )
    with hosted(color=resolved.color, emoji=resolved.emoji, stream=resolved.output.stream, verbose=verbose) as house:
        return start(wanted, house, say)


def raised_limits(request: RunRequest) -> dict[str, float]:
    """The bounds among the flags: they hold for a loop that is resumed as well."""
    bounds = {
        "iterations": request.iterations,
        "calls": request.calls,
        "minutes": request.minutes,
        "cost_usd": request.max_cost,
        "delay_s": request.delay_s,
    }
    return {limit: value for limit, value in bounds.items() if value is not None}


def check_directory(directory: Path) -> Path:
    """The real path of the directory to work in; ConfigError where there is none."""
    try:
        real = directory.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # not there, deleted under the shell that stands in it, a loop of links, too long a name
        raise ConfigError(f"{directory} is not there: name the directory to work in") from error
    if not os.path.isdir(real):  # noqa: PTH112 - Path.is_dir raises where a directory is closed
        raise ConfigError(f"{directory} is no directory: name the directory to work in")
    return real


def check_work(directory: Path, work: WorkSpec) -> None:
    """Raise ConfigError where the work cannot be read now: nothing has been started or written yet."""
    if work.kind is Kind.CHECKLIST:
        assert work.task_file is not None
        check_task_file(directory, work.task_file)
        if work.template:
            check_template(directory, work.template)
    elif work.prompt_file:
        check_prompt_file(directory, work.prompt_file)


def check_name(name: str | None) -> None:
    """Raise ConfigError for a name that could not be typed again, or would be taken for an option or a path."""
    if name is not None and (not 0 < len(name) <= LONGEST_NAME or name.startswith("-") or any(c in "/\\ *?[" or not c.isprintable() for c in name)):
        raise ConfigError(f"--name {name!r} is no name for a loop: use up to {LONGEST_NAME} letters, digits, dots, dashes and underscores")


def resolved_for(request: RunRequest) -> Resolved:
    """What that request means, with the settings as they are now."""
    return resolve(request, load_layers(request.workspace, current(), request.flags()), CATALOGUE)


def resolved_or_open(request: RunRequest, name: str | None) -> Resolved:
    """What that request means; where no work is found, the work of a loop that is open here: its task list is put back when it goes on."""
    try:
        return resolved_for(request)
    except NoWorkFound:
        with open_queries() as queries:
            here = (row for row in queries.loops() if row.workspace == str(request.workspace) and name in {None, row.name} and may_go_on(row))
            task_file = next((row.task_file for row in here if row.task_file is not None), None)
        if task_file is None:
            raise
    return resolved_for(replace(request, task_file=task_file))
