"""Codex: `codex exec` with a JSON stream."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ralphloop.agents.codex_stream import CodexParser
from ralphloop.agents.command_line import Manner, arguments, hand_over, permission, wants_stream, wish
from ralphloop.agents.failures import BEGIN_ANEW, FLAGS, MODEL, PAY, RESUME, Wordings
from ralphloop.agents.plain_text import PlainTextParser
from ralphloop.core.model import AgentSpec, Cause
from ralphloop.core.ports import Access, Call, Invocation, Order, StreamParser

NAME = "codex"
MINIMUM: tuple[int, ...] = (0, 44)

_PERMISSIONS: dict[str, tuple[str, ...]] = {
    "skip": ("--dangerously-bypass-approvals-and-sandbox",),
    "edits": ("--sandbox", "workspace-write"),
    "ask": (),
}
_MANNER = Manner(on_stdin=("-",), before=("--",))
_KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")
_SAY_THE_SAME = ("-s", "--yolo", "--approve-for-me", "-a", "--ask-for-approval", "-p", "--profile")

_LOG_IN = f"log in with `codex login`, or put the key that its provider wants into the environment, {RESUME}"
_PLAN = f"upgrade the plan, or ask the administrator of the workspace, {RESUME}"
# Texts as seen in 0.166.0: a failure has no code of its own.
WORDINGS = Wordings(
    fatal={
        "401 Unauthorized": _LOG_IN,
        "403 Forbidden": _LOG_IN,
        "Missing environment variable": _LOG_IN,
        "Quota exceeded": PAY,
        "workspace is out of credits": PAY,
        "You hit your spend cap": PAY,
        "To use Codex with your ChatGPT plan": _PLAN,
        "does not exist or you do not have access to it": MODEL,
        "is not supported when using Codex": MODEL,
    },
    rejections={
        "Not inside a trusted directory": f"add --skip-git-repo-check to agent.flags, {BEGIN_ANEW}",
        "error: unexpected argument": FLAGS,
        "error: invalid value": FLAGS,
        "Error loading config": f"correct the client's own configuration, {RESUME}",
    },
    limits=("You've hit your usage limit", "429 Too Many Requests", "rate limit exceeded:"),
    causes={
        "ran out of room in the model's context window": Cause.CONTEXT_WINDOW,
        "reason: max_output_tokens": Cause.OUTPUT_LIMIT,
        "reason: content_filter": Cause.REFUSAL,
        "was flagged for possible": Cause.REFUSAL,
        "has been flagged for possible": Cause.REFUSAL,
        "was blocked due to": Cause.REFUSAL,
        "currently experiencing high demand": Cause.OVERLOADED,
        "Selected model is at capacity": Cause.OVERLOADED,
        "capacity unavailable": Cause.OVERLOADED,
        "503 Service Unavailable": Cause.OVERLOADED,
    },
)


_REPORT = re.compile(r"^ERROR: (?P<words>.{1,4000})$", re.MULTILINE)  # in text mode, on standard error


def invocation(spec: AgentSpec, order: Order) -> Invocation:
    """The prompt goes to standard input unless `prompt_via` says otherwise: an open standard input that says nothing would block the client."""
    argv = arguments(
        spec,
        wish("exec", unless=("e",)),
        *([wish("--json", unless=("--experimental-json",))] if streams(spec) else []),
        wish("--skip-git-repo-check"),
        *([wish("--model", spec.model, unless=("-m",))] if spec.model else []),
        permission(spec, _PERMISSIONS, *_SAY_THE_SAME),
    )
    return hand_over(spec, order, argv, _MANNER)


streams = wants_stream


def parser(spec: AgentSpec, order: Order | None = None) -> StreamParser:  # noqa: ARG001 - the stream has everything
    """A fresh parser for one run."""
    return CodexParser(WORDINGS) if streams(spec) else PlainTextParser(WORDINGS, report=_REPORT)


def access(program: str, version: tuple[int, ...], call: Call, env: Mapping[str, str]) -> Access:  # noqa: ARG001 - every version tells
    """As `codex login status` says, which does not look at keys in the environment, nor at those of a provider of one's own."""
    if any(env.get(name) for name in _KEYS):
        return Access.LOGGED_IN
    return Access.LOGGED_IN if call((program, "login", "status")).exit_code == 0 else Access.LOGGED_OUT
