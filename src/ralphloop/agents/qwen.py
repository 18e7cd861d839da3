"""Qwen Code: `qwen` with a JSON stream."""

from __future__ import annotations

from collections.abc import Mapping

from ralphloop.agents.command_line import Manner, Wish, arguments, hand_over, permission, wants_stream, wish
from ralphloop.agents.failures import BEGIN_ANEW, FLAGS, MODEL, PAY, RATE_LIMITED, RESUME, Wordings
from ralphloop.agents.plain_text import PlainTextParser
from ralphloop.agents.qwen_stream import REPORT, QwenParser
from ralphloop.core.model import AgentSpec, Cause
from ralphloop.core.ports import Access, Call, Invocation, Order, StreamParser

NAME = "qwen"
MINIMUM: tuple[int, ...] = (0, 10)

_PERMISSIONS: dict[str, tuple[str, ...]] = {
    "skip": ("--approval-mode", "yolo"),
    "edits": ("--approval-mode", "auto-edit"),
    "ask": (),
}
_FORMATS: dict[str, tuple[Wish, ...]] = {
    "stream": (wish("--output-format", "stream-json", unless=("-o",)),),
    "text": (wish("--output-format", "text", unless=("-o",)),),
}
# Without the variable a signal ends the wrapper, and the client works on.
_MANNER = Manner(joined="--prompt=", env={"QWEN_CODE_NO_RELAUNCH": "true"})
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "DASHSCOPE_API_KEY")

_LOG_IN = f"log in by starting `qwen` once in a terminal, or put the provider's key into the environment and --auth-type into agent.flags, {RESUME}"
# Texts as seen in 0.15.10.
WORDINGS = Wordings(
    fatal={
        "No auth type is selected": _LOG_IN,
        "Missing API key": _LOG_IN,
        "free tier": _LOG_IN,
        "insufficient_quota": PAY,
        "exceeded your current quota": PAY,
        "does not exist": MODEL,
    },
    fatal_statuses={401: _LOG_IN, 402: PAY, 403: _LOG_IN, 404: MODEL},
    rejections={
        "No auth type is selected": _LOG_IN,
        "Missing API key": _LOG_IN,
        "Unknown argument": FLAGS,
        "Show help  [boolean]": FLAGS,  # the usage is so long that its first line, which says why, is lost
        "Invalid values": FLAGS,
        "Cannot use both": FLAGS,
        "No saved session found": FLAGS,
        "No input provided": f"the prompt is empty: write one, {BEGIN_ANEW}",
    },
    limits=("Possible quota limitations", "OAuth quota exceeded"),
    limit_statuses={RATE_LIMITED},
    causes={"maximum context length": Cause.CONTEXT_WINDOW},
    cause_codes={"turns": Cause.TURNS},
    cause_statuses={503: Cause.OVERLOADED, 529: Cause.OVERLOADED},
)


def invocation(spec: AgentSpec, order: Order) -> Invocation:
    """The prompt goes to standard input: as an argument it must not begin with a dash, and some flags would swallow it."""
    argv = arguments(
        spec,
        *_FORMATS[spec.format],
        *([wish("--model", spec.model, unless=("-m",))] if spec.model else []),
        permission(spec, _PERMISSIONS, "--yolo", "-y"),
    )
    return hand_over(spec, order, argv, _MANNER)


streams = wants_stream


def parser(spec: AgentSpec, order: Order | None = None) -> StreamParser:  # noqa: ARG001 - the stream has everything
    """A fresh parser for one run."""
    return QwenParser(WORDINGS) if streams(spec) else PlainTextParser(WORDINGS, report=REPORT)


def access(program: str, version: tuple[int, ...], call: Call, env: Mapping[str, str]) -> Access:  # noqa: ARG001 - the client does not know of keys in the environment
    """As the environment says; what its settings hold cannot be seen without starting it."""
    return Access.LOGGED_IN if any(env.get(name) for name in _KEYS) else Access.UNKNOWN
