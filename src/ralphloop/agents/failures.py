"""What a failed run means: a usage limit, a reason why no further attempt can help, a cause with a name, or just a failure.

Everything here is read from a client's own error reports, never from what the agent wrote. Each client has its table of wordings, and this is how
such a table is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from ralphloop.agents.one_line import one_line
from ralphloop.core.model import Cause, UsageLimit

# A loop keeps the settings that it began with, so what needs another setting needs a new loop.
RESUME = "then `ralph resume`"
BEGIN_ANEW = "then `ralph run --new`"
PAY = f"add credit to the account, {RESUME}"
MODEL = f"set agent.model to a model that this account may use, {BEGIN_ANEW}"
FLAGS = f"correct agent.flags, or upgrade the client (`ralph agents` tells what is installed), {BEGIN_ANEW}"

_PAINT = re.compile(r"\x1b\[[0-9;]{0,20}m")
READ_CHARS = 4000
"""An error report that goes on for longer repeats itself, or quotes somebody else."""

RATE_LIMITED = 429
Meant = TypeVar("Meant")
_PLAIN_REASONS = {"success", "completed", "error", "api_error", ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a client reported when its run failed: its words, the reason it names, its machine-readable codes, and the HTTP status behind it."""

    text: str
    reason: str = ""
    codes: frozenset[str] = frozenset()
    status: float | None = None

    @property
    def words(self) -> str:
        """What went wrong, with the reason that the client names where it says more than the text."""
        said = one_line(self.text, 500) or "the client reported an error without words"
        return said if self.reason in _PLAIN_REASONS else f"{self.reason}: {said}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wordings:
    """How one client words its failures: codes as they are, pieces of text in any case. The first row that fits counts.

    Statuses are those of HTTP; one that means a limit does so where nothing is said that means something else.
    """

    fatal: Mapping[str, str] = field(default_factory=dict)
    fatal_codes: Mapping[str, str] = field(default_factory=dict)
    fatal_statuses: Mapping[int, str] = field(default_factory=dict)
    rejections: Mapping[str, str] = field(default_factory=dict)
    limits: Collection[str] = ()
    limit_codes: Collection[str] = ()
    limit_statuses: Collection[int] = ()
    causes: Mapping[str, Cause] = field(default_factory=dict)
    cause_codes: Mapping[str, Cause] = field(default_factory=dict)
    cause_statuses: Mapping[int, Cause] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a failure means. At most one of `fatal` and `limit` is set."""

    fatal: str | None = None
    limit: UsageLimit | None = None
    cause: Cause | None = None


def meaning(failure: Failure, wordings: Wordings) -> Meaning:
    """What that failure means, as that client words it; when a limit ends is for somebody with a clock."""
    text = _comparable(failure.text)
    status = int(failure.status or 0)
    remedy = _by_code(failure, wordings.fatal_codes) or _by_text(text, wordings.fatal) or wordings.fatal_statuses.get(status)
    if remedy is not None:
        return Meaning(fatal=f"{failure.words.rstrip('.')}: {remedy}")
    limit = Meaning(limit=UsageLimit(resets_at=None, text=failure.words))
    if failure.codes & set(wordings.limit_codes) or any(_comparable(words) in text for words in wordings.limits):
        return limit
    cause = _by_text(text, wordings.causes) or _by_code(failure, wordings.cause_codes) or wordings.cause_statuses.get(status)
    return limit if cause is None and status in wordings.limit_statuses else Meaning(cause=cause)


def rejection(stderr_tail: str, wordings: Wordings) -> str | None:
    """Why a client that said nothing on standard output refused to begin, and what to do."""
    for line in unpainted(stderr_tail).splitlines():
        remedy = _by_text(_comparable(line), wordings.rejections)
        if remedy is not None:
            return f"{one_line(line, 500).rstrip('.')}: {remedy}"
    return None


def unpainted(words: str) -> str:
    """Without the colours that some clients write into a pipe as well."""
    return _PAINT.sub("", words)


def _by_code(failure: Failure, table: Mapping[str, Meant]) -> Meant | None:
    return next((meant for code, meant in table.items() if code in failure.codes or code == failure.reason), None)


def _by_text(text: str, table: Mapping[str, Meant]) -> Meant | None:
    return next((meant for words, meant in table.items() if _comparable(words) in text), None)


def _comparable(words: str) -> str:
    """In small letters, and with the apostrophe that keyboards have."""
    return words[:READ_CHARS].casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
