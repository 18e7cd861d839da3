"""What every adapter does with the command and the flags that a user gave, and how a prompt gets to a client."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ralphloop.core.model import AgentSpec
from ralphloop.core.ports import Invocation, Order
from ralphloop.errors import ConfigError

LONGEST_ARGUMENT = 128 * 1024 - 1  # Linux, with pages of 4 KiB: MAX_ARG_STRLEN, less the byte that ends it


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Words that an adapter adds, unless one of `given` stands among those of the user."""

    words: tuple[str, ...]
    given: tuple[str, ...]


def wish(*words: str, unless: tuple[str, ...] = ()) -> Wish:
    """These words, unless the user gave their first one, or one of the others that say the same."""
    return Wish(words=words, given=(*words[:1], *unless))


def arguments(spec: AgentSpec, *wishes: Wish) -> tuple[str, ...]:
    """The user's command, what is added to it, and the user's flags; nothing twice."""
    command = split_command(spec.command)
    given = (*command[1:], *spec.flags)
    added = [word for each in wishes if not is_given(given, *each.given) for word in each.words]
    return (*command, *added, *spec.flags)


def permission(spec: AgentSpec, known: dict[str, tuple[str, ...]], *synonyms: str) -> Wish:
    """The words for what the agent may do; ConfigError where its client has no such mode."""
    if spec.permissions not in known:
        raise ConfigError(f"agent.permissions is {spec.permissions}, and {spec.type} has no such mode; it has {' and '.join(known)}")
    every = (word for words in known.values() for word in words[:1])
    return Wish(words=known[spec.permissions], given=(*dict.fromkeys(every), *synonyms))


def by_stdin(argv: tuple[str, ...], order: Order) -> Invocation:
    """The prompt on standard input."""
    return Invocation(argv=argv, stdin=encoded(order.prompt))


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a client takes a prompt: words that announce it on standard input, and words, or the beginning of a word, before it as an argument."""

    on_stdin: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    joined: str = ""
    env: Mapping[str, str] = field(default_factory=dict)


def hand_over(spec: AgentSpec, order: Order, argv: tuple[str, ...], manner: Manner) -> Invocation:
    """The prompt on standard input, unless `prompt_via` says otherwise; as the last argument, one that is too long for an argument is pointed to."""
    if spec.prompt_via in {None, "stdin"}:
        return Invocation(argv=(*argv, *manner.on_stdin), stdin=encoded(order.prompt), env=manner.env)
    fits = len(encoded(manner.joined + order.prompt)) <= LONGEST_ARGUMENT
    last = order.prompt if spec.prompt_via == "arg" and fits else pointer(order)
    return Invocation(argv=(*argv, *manner.before, f"{manner.joined}{last}"), stdin=None, env=manner.env)


def wants_stream(spec: AgentSpec) -> bool:
    """A client that has a stream tells of every step, unless it was asked for text: then it may be silent to its end."""
    return spec.format == "stream"


def pointer(order: Order) -> str:
    """Where to read the prompt."""
    return f"Read {order.prompt_file} and do what it says."


def encoded(prompt: str) -> bytes:
    """The prompt as a client reads it."""
    return prompt.encode("utf-8", "replace")


def split_command(command: str) -> tuple[str, ...]:
    """The command as an argument list, split as a shell would; no shell runs it."""
    try:
        parts = tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(f"agent.command `{command}` cannot be split into arguments: {error}; close the quotation mark or escape it") from error
    if not parts:
        raise ConfigError("agent.command is empty: name the program to run, such as `claude`")
    return parts


def is_given(given: Iterable[str], *flags: str) -> bool:
    """Whether one of these flags stands among the arguments, alone or as `--flag=value`."""
    joined = tuple(f"{flag}=" for flag in flags)
    return any(argument in flags or argument.startswith(joined) for argument in given)
