"""Amp: `amp -x` with a JSON stream. Its threads live on its maker's server, so its lines are known from its source (2026-09), not from runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ralphloop.agents.amp_stream import AmpParser
from ralphloop.agents.command_line import Manner, arguments, hand_over, is_given, permission, wants_stream, wish
from ralphloop.agents.failures import BEGIN_ANEW, FLAGS, PAY, RESUME, Wordings
from ralphloop.agents.plain_text import PlainTextParser
from ralphloop.core.model import AgentSpec, Cause
from ralphloop.core.ports import Access, Call, Invocation, Order, StreamParser

NAME = "amp"
MINIMUM: tuple[int, ...] = ()  # its versions are dates

# It has no mode for edits alone.
_PERMISSIONS: dict[str, tuple[str, ...]] = {"skip": ("--dangerously-allow-all",), "ask": ()}
_EXECUTE = ("-x", "--execute")
# As a word of its own after -x, a prompt must not begin with a dash.
_MANNER = Manner(on_stdin=("-x",), joined="--execute=", env={"AMP_SKIP_UPDATE_CHECK": "1"})

_LOG_IN = f"log in with `amp login`, or put an AMP_API_KEY into the environment, {RESUME}"
_MODE = f"set agent.model to one of Amp's modes (low, medium, high, ultra), {RESUME}"
WORDINGS = Wordings(
    fatal={
        "No API key found": _LOG_IN,
        "Unauthorized": _LOG_IN,
        "Not logged in": _LOG_IN,
        "Invalid or missing API key": _LOG_IN,
        "Access token expired": _LOG_IN,
        "Out of Credits": PAY,
        "Low Credit Balance": PAY,
        "No Usage Available": PAY,
        "Model Not Found": _MODE,
        "Agent Mode Disabled": _MODE,
    },
    rejections={
        "Not logged in": _LOG_IN,
        "Invalid or missing API key": _LOG_IN,
        "Access token expired": _LOG_IN,
        "unknown option": FLAGS,
        "Unknown command": FLAGS,
        "requires --execute mode": FLAGS,
        "User message must be provided": f"the prompt is empty: write one, {BEGIN_ANEW}",
        "execute mode input is too large": f"the prompt is longer than Amp takes: shorten it, {RESUME}",
    },
    limits=("wait until the next hour", "Usage Quota Exceeded", "exceeded your usage", "Rate Limit Hit", "Rate limit exceeded"),
    causes={
        "Model Provider Overloaded": Cause.OVERLOADED,
        "Context Limit Reached": Cause.CONTEXT_WINDOW,
        "Model Refused": Cause.REFUSAL,
        "MODEL_REFUSAL": Cause.REFUSAL,
        "Safety Check Blocked": Cause.REFUSAL,
        "Turn Limit Reached": Cause.TURNS,
    },
    cause_codes={"error_max_turns": Cause.TURNS},
)


def invocation(spec: AgentSpec, order: Order) -> Invocation:
    """The prompt goes to standard input; `-x` comes last, because it takes the word after it for the prompt."""
    argv = arguments(
        spec,
        *([wish("--stream-json", unless=("--stream-json-thinking",))] if streams(spec) else []),
        *([wish("--mode", spec.model, unless=("-m",))] if spec.model else []),
        permission(spec, _PERMISSIONS),
    )
    return hand_over(spec, order, argv, replace(_MANNER, on_stdin=()) if is_given(argv[1:], *_EXECUTE) else _MANNER)


streams = wants_stream


def parser(spec: AgentSpec, order: Order | None = None) -> StreamParser:  # noqa: ARG001 - the stream has everything
    """A fresh parser for one run."""
    return AmpParser(WORDINGS) if streams(spec) else PlainTextParser(WORDINGS)


def access(program: str, version: tuple[int, ...], call: Call, env: Mapping[str, str]) -> Access:  # noqa: ARG001 - the client asks its server
    """Whether there is a key, in the environment or in a file that nobody looks into."""
    data = Path(env.get("XDG_DATA_HOME") or Path(env.get("HOME", "/"), ".local/share"))
    return Access.LOGGED_IN if env.get("AMP_API_KEY") or (data / "amp/secrets.json").exists() else Access.LOGGED_OUT
