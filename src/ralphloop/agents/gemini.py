"""Gemini CLI: `gemini` with a JSON stream."""

from __future__ import annotations

from collections.abc import Mapping

from ralphloop.agents.command_line import Manner, Wish, arguments, hand_over, permission, wants_stream, wish
from ralphloop.agents.failures import BEGIN_ANEW, FLAGS, MODEL, PAY, RATE_LIMITED, RESUME, Wordings
from ralphloop.agents.gemini_stream import GeminiParser, GeminiText
from ralphloop.core.model import AgentSpec, Cause
from ralphloop.core.ports import Access, Call, Invocation, Order, StreamParser

NAME = "gemini"
MINIMUM: tuple[int, ...] = (0, 20)

_PERMISSIONS: dict[str, tuple[str, ...]] = {
    "skip": ("--approval-mode", "yolo"),
    "edits": ("--approval-mode", "auto_edit"),
    "ask": (),
}
_FORMATS: dict[str, tuple[Wish, ...]] = {
    "stream": (wish("--output-format", "stream-json", unless=("-o",)),),
    "text": (wish("--output-format", "text", unless=("-o",)),),
}
_MANNER = Manner(
    joined="--prompt=",
    env={
        "GEMINI_CLI_NO_RELAUNCH": "true",  # else it starts itself again, and the first of the two takes no signal
        "GEMINI_CLI_TRUST_WORKSPACE": "true",  # its flag --skip-trust is not known before 0.40
        "NO_COLOR": "1",
    },
)
_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA")

_LOG_IN = f"log in by starting `gemini` once in a terminal, or put a GEMINI_API_KEY into the environment, {RESUME}"
_CONFIGURATION = f"correct the client's own configuration, {RESUME}"
# Types and texts as seen in 0.61.0; every 429 says how to get more.
WORDINGS = Wordings(
    fatal={
        "API key not valid": _LOG_IN,
        "UNAUTHENTICATED": _LOG_IN,
        "PERMISSION_DENIED": _LOG_IN,
        "is not found for API version": MODEL,
        "INSUFFICIENT_G1_CREDITS": PAY,
        "credits are depleted": PAY,
    },
    fatal_statuses={401: _LOG_IN, 403: _LOG_IN, 404: MODEL},
    rejections={
        "Please set an Auth method": _LOG_IN,
        "you must specify the GEMINI_API_KEY": _LOG_IN,
        "Invalid auth method selected": _LOG_IN,
        "not running in a trusted directory": f"put GEMINI_CLI_TRUST_WORKSPACE=true into agent.env, {BEGIN_ANEW}",
        "disableYoloMode": _CONFIGURATION,
        "YOLO mode is disabled": _CONFIGURATION,
        "Unknown argument": FLAGS,
        "Show help  [boolean]": FLAGS,  # of a long usage, the beginning may be lost
        "Invalid values": FLAGS,
        "Not enough arguments": FLAGS,
        "Cannot use both": FLAGS,
        "Error resuming session": FLAGS,
        "No input provided": f"the prompt is empty: write one, {BEGIN_ANEW}",
    },
    limits=(
        "exhausted your daily quota",
        "exhausted your capacity",
        "Suggested retry after",
        "request a quota increase",
        "Possible quota limitations",
    ),
    limit_statuses={RATE_LIMITED},
    causes={
        "exceeds the maximum number of tokens": Cause.CONTEXT_WINDOW,
        "model is overloaded": Cause.OVERLOADED,
    },
    cause_codes={"FatalTurnLimitedError": Cause.TURNS},
    cause_statuses={503: Cause.OVERLOADED},
)


def invocation(spec: AgentSpec, order: Order) -> Invocation:
    """The prompt goes to standard input: as an argument it must not begin with a dash."""
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
    return GeminiParser(WORDINGS) if streams(spec) else GeminiText(WORDINGS)


def access(program: str, version: tuple[int, ...], call: Call, env: Mapping[str, str]) -> Access:  # noqa: ARG001 - the client does not tell
    """As the environment says; what its settings and the keychain hold cannot be seen without starting it."""
    return Access.LOGGED_IN if any(env.get(name) for name in _KEYS) else Access.UNKNOWN
