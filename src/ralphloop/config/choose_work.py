"""Which kind of work, and why: explicit flags, else settings, else what lies in the workspace."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ralphloop.config.placing import beneath, placed
from ralphloop.config.request import RunRequest
from ralphloop.config.setting import DEFAULTS, Origin, Setting
from ralphloop.config.wording import quoted
from ralphloop.core.model import Kind, WorkSpec
from ralphloop.errors import ConfigError, NoWorkFound

DEFAULT_TASK_FILE = "PRD.md"
STORIES_FILE = "ralph/tasks.json"
TASK = "TASK.md"

_EXPLICIT = (
    ("prompt_text", "-p", Kind.PROMPT),
    ("prompt_file", "--prompt-file", Kind.PROMPT),
    ("task_file", "--task-file", Kind.CHECKLIST),
    ("task_dir", "--task-dir", Kind.FOLDER),
)
_NAMED_IN_SETTINGS = (("prompt_file", Kind.PROMPT), ("task_file", Kind.CHECKLIST), ("task_dir", Kind.FOLDER))


def choose_work(request: RunRequest, settings: Mapping[str, Setting]) -> tuple[WorkSpec, str]:
    """The work, and one line that says which kind was taken and why."""
    kind, reason = _from_flags(request) or _from_settings(settings) or _from_workspace(request)
    match kind:
        case Kind.PROMPT:
            spec = _prompt(request, settings, reason)
        case Kind.CHECKLIST:
            spec = _checklist(request, settings)
        case Kind.FOLDER:
            spec = _folder(request, settings)
    return spec, f"{kind}: {reason}"


def _from_flags(request: RunRequest) -> tuple[Kind, str] | None:
    given = [(flag, kind) for field, flag, kind in _EXPLICIT if getattr(request, field) is not None]
    wanted = None if request.kind is None else Kind(request.kind.lower())
    if len(given) > 1:
        raise ConfigError(f"{given[0][0]} and {given[1][0]} name two pieces of work; give one of them")
    if given and wanted and wanted is not given[0][1]:
        raise ConfigError(f"--kind {wanted} and {given[0][0]} contradict each other: {given[0][0]} is {given[0][1]} work; give one of them")
    if given:
        return given[0][1], f"{given[0][0]} was given"
    return (wanted, f"--kind {wanted} was given") if wanted else None


def _from_settings(settings: Mapping[str, Setting]) -> tuple[Kind, str] | None:
    if kind := settings.get("work.kind"):
        return Kind(str(kind.value)), f"work.kind ({kind.origin}) says so"
    named = [(f"work.{name}", setting, kind) for name, kind in _NAMED_IN_SETTINGS if (setting := settings.get(f"work.{name}"))]
    if len(named) > 1:
        (one, first, kind_of_one), (other, second, kind_of_other) = named[:2]
        raise ConfigError(
            f"{one} ({first.origin}) and {other} ({second.origin}) name two pieces of work; set work.kind to {kind_of_one} or {kind_of_other}"
        )
    return next(((kind, f"{name} ({setting.origin}) names {setting.value}") for name, setting, kind in named), None)


def _from_workspace(request: RunRequest) -> tuple[Kind, str]:
    if os.path.lexists(request.workspace / DEFAULT_TASK_FILE):
        return Kind.CHECKLIST, f"{DEFAULT_TASK_FILE} is here"
    if os.path.lexists(request.workspace / TASK):
        raise NoWorkFound(f"no work found in {request.workspace}, but a {TASK}: to work on it as on a task folder, give --task-dir .")
    stories = f" ({STORIES_FILE} is there, and stories are not available in this version)"
    raise NoWorkFound(
        f"no work found in {request.workspace}{stories if os.path.lexists(request.workspace / STORIES_FILE) else ''}: "
        f"give a prompt with -p TEXT or --prompt-file FILE, name a task list with --task-file FILE or a task folder with --task-dir DIR, "
        f'write a {DEFAULT_TASK_FILE} with lines such as "- [ ] a task", or set work.prompt_file or work.task_file in .ralph/settings.json'
    )


def _prompt(request: RunRequest, settings: Mapping[str, Setting], reason: str) -> WorkSpec:
    if request.prompt_text is not None:
        return WorkSpec(kind=Kind.PROMPT, prompt_text=_written(request.prompt_text))
    named = settings.get("work.prompt_file")
    file = str(named.value) if request.prompt_file is None and named else request.prompt_file
    if file is None:
        raise ConfigError(f"{reason}, and there is no prompt: give -p TEXT or --prompt-file FILE, or set work.prompt_file")
    return WorkSpec(kind=Kind.PROMPT, prompt_file=placed(request.workspace, file))


def _written(text: str) -> str:
    if not text.strip():
        raise ConfigError("-p: the prompt is empty; write what the agent should do")
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise ConfigError("-p: the prompt is not UTF-8 text; write it in UTF-8, or put it into a file for --prompt-file")
    return text


def _checklist(request: RunRequest, settings: Mapping[str, Setting]) -> WorkSpec:
    named = settings.get("work.task_file", Setting(value=DEFAULT_TASK_FILE, origin=Origin(source=DEFAULTS)))
    if request.task_file is not None:
        named = Setting(value=request.task_file, origin=Origin(source="--task-file"))
    task_file = beneath(request.workspace, str(named.value))
    if task_file is None:
        named.origin.refuse(f"{quoted(str(named.value))} does not lie in {request.workspace}; the task list must, because the agent ticks it there")
    return WorkSpec(kind=Kind.CHECKLIST, task_file=task_file, template=_template(request, settings))


def _folder(request: RunRequest, settings: Mapping[str, Setting]) -> WorkSpec:
    """The directory that the command line or the settings name, else the workspace itself."""
    named = settings.get("work.task_dir")
    given = request.task_dir if request.task_dir is not None else str(named.value) if named else "."
    directory = os.path.realpath(request.workspace / given)
    if not os.path.isdir(directory):  # noqa: PTH112  Path.is_dir raises where a directory is closed
        origin = named.origin if named and request.task_dir is None else Origin(source="--task-dir")
        origin.refuse(f"{quoted(given)} is no directory; name the directory that holds TASK.md")
    inside = directory == os.path.realpath(request.workspace)
    return WorkSpec(kind=Kind.FOLDER, task_dir="." if inside else placed(request.workspace, directory))


def _template(request: RunRequest, settings: Mapping[str, Setting]) -> str | None:
    named = settings.get("work.template")
    if named is None:
        return None
    template = placed(request.workspace, str(named.value))
    if not os.path.isfile(request.workspace / template):  # noqa: PTH113  Path.is_file raises where a directory is closed
        named.origin.refuse(f"work.template names {named.value}, and there is no such file in {request.workspace}; write it or take the key away")
    return template
