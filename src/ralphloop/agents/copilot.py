"""GitHub Copilot CLI: `copilot` with a JSON stream."""

from __future__ import annotations

from collections.abc import Mapping

from ralphloop.agents.command_line import Manner, arguments, hand_over, permission, wants_stream, wish
from ralphloop.agents.copilot_stream import CopilotParser
from ralphloop.agents.failures import BEGIN_ANEW, FLAGS, MODEL, PAY, RATE_LIMITED, RESUME, Wordings
from ralphloop.agents.plain_text import PlainTextParser
from ralphloop.core.model import AgentSpec, Cause
from ralphloop.core.ports import Access, Call, Invocation, Order, StreamParser

NAME = "copilot"
MINIMUM: tuple[int, ...] = (1, 0)
USAGE_FILE = "usage.json"

_PERMISSIONS: dict[str, tuple[str, ...]] = {
    "skip": ("--allow-all",),
    # Without the second flag `echo hi > file` counts as writing, and runs (seen in 1.0.102).
    "edits": ("--allow-tool", "write", "--deny-tool", "shell"),
    "ask": (),
}
_SAY_THE_SAME = ("--yolo", "--allow-all-tools")
_TOKENS = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
_OWN_PROVIDER = ("COPILOT_PROVIDER_BASE_URL", "COPILOT_MODEL")
_MANNER = Manner(
    joined="--prompt=",  # as a word of its own, a prompt that begins with a dash is taken for a flag
    env={
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_TASK_WAIT_TIMEOUT_SECONDS": "300",  # else a shell in the background keeps it for ever, without a result
    },
)

_LOG_IN = f"start `copilot` once in a terminal and say /login, or put a valid token, or the key of your own provider, into its environment, {RESUME}"
_PROVIDER = f"set the variables of the client's own provider (`copilot help providers`), {RESUME}"
# Types, codes and texts as seen in 1.0.102; those of quotas are from its schema.
WORDINGS = Wordings(
    fatal_codes={
        "authentication": _LOG_IN,
        "authorization": _LOG_IN,
        "policy": f"ask the administrator of the organisation, {RESUME}",
        "quota_exceeded": PAY,
        "billing_not_configured": PAY,
        "custom_billing_not_configured": PAY,
        "additional_spend_limit_reached": PAY,
    },
    fatal={
        "not found on provider": MODEL,
        "Check that the model is available": MODEL,  # the last line of the same, as text mode has it
        "Check your COPILOT_PROVIDER_API_KEY": _LOG_IN,
        "exceeded your current quota": PAY,
        "run out of your included AI credits": PAY,
        "reached your additional usage limit": PAY,
    },
    fatal_statuses={402: PAY},
    rejections={
        "No authentication information found": _LOG_IN,
        "could not be validated": _LOG_IN,
        "Classic Personal Access Tokens": _LOG_IN,
        "Offline mode requires": _PROVIDER,
        "BYOK providers require": _PROVIDER,
        "Invalid command format": FLAGS,
        "error: unexpected argument": FLAGS,
        "error: a value is required": FLAGS,
        "error: invalid value": FLAGS,
        "Invalid value for": FLAGS,
        "No session, task, or name matched": f"correct agent.flags, {BEGIN_ANEW}",
    },
    limit_codes={"rate_limit", "rate_limited", "user_weekly_rate_limited", "user_global_rate_limited", "user_model_rate_limited"},
    limit_statuses={RATE_LIMITED},
    causes={
        "maximum context length": Cause.CONTEXT_WINDOW,
        "exceeds the model's prompt budget": Cause.CONTEXT_WINDOW,
        "spending limit for this session": Cause.BUDGET,
    },
    cause_codes={
        "refusal": Cause.REFUSAL,
        "cap_reached": Cause.TURNS,
        "context_limit": Cause.CONTEXT_WINDOW,
        "session_quota_exceeded": Cause.BUDGET,
    },
    cause_statuses={503: Cause.OVERLOADED, 529: Cause.OVERLOADED},
)


def invocation(spec: AgentSpec, order: Order) -> Invocation:
    """The prompt goes to standard input; with `-p` the client would not read it. What the run used is left in a file beside the prompt."""
    usage = str(order.prompt_file.parent / USAGE_FILE)
    argv = arguments(
        spec,
        *([wish("--output-format", "json"), wish("--usage-output-file", usage)] if streams(spec) else [wish("-s", unless=("--silent",))]),
        wish("--no-ask-user"),
        *([wish("--model", spec.model)] if spec.model else []),
        permission(spec, _PERMISSIONS, *_SAY_THE_SAME),
    )
    return hand_over(spec, order, argv, _MANNER)


streams = wants_stream


def parser(spec: AgentSpec, order: Order | None = None) -> StreamParser:
    """A fresh parser for one run."""
    if not streams(spec):
        return PlainTextParser(WORDINGS)
    return CopilotParser(WORDINGS, None if order is None else order.prompt_file.parent / USAGE_FILE)


def access(program: str, version: tuple[int, ...], call: Call, env: Mapping[str, str]) -> Access:  # noqa: ARG001 - the client does not tell
    """As the environment says; a login in the system's store of credentials cannot be seen without asking GitHub."""
    has_provider = all(env.get(name) for name in _OWN_PROVIDER)
    return Access.LOGGED_IN if has_provider or any(env.get(name) for name in _TOKENS) else Access.UNKNOWN
