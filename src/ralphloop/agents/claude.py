"""Claude Code: `claude -p` with a JSON stream."""

from __future__ import annotations

from pathlib import Path

from ralphloop.agents.claude_stream import ClaudeParser
from ralphloop.agents.command_line import is_given, split_command
from ralphloop.core.model import AgentSpec
from ralphloop.core.ports import Invocation, StreamParser

NAME = "claude"
STREAMS = True

_SKIP = "--dangerously-skip-permissions"
_PERMISSIONS: dict[str, tuple[str, ...]] = {
    "skip": (_SKIP,),
    "edits": ("--permission-mode", "acceptEdits"),
    "ask": (),
}


def invocation(spec: AgentSpec, prompt: str, prompt_file: Path) -> Invocation:
    """The prompt goes to standard input unless `prompt_via` says otherwise; a flag that the user gave is not added again."""
    command = split_command(spec.command)
    given = (*command[1:], *spec.flags)
    wanted: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
        (("-p", "--print"), ("-p",)),
        (("--output-format",), ("--output-format", "stream-json")),
        (("--verbose",), ("--verbose",)),  # in print mode the client refuses stream-json without it (seen in 2.1.325)
        (("--model",), ("--model", spec.model) if spec.model else ()),
        ((_SKIP, "--permission-mode"), _PERMISSIONS[spec.permissions]),
    ]
    added = [word for flags, words in wanted if not is_given(given, *flags) for word in words]
    argv = (*command, *added, *spec.flags)
    match spec.prompt_via:
        case "arg":  # after `--`: a prompt may begin with a dash, and the flag before it may take any number of values
            return Invocation(argv=(*argv, "--", prompt), stdin=None)
        case "file":
            return Invocation(argv=(*argv, "--", f"Read {prompt_file} and do what it says."), stdin=None)
        case _:
            return Invocation(argv=argv, stdin=prompt.encode("utf-8", "replace"))


def parser() -> StreamParser:
    """A fresh parser for one run."""
    return ClaudeParser()
