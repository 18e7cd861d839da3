"""Any command-line agent that takes a prompt: it writes plain text, or, where `agents.NAME.speaks` says so, the stream of a known client."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ralphloop.agents.catalogue import adapter
from ralphloop.agents.command_line import LONGEST_ARGUMENT, by_stdin, encoded, split_command
from ralphloop.agents.plain_text import PlainTextParser
from ralphloop.core.model import AgentSpec
from ralphloop.core.ports import Access, Call, Invocation, Order, StreamParser
from ralphloop.errors import ConfigError, WorkError

NAME = "command"
MINIMUM: tuple[int, ...] = ()

_PLACEHOLDER = re.compile(r"\{(?:prompt|prompt_file|model)\}")
_OF_THE_PROMPT = ("{prompt}", "{prompt_file}")


def invocation(spec: AgentSpec, order: Order) -> Invocation:
    """The prompt goes where `{prompt}` or `{prompt_file}` stands in command or flags, else where `prompt_via` says, else to standard input."""
    if spec.permissions != "skip":
        raise ConfigError(
            f"agent.permissions is {spec.permissions}, and Ralph does not know how to tell {spec.called} so: put its own flags into its command"
        )
    given = (*split_command(spec.command), *spec.flags)
    values = {"{prompt}": order.prompt, "{prompt_file}": str(order.prompt_file), "{model}": _model(spec, given)}
    argv = tuple(_PLACEHOLDER.sub(lambda found: values[found[0]], argument) for argument in given)  # once: the prompt may hold a placeholder
    if any(name in argument for argument in given for name in _OF_THE_PROMPT):
        return _checked(argv, order)
    match spec.prompt_via:
        case "arg":
            return _checked((*argv, order.prompt), order)
        case "file":
            return Invocation(argv=(*argv, str(order.prompt_file)), stdin=None)
        case _:
            return by_stdin(argv, order)


def _model(spec: AgentSpec, given: tuple[str, ...]) -> str:
    if spec.model is None and any("{model}" in argument for argument in given):
        raise ConfigError("the agent's command names {model}, and no model is set: set agent.model, or give --model")
    return spec.model or ""


def _checked(argv: tuple[str, ...], order: Order) -> Invocation:
    """WorkError where an argument is longer than an operating system takes."""
    longest = max(len(encoded(argument)) for argument in argv)
    if longest > LONGEST_ARGUMENT:
        size = len(encoded(order.prompt))
        raise WorkError(
            f"the prompt has {size} bytes, and an argument may have {LONGEST_ARGUMENT}: hand it over on standard input, or with {{prompt_file}}"
        )
    return Invocation(argv=argv, stdin=None)


def streams(spec: AgentSpec) -> bool:
    """Whether silence means that it hangs: a program that writes plain text may be silent to its end."""
    return spec.speaks != "text"


def parser(spec: AgentSpec, order: Order | None = None) -> StreamParser:
    """A fresh parser for one run."""
    return PlainTextParser() if spec.speaks == "text" else adapter(spec.speaks).parser(replace(spec, format="stream"), order)


def access(program: str, version: tuple[int, ...], call: Call, env: Mapping[str, str]) -> Access:  # noqa: ARG001 - nobody knows how to ask it
    """It does not tell."""
    return Access.UNKNOWN
