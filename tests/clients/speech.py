"""What a scripted model hears and says, whatever the protocol."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from re import Pattern
from threading import Event
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call; free-form tools (Codex's apply_patch) take a text instead of an object."""

    name: str
    input: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What a reply says that it used; `input` does not include `cached`."""

    input: int = 10
    output: int = 5
    cached: int = 0


class Delivery(StrEnum):
    """How much of a reply arrives: all of it, half of it and then the end, half of it and then nothing for ever."""

    WHOLE = "whole"
    CUT = "cut"
    HANG = "hang"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One turn of the model, or the error of that `status`: then `text` is its message and `error` its type.

    `body`: what is said instead of all that, as bytes or for JSON. `after`: an event that is awaited before anything is said.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    tokens: Tokens = field(default_factory=Tokens)
    status: int = 200
    error: str = "api_error"
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delivery: Delivery = Delivery.WHOLE
    after: Event | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a protocol understands of a request: the last words of the user, the last output of a tool after them, the tools on offer."""

    said: str
    output: str = ""
    tools: tuple[str, ...] = ()
    streams: bool = True
    conversation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request, as it came; `number` counts from 1."""

    number: int
    protocol: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    heard: Heard

    @property
    def said(self) -> str:
        """The last words of the user."""
        return self.heard.said

    @property
    def output(self) -> str:
        """The last output of a tool, or nothing where the user spoke last."""
        return self.heard.output

    @property
    def conversation(self) -> str:
        """By what the client ties its requests together, if it says."""
        return self.heard.conversation


class Speech(Protocol):
    """One protocol: the paths it is spoken at, a request understood, a reply in pieces (one of them, if it does not stream), an error's body."""

    PATH: Pattern[str]

    def hear(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard: ...

    def say(self, reply: Reply, ask: Ask) -> Iterable[bytes]: ...

    def refuse(self, reply: Reply) -> object: ...


def event(data: object, name: str = "") -> bytes:
    """A server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def text_of(content: Any) -> str:
    """The text of a message: a string, or the texts among its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(text for part in parts if isinstance(part, dict) and isinstance(text := part.get("text"), str))
