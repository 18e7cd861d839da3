"""Claude Code: `claude -p` with a JSON stream."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ralphloop.agents.claude_stream import ClaudeParser
from ralphloop.agents.command_line import Manner, Wish, arguments, hand_over, permission, wants_stream, wish
from ralphloop.agents.failures import BEGIN_ANEW, FLAGS, MODEL, PAY, RATE_LIMITED, RESUME, Wordings
from ralphloop.agents.plain_text import PlainTextParser
from ralphloop.core.model import AgentSpec, Cause
from ralphloop.core.ports import Access, Call, Invocation, Order, StreamParser

NAME = "claude"
MINIMUM: tuple[int, ...] = (2, 1, 41)  # the oldest that was looked at: it takes a budget, and tells of a login

_SKIP = "--dangerously-skip-permissions"
_PERMISSIONS: dict[str, tuple[str, ...]] = {
    "skip": (_SKIP,),
    "edits": ("--permission-mode", "acceptEdits"),
    "ask": (),
}
_FORMATS: dict[str, tuple[Wish, ...]] = {
    # In print mode the client refuses stream-json without --verbose (seen in 2.1.325).
    "stream": (wish("--output-format", "stream-json"), wish("--verbose")),
    "text": (wish("--output-format", "text"),),
}
# After `--`: a prompt may begin with a dash, and the flag before it may take any number of values.
_MANNER = Manner(before=("--",))
SMALLEST_BUDGET_USD = 0.01

_LOG_IN = f"log in by starting `claude` once in a terminal, or put a valid ANTHROPIC_API_KEY into the environment, {RESUME}"
_AS_ROOT = (
    "run Ralph as another user, set agent.permissions to edits or ask, "
    f"or, in a sandbox that may be thrown away, put IS_SANDBOX=1 into agent.env, {BEGIN_ANEW}"
)
_ACCESS = f"ask the administrator of the account for access, or use another one, {RESUME}"
# Texts and codes as seen in 2.1.325, and in 2.0.0 and 2.1.41 where they differ. A 429 alone, and a rejected `rate_limit_event` alone, are no usage limit:
# the server says so of itself when it is busy ("not your usage limit"), and where a plan lacks a million tokens of context.
WORDINGS = Wordings(
    fatal_codes={
        "authentication_failed": _LOG_IN,
        "oauth_org_not_allowed": _LOG_IN,
        "org_disabled_credential": _LOG_IN,
        "cloud_credential_error": _LOG_IN,
        "account_on_hold": _ACCESS,
        "verification_required": _ACCESS,
        "billing_error": PAY,
        "model_not_found": MODEL,
        "long_context_credits_required": MODEL,
    },
    fatal={
        "Not logged in": _LOG_IN,
        "Invalid API key": _LOG_IN,
        "Credit balance is too low": PAY,
        "There's an issue with the selected model": MODEL,
        "is not available with the Claude": MODEL,
        "usage is required for long context": MODEL,
        "usage allocation has been disabled": _ACCESS,
        "seat type doesn't include": _ACCESS,
        "Usage is paused for your organization": _ACCESS,
    },
    rejections={
        "cannot be used with root/sudo privileges": _AS_ROOT,
        "error: unknown option": FLAGS,
        "error: option": FLAGS,
        "Error: When using --print": FLAGS,
    },
    limit_codes={"usage_limit_reached"},
    limits=("You've hit your", "limit reached", "You have reached your specified"),
    limit_statuses={RATE_LIMITED},
    causes={
        "not your usage limit": Cause.OVERLOADED,
        "Prompt is too long": Cause.CONTEXT_WINDOW,
        "Request too large": Cause.CONTEXT_WINDOW,
        "reached its context window limit": Cause.CONTEXT_WINDOW,
        "safeguards flagged": Cause.REFUSAL,
        "blocked by content filtering": Cause.REFUSAL,
    },
    cause_codes={
        "prompt_too_long": Cause.CONTEXT_WINDOW,
        "refusal": Cause.REFUSAL,
        "max_turns": Cause.TURNS,
        "error_max_turns": Cause.TURNS,
        "budget_exhausted": Cause.BUDGET,
        "error_max_budget_usd": Cause.BUDGET,
        "max_output_tokens": Cause.OUTPUT_LIMIT,
        "overloaded_error": Cause.OVERLOADED,
    },
)


# How its reports of a failure begin, where it was asked for text: on standard output, and nothing else is there.
_REPORT = re.compile(
    r"(API Error|You've hit your|Not logged in|Invalid API key|Failed to authenticate|Credit balance|There's an issue with|Prompt is too long|"
    r"Your |Usage is paused|Request too large|Claude .{1,40} is not available|Reached max|Error:)",
    re.IGNORECASE,
)


def invocation(spec: AgentSpec, order: Order) -> Invocation:
    """The prompt goes to standard input unless `prompt_via` says otherwise; a flag that the user gave is not added again."""
    argv = arguments(
        spec,
        wish("-p", unless=("--print",)),
        *_FORMATS[spec.format],
        *([wish("--model", spec.model)] if spec.model else []),
        *([wish("--max-budget-usd", f"{max(order.budget_usd, SMALLEST_BUDGET_USD):.2f}")] if order.budget_usd is not None else []),
        permission(spec, _PERMISSIONS),
    )
    return hand_over(spec, order, argv, _MANNER)


streams = wants_stream


def parser(spec: AgentSpec, order: Order | None = None) -> StreamParser:  # noqa: ARG001 - the stream has everything
    """A fresh parser for one run."""
    return ClaudeParser(WORDINGS) if streams(spec) else PlainTextParser(WORDINGS, on_stdout=_REPORT)


def access(program: str, version: tuple[int, ...], call: Call, env: Mapping[str, str]) -> Access:  # noqa: ARG001 - the client looks itself
    """As `claude auth status` says: that something is configured, not that it is valid. Older versions take those words for a prompt."""
    if version < MINIMUM:
        return Access.UNKNOWN
    return {0: Access.LOGGED_IN, 1: Access.LOGGED_OUT}.get(call((program, "auth", "status")).exit_code or 0, Access.UNKNOWN)
