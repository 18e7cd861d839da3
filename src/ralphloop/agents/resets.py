"""When a usage limit ends, as the words of an error say it, on the clock of this machine. Imported light: most runs never need the calendar."""

from __future__ import annotations

from dataclasses import replace

from ralphloop.core.model import UsageLimit

MINUTE_S = 60.0
LONGEST_LIMIT_S = 366 * 24 * 3600.0


def with_reset(limit: UsageLimit | None, now: float) -> UsageLimit | None:
    """The limit, with its end where its words name one."""
    if limit is None:
        return None
    from datetime import UTC, datetime  # noqa: PLC0415 - a loop that meets no limit does without the calendar

    from ralphloop.agents.reset_time import reset_time  # noqa: PLC0415

    zone = datetime.fromtimestamp(now, tz=UTC).astimezone().tzinfo or UTC
    moment = reset_time(limit.text, now, zone)
    return replace(limit, resets_at=None if moment is None else to_the_minute(moment, now))


def possible_reset(moment: float | None, now: float) -> float | None:
    """A moment that a provider named in figures, if it can be the end of a limit."""
    return moment if moment is not None and 0 <= moment <= now + LONGEST_LIMIT_S else None


def to_the_minute(moment: float, now: float) -> float:
    """The end of the minute that was named: clients cut the seconds off (seen in Claude Code 2.1.325 and Codex 0.166.0).

    A moment that is just over was named by the minute that `now` lies in, or by the one before.
    """
    if moment <= now:
        return now + MINUTE_S - now % MINUTE_S
    return moment + MINUTE_S if moment % MINUTE_S == 0 else moment
