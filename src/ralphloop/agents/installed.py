"""What is installed of an agent on this machine, found out without the network and without cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ralphloop.agents.catalogue import adapter
from ralphloop.agents.command_line import split_command
from ralphloop.agents.one_line import one_line
from ralphloop.core.ports import Access, Call

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_LONGEST_OUTPUT = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One agent. `version` is None where the program did not say one; `problem` is why nothing can be said, or what should be done."""

    name: str
    program: str
    minimum: str
    version: str | None = None
    access: Access = Access.UNKNOWN
    problem: str | None = None


def look_at(name: str, command: str, call: Call, env: Mapping[str, str]) -> Installed:
    """Ask that program for its version, and whether somebody is logged in. `call` runs a short command."""
    known = adapter(name)
    program = split_command(command)[0]
    minimum = dotted(known.MINIMUM)
    answer = call((program, "--version"))
    if answer.error is not None and answer.exit_code is None:
        return Installed(name=name, program=program, minimum=minimum, problem=one_line(answer.error))
    version = version_in(answer.stdout + answer.stderr)
    problem = too_old(version, known.MINIMUM) or (None if version else "it does not say which version it is")
    access = known.access(program, numbers_of(version), call, env) if version else Access.UNKNOWN
    if problem is None and access is Access.LOGGED_OUT:
        problem = "nobody is logged in, as far as the client says"
    return Installed(name=name, program=program, minimum=minimum, version=version, access=access, problem=problem)


def version_in(said: bytes) -> str | None:
    """The first thing that looks like a version."""
    found = _VERSION.search(said[:_LONGEST_OUTPUT].decode("utf-8", "replace"))
    return found[0] if found else None


def too_old(version: str | None, minimum: tuple[int, ...]) -> str | None:
    """In words: that a version is older than what Ralph reads; None where it is not, or where nobody knows."""
    if version is None or numbers_of(version) >= minimum:
        return None
    return f"version {version} is older than {dotted(minimum)}, the oldest whose flags and stream are known to fit: upgrade it"


def numbers_of(version: str) -> tuple[int, ...]:
    """A version to compare with."""
    return tuple(int(part[:18]) for part in version.split("."))


def dotted(version: tuple[int, ...]) -> str:
    """A version as people write it."""
    return ".".join(map(str, version))
