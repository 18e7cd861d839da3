"""Anthropic Messages, as Claude Code 2.1.325 speaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from speech import Ask, Heard, Reply, event, text_of

PATH = re.compile(r"/v1/messages(\?.*)?$")


def hear(path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:  # noqa: ARG001 - the path says nothing more
    """Reminders that the client adds to the user's words are left out."""
    said = output = ""
    for message in body.get("messages", ()):
        if message["role"] != "user":
            continue
        blocks = message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
        for block in blocks:
            if block["type"] == "tool_result":
                output = text_of(block.get("content"))
            elif block["type"] == "text" and not block["text"].startswith("<system-reminder>"):
                said, output = block["text"], ""
    return Heard(
        said=said,
        output=output,
        tools=tuple(tool["name"] for tool in body.get("tools", ())),
        streams=bool(body.get("stream")),
        conversation=headers.get("x-claude-code-session-id", ""),
    )


def say(reply: Reply, ask: Ask) -> Iterable[bytes]:
    """The events of a message, or the message."""
    blocks = [*_text(reply), *_calls(reply, ask)]
    message = {
        "id": f"msg_{ask.number}",
        "type": "message",
        "role": "assistant",
        "model": ask.body.get("model"),
        "content": blocks,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.tokens.input,
            "output_tokens": reply.tokens.output,
            "cache_read_input_tokens": reply.tokens.cached,
            "cache_creation_input_tokens": 0,
        },
    }
    if not ask.heard.streams:
        return (json.dumps(message).encode(),)
    return (event(data, data["type"]) for data in _events(message))


def refuse(reply: Reply) -> object:
    return {"type": "error", "error": {"type": reply.error, "message": reply.text}}


def _text(reply: Reply) -> Iterator[dict[str, Any]]:
    if reply.text:
        yield {"type": "text", "text": reply.text}


def _calls(reply: Reply, ask: Ask) -> Iterator[dict[str, Any]]:
    for index, call in enumerate(reply.calls):
        yield {"type": "tool_use", "id": f"toolu_{ask.number}_{index}", "name": call.name, "input": call.input}


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    usage = message["usage"]
    yield {"type": "message_start", "message": message | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}}
    for index, block in enumerate(message["content"]):
        yield from _block(index, block)
    yield {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


def _block(index: int, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        start, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        start, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": index, "content_block": start}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}
