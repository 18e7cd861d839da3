"""What a failed run of Claude Code means: a usage limit, a reason why no further attempt can help, or just a failure.

Everything here is read from the client's own error reports, never from what the agent wrote. Texts and codes as seen in 2.1.325.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from ralphloop.agents.one_line import one_line
from ralphloop.core.model import UsageLimit

# A loop keeps the settings that it began with, so what needs another setting needs a new loop.
_RESUME = "then `ralph resume`"
_BEGIN_ANEW = "then `ralph run --new`"
_LOG_IN = f"log in by starting `claude` once in a terminal, or put a valid ANTHROPIC_API_KEY into the environment, {_RESUME}"
_PAY = f"add credit to the account, {_RESUME}"
_MODEL = f"set agent.model to a model that this account may use, {_BEGIN_ANEW}"
_PERMISSIONS = (
    "run Ralph as another user, set agent.permissions to edits or ask, "
    f"or, in a sandbox that may be thrown away, put IS_SANDBOX=1 into agent.env, {_BEGIN_ANEW}"
)
_FLAGS = f"correct agent.flags, {_BEGIN_ANEW}"

_REMEDIES_BY_CODE = {
    "authentication_failed": _LOG_IN,
    "billing_error": _PAY,
    "model_not_found": _MODEL,
}
_REMEDIES_BY_TEXT = {
    "Not logged in": _LOG_IN,
    "Invalid API key": _LOG_IN,
    "Credit balance is too low": _PAY,
    "There's an issue with the selected model": _MODEL,
}
# The client refused to begin: nothing on stdout, exit code 1, one line on stderr.
_REMEDIES_BY_STDERR = {
    "cannot be used with root/sudo privileges": _PERMISSIONS,
    "error: unknown option": _FLAGS,
    "error: option": _FLAGS,
}

_RATE_LIMITED = 429
_LIMIT_CODE = "usage_limit_reached"
_PLAIN_REASONS = {"success", "completed", "api_error", ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A result that the client itself marked as an error. `codes` are those of the API error message before it."""

    text: str
    reason: str
    codes: frozenset[str]
    status: float | None

    @property
    def words(self) -> str:
        """What went wrong, with the reason that the client names where it says more than the text."""
        said = one_line(self.text, 500) or "the client reported an error without words"
        return said if self.reason in _PLAIN_REASONS else f"{self.reason}: {said}"


def fatal_reason(failure: Failure) -> str | None:
    """Why no further attempt can help, and what to do."""
    by_code = (remedy for code, remedy in _REMEDIES_BY_CODE.items() if code in failure.codes)
    by_text = (remedy for beginning, remedy in _REMEDIES_BY_TEXT.items() if failure.text.startswith(beginning))
    remedy = next(chain(by_code, by_text), None)
    return f"{failure.words.rstrip('.')}: {remedy}" if remedy else None


def refusal(stderr_tail: str) -> str | None:
    """Why the client refused to begin, and what to do."""
    for line in stderr_tail.splitlines():
        for words, remedy in _REMEDIES_BY_STDERR.items():
            if words in line:
                return f"{one_line(line, 500)}: {remedy}"
    return None


def usage_limit(failure: Failure | None, announced: UsageLimit | None) -> UsageLimit | None:
    """The limit that a run failed on: as it was announced in the stream, else as the error says; that knows no end."""
    if announced is not None:
        return UsageLimit(resets_at=announced.resets_at, text=failure.words if failure else announced.text)
    if failure is not None and (failure.status == _RATE_LIMITED or _LIMIT_CODE in failure.codes):
        return UsageLimit(resets_at=None, text=failure.words)
    return None
