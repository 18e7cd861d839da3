"""OpenAI Chat Completions, as OpenCode 1.18, Copilot 1.0 and Qwen Code 0.15 speak it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from speech import Ask, Heard, Reply, event, text_of

PATH = re.compile(r"(/v1)?/chat/completions(\?.*)?$")


def hear(path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:  # noqa: ARG001 - the body says it all
    said = output = ""
    for message in body.get("messages", ()):
        if message["role"] == "tool":
            output = text_of(message["content"])
        elif message["role"] == "user":
            said, output = text_of(message["content"]), ""
    tools = tuple(tool["function"]["name"] for tool in body.get("tools") or ())
    return Heard(said=said, output=output, tools=tools, streams=bool(body.get("stream")))


def say(reply: Reply, ask: Ask) -> Iterable[bytes]:
    """The chunks of a completion, or the completion."""
    tokens = reply.tokens
    called = [
        {"index": index, "id": f"call_{ask.number}_{index}", "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.input)}}
        for index, call in enumerate(reply.calls)
    ]
    message = {"role": "assistant", "content": reply.text or None} | ({"tool_calls": called} if called else {})
    whole = {
        "id": f"chatcmpl-{ask.number}",
        "created": 0,
        "model": ask.body.get("model"),
        "message": message,
        "finish_reason": "tool_calls" if called else "stop",
        "usage": {
            "prompt_tokens": tokens.input + tokens.cached,
            "completion_tokens": tokens.output,
            "total_tokens": tokens.input + tokens.cached + tokens.output,
            "prompt_tokens_details": {"cached_tokens": tokens.cached},
        },
    }
    if ask.heard.streams:
        return (*(event(chunk) for chunk in _chunks(whole)), event("[DONE]"))
    choice = {"index": 0, "message": message, "finish_reason": whole["finish_reason"]}
    return (json.dumps(_headed(whole, "chat.completion", [choice], usage=whole["usage"])).encode(),)


def refuse(reply: Reply) -> object:
    return {"error": {"type": reply.error, "code": reply.error, "message": reply.text}}


def _chunks(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for delta, finish in ((whole["message"], None), ({}, whole["finish_reason"])):
        yield _headed(whole, "chat.completion.chunk", [{"index": 0, "delta": delta, "finish_reason": finish}])
    yield _headed(whole, "chat.completion.chunk", [], usage=whole["usage"])


def _headed(whole: dict[str, Any], kind: str, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"id": whole["id"], "object": kind, "created": whole["created"], "model": whole["model"], "choices": choices, **more}
