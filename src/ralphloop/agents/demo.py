"""A scripted agent that needs no key and no network, and really edits files: for `ralph demo`, first steps and tests."""

from __future__ import annotations

import sys
from pathlib import Path

from ralphloop.agents.claude_stream import ClaudeParser
from ralphloop.core.model import AgentSpec
from ralphloop.core.ports import Invocation, StreamParser

NAME = "demo"
STREAMS = True


def invocation(spec: AgentSpec, prompt: str, prompt_file: Path) -> Invocation:  # noqa: ARG001 - the demo agent reads standard input
    """The script that plays the agent, under this very Python; `-P` keeps modules of the workspace out of its way."""
    argv = (sys.executable, "-P", "-m", "ralphloop.agents.demo_script", *spec.flags)
    return Invocation(argv=argv, stdin=prompt.encode("utf-8", "replace"))


def parser() -> StreamParser:
    """A fresh parser for one run: the script speaks Claude Code's stream-json."""
    return ClaudeParser()
