"""`ralph run` and `ralph start`, in the process of the loop."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from ralphloop.agents.catalogue import CATALOGUE
from ralphloop.cli.finding import open_queries
from ralphloop.cli.guarding import Hosting
from ralphloop.cli.hosting import Look, hosted, say
from ralphloop.config.environment import current
from ralphloop.config.layers import load_layers
from ralphloop.config.request import RunRequest
from ralphloop.config.resolve import Resolved, resolve
from ralphloop.errors import ConfigError, NoWorkFound
from ralphloop.loop.finding import may_go_on
from ralphloop.loop.start import Wanted, check_name, settle_crashed, start
from ralphloop.loop.wire import check_work


def main(hosting: Hosting, directory: Path | None, *, name: str | None, new: bool, verbose: bool, **flags: object) -> int:
    """Start the loop that the work there means, or go on with it; its exit code."""
    if flags["task_dir"] is not None:
        flags["task_dir"] = str(check_directory(Path(str(flags["task_dir"]))))
    directory = check_directory(directory or Path(str(flags["task_dir"] or ".")))
    if flags["gates"] == ():
        flags["gates"] = None
    request = RunRequest(workspace=directory, **flags)  # type: ignore[arg-type] # click has checked the types
    check_name(name)
    with hosted(hosting) as host:
        settle_crashed(directory, host.house(), say)
        resolved = resolved_for(request) if new else resolved_or_open(request, name)
        wanted = Wanted(
            workspace=directory,
            resolved=resolved,
            check=lambda: check_work(directory, resolved.work),
            name=name,
            new=new,
            child=hosting.child,
            raised=request.raised(),
        )
        look = Look(color=resolved.color, emoji=resolved.emoji, stream=resolved.output.stream, verbose=verbose)
        return start(wanted, host.house(look), say).exit_code


def check_directory(directory: Path) -> Path:
    """The real path of the directory to work in; ConfigError where there is none."""
    try:
        real = directory.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # not there, deleted under the shell that stands in it, a loop of links, too long a name
        raise ConfigError(f"{directory} is not there: name the directory to work in") from error
    if not os.path.isdir(real):  # noqa: PTH112 - Path.is_dir raises where a directory is closed
        raise ConfigError(f"{directory} is no directory: name the directory to work in")
    return real


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
