"""`ralph run` and `ralph start`, in the process of the loop."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from ralphloop.agents.catalogue import CATALOGUE, others
from ralphloop.cli.finding import open_queries
from ralphloop.cli.guarding import Hosting
from ralphloop.cli.hosting import Look, hosted, say
from ralphloop.cli.inside import enclosing_loop
from ralphloop.config.environment import current
from ralphloop.config.layers import PROJECT_FILES, load_layers
from ralphloop.config.request import RunRequest
from ralphloop.config.resolve import Resolved, resolve
from ralphloop.errors import ConfigError, NoWorkFound
from ralphloop.loop.finding import may_go_on
from ralphloop.loop.naming import check_name
from ralphloop.loop.settling import settle_crashed
from ralphloop.loop.start import Wanted, start
from ralphloop.loop.wire import check_start


def main(hosting: Hosting, directory: Path | None, *, name: str | None, new: bool, verbose: bool, **flags: object) -> int:
    """Start the loop that the work there means, or go on with it; its exit code."""
    if flags["task_dir"] is not None:
        flags["task_dir"] = str(check_directory(Path(str(flags["task_dir"])), "--task-dir: ", "the directory that holds TASK.md"))
        if directory is None and (unread := _unread_settings(Path(str(flags["task_dir"])))):
            say(f"The settings in {unread} are not read, since the loop works in the task folder: say `ralph run . --task-dir …` to work here.")
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
            check=lambda: check_start(directory, resolved.work, resolved.agent),
            name=name,
            new=new,
            inside=enclosing_loop(),
            raised=request.raised(),
        )
        look = Look(dress=resolved.console, stream=resolved.output.stream, verbose=verbose)
        return start(wanted, host.house(look), say).exit_code


def _unread_settings(task_dir: Path) -> Path | None:
    """Settings of the directory where somebody stands, who may expect them to hold."""
    here = Path.cwd()
    return next((path for name, _ in PROJECT_FILES if here != task_dir and (path := here / name).exists()), None)


def check_directory(directory: Path, option: str = "", wanted: str = "the directory to work in") -> Path:
    """The real path of that directory; ConfigError where there is none."""
    try:
        real = directory.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # not there, deleted under the shell that stands in it, a loop of links, too long a name
        raise ConfigError(f"{option}{directory} is not there: name {wanted}") from error
    if not os.path.isdir(real):  # noqa: PTH112 - Path.is_dir raises where a directory is closed
        raise ConfigError(f"{option}{directory} is no directory: name {wanted}")
    return real


def resolved_for(request: RunRequest) -> Resolved:
    """What that request means, with the settings as they are now."""
    return resolve(request, load_layers(request.workspace, current(), request.flags()), CATALOGUE, others)


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
