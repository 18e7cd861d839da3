"""OpenAI Responses, as Codex 0.166.0 speaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from speech import Ask, Call, Heard, Reply, event, text_of

PATH = re.compile(r"(/v1)?/responses(\?.*)?$")

_OUTPUTS = {"function_call_output", "custom_tool_call_output"}


def hear(path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:  # noqa: ARG001 - the path says nothing more
    given, said, output = body.get("input", ()), "", ""
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        if item.get("type") in _OUTPUTS:
            output = text_of(item["output"])
        elif item.get("role") == "user":
            said, output = text_of(item["content"]), ""
    return Heard(
        said=said,
        output=output,
        tools=tuple(tool.get("name", tool["type"]) for tool in body.get("tools", ())),
        streams=bool(body.get("stream")),
        conversation=headers.get("session_id", "") or headers.get("session-id", ""),
    )


def say(reply: Reply, ask: Ask) -> Iterable[bytes]:
    """The events of a response, or the response."""
    tokens = reply.tokens
    items = [*_text(reply, ask), *(_call(call, f"{ask.number}_{index}") for index, call in enumerate(reply.calls))]
    response = {
        "id": f"resp_{ask.number}",
        "object": "response",
        "status": "completed",
        "model": ask.body.get("model"),
        "output": items,
        "usage": {
            "input_tokens": tokens.input + tokens.cached,
            "input_tokens_details": {"cached_tokens": tokens.cached},
            "output_tokens": tokens.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens.input + tokens.cached + tokens.output,
        },
    }
    if not ask.heard.streams:
        return (json.dumps(response).encode(),)
    return (event(data, data["type"]) for data in _events(response))


def refuse(reply: Reply) -> object:
    return {"error": {"type": reply.error, "code": reply.error, "message": reply.text}}


def _text(reply: Reply, ask: Ask) -> Iterator[dict[str, Any]]:
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        yield {"type": "message", "id": f"msg_{ask.number}", "role": "assistant", "status": "completed", "content": content}


def _call(call: Call, number: str) -> dict[str, Any]:
    named = {"id": f"item_{number}", "call_id": f"call_{number}", "name": call.name, "status": "completed"}
    if isinstance(call.input, str):
        return {"type": "custom_tool_call", **named, "input": call.input}
    return {"type": "function_call", **named, "arguments": json.dumps(call.input)}


def _events(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": {"id": response["id"], "object": "response", "status": "in_progress", "output": []}}
    for index, item in enumerate(response["output"]):
        yield {"type": "response.output_item.added", "output_index": index, "item": item | ({"content": []} if "content" in item else {})}
        if "content" in item:
            words = item["content"][0]["text"]
            yield {"type": "response.output_text.delta", "item_id": item["id"], "output_index": index, "content_index": 0, "delta": words}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": response}
