"""Recorded streams of Claude Code 2.1.325, shortened, and what is read from them, as text that can be compared and reviewed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from ralphloop.agents.claude_stream import ClaudeParser
from ralphloop.core.messages import Event
from ralphloop.core.model import EndedBy, RunReport, StreamReport

STREAMS = Path(__file__).parent.parent / "fixtures" / "claude"


def recorded(name: str) -> list[bytes]:
    return (STREAMS / f"{name}.ndjson").read_bytes().splitlines()


def ended(exit_code: int | None = 0, *, signal: int | None = None, stderr: str = "") -> RunReport:
    return RunReport(ended_by=EndedBy.EXIT, exit_code=exit_code, signal=signal, stderr_tail=stderr)


def read(lines: Iterable[bytes], run: RunReport) -> tuple[list[Event], StreamReport]:
    parser = ClaudeParser()
    events = [event for line in lines for event in parser.feed(line)]
    return events, parser.finish(run)


def rendered(events: Iterable[Event], report: StreamReport) -> str:
    """One line per event without its empty fields, then one line per field of the report."""
    said = [_compact(event) for event in events]
    facts = [f"{field.name} = {_compact(getattr(report, field.name))}" for field in fields(report)]
    return "\n".join([*said, "---", *facts]) + "\n"


def _compact(value: Any) -> str:
    if isinstance(value, type) or not is_dataclass(value):
        return repr(value)
    parts = ((field.name, getattr(value, field.name)) for field in fields(value))
    shown = (f"{name}={_compact(part)}" for name, part in parts if part or isinstance(part, float))
    return f"{type(value).__name__}({', '.join(shown)})"
