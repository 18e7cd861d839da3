"""Any command-line agent that takes a prompt and writes plain text."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from ralphloop.agents.command_line import split_command
from ralphloop.core.messages import Event, Text
from ralphloop.core.model import AgentSpec, RunReport, StreamReport
from ralphloop.core.ports import Invocation, StreamParser

NAME = "command"
STREAMS = False

FINAL_WORDS_BYTES = 256 * 1024

_PLACEHOLDER = re.compile(r"\{prompt(?:_file)?\}")


def invocation(spec: AgentSpec, prompt: str, prompt_file: Path) -> Invocation:
    """The prompt goes where `{prompt}` or `{prompt_file}` stands in command or flags, else where `prompt_via` says, else to standard input."""
    given = (*split_command(spec.command), *spec.flags)
    values = {"{prompt}": prompt, "{prompt_file}": str(prompt_file)}
    argv = tuple(_PLACEHOLDER.sub(lambda found: values[found[0]], argument) for argument in given)  # once: the prompt may hold a placeholder
    if any(map(_PLACEHOLDER.search, given)):
        return Invocation(argv=argv, stdin=None)
    match spec.prompt_via:
        case "arg":
            return Invocation(argv=(*argv, prompt), stdin=None)
        case "file":
            return Invocation(argv=(*argv, str(prompt_file)), stdin=None)
        case _:
            return Invocation(argv=argv, stdin=prompt.encode("utf-8", "replace"))


def parser() -> StreamParser:
    """A fresh parser for one run."""
    return PlainTextParser()


class PlainTextParser:
    """One run's stdout as the agent's words; the last 256 KiB of it are remembered."""

    def __init__(self) -> None:
        self._tail: deque[bytes] = deque()
        self._size = 0

    @property
    def result_seen(self) -> bool:
        """Plain text has no last line: only the exit ends the run."""
        return False

    @property
    def background(self) -> bool:
        """Plain text does not tell."""
        return False

    def feed(self, line: bytes) -> Iterable[Event]:
        """Each line is something the agent said."""
        self._remember(line[-FINAL_WORDS_BYTES:])
        return (Text(text=line.decode("utf-8", "replace").rstrip("\r")),)

    def finish(self, run: RunReport) -> StreamReport:  # noqa: ARG002 - the exit status is judged elsewhere
        """The words; everything else is told by the exit status."""
        return StreamReport(final_words=b"\n".join(self._tail).decode("utf-8", "replace"))

    def _remember(self, line: bytes) -> None:
        self._tail.append(line)
        self._size += len(line) + 1
        while self._size > FINAL_WORDS_BYTES + 1:
            self._size -= len(self._tail.popleft()) + 1
