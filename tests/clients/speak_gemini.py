"""Gemini generateContent and streamGenerateContent, as Gemini CLI 0.61 speaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from speech import Ask, Heard, Reply, event, text_of

PATH = re.compile(r"/v1(beta|alpha)?/models/[^/:]+:(streamG|g)enerateContent(\?.*)?$")


def hear(path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Heard:  # noqa: ARG001 - the headers say nothing more
    said = output = ""
    for content in body.get("contents", ()):
        if content.get("role") != "user":
            continue
        answers = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        said, output = (said, json.dumps(answers[-1]["response"])) if answers else (text_of(content["parts"]), "")
    declared = (tool for tools in body.get("tools") or () for tool in tools.get("functionDeclarations", ()))
    return Heard(said=said, output=output, tools=tuple(tool["name"] for tool in declared), streams=":streamGenerateContent" in path)


def say(reply: Reply, ask: Ask) -> Iterable[bytes]:
    """What was said, and how it ended: two pieces of a stream, or one object."""
    tokens = reply.tokens
    parts: list[dict[str, Any]] = [{"text": reply.text}] if reply.text else []
    parts += [{"functionCall": {"name": call.name, "args": call.input}} for call in reply.calls]
    end: dict[str, Any] = {
        "finishReason": "STOP",
        "usageMetadata": {
            "promptTokenCount": tokens.input + tokens.cached,
            "cachedContentTokenCount": tokens.cached,
            "candidatesTokenCount": tokens.output,
            "totalTokenCount": tokens.input + tokens.cached + tokens.output,
        },
    }
    if not ask.heard.streams:
        return (json.dumps(_response(parts, ask, **end)).encode(),)
    return event(_response(parts, ask)), event(_response([{"text": ""}], ask, **end))


def refuse(reply: Reply) -> object:
    return {"error": {"code": reply.status, "status": reply.error, "message": reply.text}}


def _response(parts: list[dict[str, Any]], ask: Ask, *, finishReason: str = "", **more: Any) -> dict[str, Any]:  # noqa: N803 - the protocol's name
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}} | ({"finishReason": finishReason} if finishReason else {})
    return {"candidates": [candidate], "responseId": f"response-{ask.number}", **more}
