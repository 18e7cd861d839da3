"""The raw log of an attempt, read again by the parser that read it when it ran."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from ralphloop.agents.catalogue import adapter
from ralphloop.cli.finding import artifacts
from ralphloop.core.messages import AttemptEnded, AttemptStarted, Entry, Event
from ralphloop.core.model import FUNCTION, AgentSpec, ProtectedFile
from ralphloop.files.artifacts import read_pieces
from ralphloop.ledger.queries import LoopRow
from ralphloop.loop.attempt import EVENTS
from ralphloop.process.lines import LineSplitter
from ralphloop.views.facts import Moment, moments
from ralphloop.views.replay import replay
from ralphloop.views.show import iteration_of
from ralphloop.views.style import Style

_PIECE_BYTES = 256 * 1024


def replayed(row: LoopRow, entries: list[Entry], number: int, style: Style) -> Iterator[str]:
    """The lines of every attempt of that iteration; LookupError where the loop has no such one."""
    turn = iteration_of(list(moments(entries)), number)
    agent = turn[-1].after.spec.agent
    for index, seen in enumerate(turn):
        if not isinstance(seen.entry, AttemptStarted):
            continue
        title = f"Iteration {number} of {row.name}, attempt {seen.entry.attempt}"
        log = artifacts(row, number, seen.entry.attempt) / EVENTS
        if agent.type == FUNCTION:
            yield from replay(title, (), style)
            yield "  a Python function writes no stream"
            continue
        yield from _attempt(title, log, agent, _recorded(turn[index + 1 :], log), style)


def _recorded(after: list[Moment], log: Path) -> ProtectedFile | None:
    """What is known of the log since the attempt ended; None where it has not."""
    ended = next((seen.entry for seen in after if isinstance(seen.entry, AttemptEnded | AttemptStarted)), None)
    if not isinstance(ended, AttemptEnded):
        return None
    return next((file for file in ended.artifacts if Path(file.path).name == log.name), None)


def _attempt(title: str, log: Path, agent: AgentSpec, recorded: ProtectedFile | None, style: Style) -> Iterator[str]:
    digest = hashlib.sha256()
    try:
        yield from replay(title, _events(log, agent, digest), style)
    except OSError:
        yield f"  its raw stream is gone: {style.path(str(log))}"
        return
    if recorded is not None and recorded.digest is not None and recorded.digest != digest.hexdigest():
        yield f"  this is not what the agent put out when it ran: {style.path(str(log))} was changed since"


def _events(log: Path, agent: AgentSpec, digest: hashlib._Hash) -> Iterator[Event]:
    parser, lines = adapter(agent.type).parser(agent), LineSplitter()
    for piece in read_pieces(log, _PIECE_BYTES):
        digest.update(piece)
        for line in lines.feed(piece):
            yield from parser.feed(line)
    for line in lines.close():
        yield from parser.feed(line)
