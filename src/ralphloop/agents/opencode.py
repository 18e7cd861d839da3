"""opencode: `opencode run` with a JSON stream."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ralphloop.agents.command_line import Manner, Wish, arguments, hand_over, permission, wants_stream, wish
from ralphloop.agents.failures import BEGIN_ANEW, FLAGS, PAY, RATE_LIMITED, RESUME, Wordings
from ralphloop.agents.opencode_stream import OpencodeParser, OpencodeTextParser
from ralphloop.core.model import AgentSpec, Cause
from ralphloop.core.ports import Access, Call, Invocation, Order, StreamParser
from ralphloop.errors import ConfigError

NAME = "opencode"
MINIMUM: tuple[int, ...] = (1, 0)

# Its own rules let it run commands without asking: `ask` leaves them as they are. `edits` takes the shell away, from sub-agents too.
_PERMISSIONS: dict[str, tuple[str, ...]] = {"skip": ("--auto",), "edits": ("--auto",), "ask": ()}
_NO_SHELL = {"OPENCODE_PERMISSION": '{"bash":"deny"}'}
# Without its log nobody knows why it is silent, since it sleeps out a rate limit of hours, nor that a model is unknown.
_LOG = (wish("--print-logs"), wish("--log-level", "ERROR"))
_FORMATS: dict[str, tuple[Wish, ...]] = {"stream": (wish("--format", "json"), *_LOG), "text": _LOG}
_COUNTED = re.compile(r"(\d{1,6}) (?:credential|environment variable)")

_LOG_IN = f"log in with `opencode auth login`, or put the provider's key into the environment, {RESUME}"
# Without a key it does not know the models of that provider either.
_MODEL = f"set agent.model to one that `opencode models` lists, as provider/model, or log in with `opencode auth login`, {BEGIN_ANEW}"
# Names and texts as seen in 1.18.33.
WORDINGS = Wordings(
    fatal_codes={"ProviderAuthError": _LOG_IN},
    fatal={
        "No providers are available": _LOG_IN,
        "ProviderModelNotFoundError": _MODEL,
        "ProviderAuthError": _LOG_IN,
        "Incorrect API key": _LOG_IN,
        "insufficient_quota": PAY,
        "exceeded your current quota": PAY,
    },
    fatal_statuses={401: _LOG_IN, 402: PAY, 403: _LOG_IN, 404: _MODEL},
    rejections={
        "opencode run [message..]": FLAGS,  # it prints its help, and does not name the flag
        "Configuration is invalid": f"correct the client's own configuration, {RESUME}",
        "Error: Session not found": f"correct agent.flags, {BEGIN_ANEW}",
    },
    limits=("usage limit reached", "usage exceeded", "rate limit"),
    limit_statuses={RATE_LIMITED},
    causes={"maximum context length": Cause.CONTEXT_WINDOW, "Provider is overloaded": Cause.OVERLOADED},
    cause_codes={
        "ContextOverflowError": Cause.CONTEXT_WINDOW,
        "ContentFilterError": Cause.REFUSAL,
        "MessageOutputLengthError": Cause.OUTPUT_LIMIT,
        "length": Cause.OUTPUT_LIMIT,
    },
    cause_statuses={503: Cause.OVERLOADED, 529: Cause.OVERLOADED},
)


def invocation(spec: AgentSpec, order: Order) -> Invocation:
    """The prompt goes to standard input: as an argument the client would wrap it in quotation marks. No flag twice: it changes the output format."""
    if spec.prompt_via == "arg":
        raise ConfigError("agent.prompt_via is arg, and opencode changes a prompt that is an argument: take stdin or file")
    argv = arguments(
        spec,
        wish("run"),
        *_FORMATS[spec.format],
        wish("--title", "ralph"),  # without one it asks the model for a title
        *([wish("--model", spec.model, unless=("-m",))] if spec.model else []),
        permission(spec, _PERMISSIONS, "--yolo", "--dangerously-skip-permissions"),
    )
    no_shell = _NO_SHELL if spec.permissions == "edits" else {}
    return hand_over(spec, order, argv, Manner(before=("--",), env={"OPENCODE_DISABLE_AUTOUPDATE": "1", **no_shell}))


streams = wants_stream


def parser(spec: AgentSpec, order: Order | None = None) -> StreamParser:  # noqa: ARG001 - the stream has everything
    """A fresh parser for one run."""
    return OpencodeParser(WORDINGS) if streams(spec) else OpencodeTextParser(WORDINGS)


def access(program: str, version: tuple[int, ...], call: Call, env: Mapping[str, str]) -> Access:  # noqa: ARG001 - the client looks itself
    """As `opencode auth list` says; keys in its configuration are not listed, and without any it uses its maker's free model."""
    counted = _COUNTED.findall(call((program, "auth", "list")).stdout.decode("utf-8", "replace"))
    return Access.LOGGED_IN if any(int(number) for number in counted) else Access.UNKNOWN
