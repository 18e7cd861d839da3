"""Recorded streams of the real clients, shortened, and what is read from them, as text that can be compared and reviewed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from ralphloop.agents.catalogue import adapter
from ralphloop.core.messages import Event
from ralphloop.core.model import AgentSpec, EndedBy, RunReport, StreamReport
from ralphloop.core.ports import StreamParser

FIXTURES = Path(__file__).parent.parent / "fixtures"
CLIENTS = tuple(sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()))
NOW = 1794848000.0
"""When most of them were recorded: 2026-11-16, five to five in the afternoon (UTC)."""


def names(client: str) -> list[str]:
    return sorted(path.stem for path in (FIXTURES / client).glob("*.ndjson"))


def recorded(client: str, name: str) -> list[bytes]:
    return (FIXTURES / client / f"{name}.ndjson").read_bytes().splitlines()


def stderr_of(client: str, name: str) -> str:
    path = FIXTURES / client / f"{name}.stderr"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def golden(client: str, name: str) -> Path:
    return FIXTURES / client / f"{name}.golden"


def ended(exit_code: int | None = 0, *, signal: int | None = None, stderr: str = "") -> RunReport:
    return RunReport(ended_by=EndedBy.EXIT, exit_code=exit_code, signal=signal, stderr_tail=stderr)


def parser_of(client: str) -> StreamParser:
    return adapter(client).parser(AgentSpec(type=client, command=client))


def read(client: str, lines: Iterable[bytes], run: RunReport) -> tuple[list[Event], StreamReport]:
    parser = parser_of(client)
    events = [event for line in lines for event in parser.feed(line)]
    return events, parser.finish(run, NOW)


def rendered(events: Iterable[Event], report: StreamReport) -> str:
    """One line per event without its empty fields, then one line per field of the report that says something."""
    said = [_compact(event) for event in events]
    facts = [f"{field.name} = {_compact(getattr(report, field.name))}" for field in fields(report) if getattr(report, field.name) != field.default]
    return "\n".join([*said, "---", *facts]) + "\n"


def _compact(value: Any) -> str:
    if isinstance(value, type) or not is_dataclass(value):
        return repr(value)
    parts = ((field.name, getattr(value, field.name)) for field in fields(value))
    shown = (f"{name}={_compact(part)}" for name, part in parts if part or isinstance(part, float))
    return f"{type(value).__name__}({', '.join(shown)})"
