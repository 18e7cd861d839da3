"""A scripted agent that needs no key and no network, and really edits files: for `ralph demo`, first steps and tests."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from ralphloop.agents.claude_stream import ClaudeParser
from ralphloop.agents.command_line import by_stdin
from ralphloop.agents.failures import FLAGS, Wordings
from ralphloop.core.model import AgentSpec
from ralphloop.core.ports import Access, Call, Invocation, Order, StreamParser

NAME = "demo"
MINIMUM: tuple[int, ...] = ()


def invocation(spec: AgentSpec, order: Order) -> Invocation:
    """The script that plays the agent, under this very Python; `-P` keeps modules of the workspace out of its way."""
    return by_stdin((sys.executable, "-P", "-m", "ralphloop.agents.demo_script", *spec.flags), order)


def streams(spec: AgentSpec) -> bool:  # noqa: ARG001 - it has one way to speak
    """It tells of every step."""
    return True


def parser(spec: AgentSpec, order: Order | None = None) -> StreamParser:  # noqa: ARG001 - it has one way to speak
    """A fresh parser for one run: the script speaks Claude Code's stream-json."""
    return ClaudeParser(Wordings(rejections={"error: ": FLAGS}))


def access(program: str, version: tuple[int, ...], call: Call, env: Mapping[str, str]) -> Access:  # noqa: ARG001 - nobody has to log in
    """It needs no account."""
    return Access.LOGGED_IN
