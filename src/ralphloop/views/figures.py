"""Durations, money, counts, tokens and times of day, as a person says them."""

from __future__ import annotations

import time

MINUTE, HOUR, DAY = 60, 3600, 86400


def duration(seconds: float) -> str:
    """`1.2s`, `41s`, `6m7s`, `2h05m`, `3d4h`."""
    whole = round(max(seconds, 0.0))
    if seconds < 9.95:
        return f"{max(seconds, 0.0):.1f}s"
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m{whole % MINUTE}s"
    if whole < 2 * DAY:
        return f"{whole // HOUR}h{whole % HOUR // MINUTE:02d}m"
    return f"{whole // DAY}d{whole % DAY // HOUR}h"


def money(usd: float, *, estimated: bool = False) -> str:
    """`$0.12`; `~$0.12` where a part of it is an estimate."""
    words = "<$0.01" if 0 < usd < 0.005 else f"${usd:,.2f}"
    return f"~{words}" if estimated else words


def count(number: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def magnitude(number: int) -> str:
    """`999`, `1.2K`, `45K`, `1.2M`."""
    if number < 1000:
        return str(number)
    scaled, unit = (number / 1e3, "K") if number < 999_500 else (number / 1e6, "M")
    digits = f"{scaled:.1f}" if scaled < 9.95 else f"{scaled:.0f}"
    return digits.removesuffix(".0") + unit


def tokens(fresh: int, cached: int, written: int) -> str:
    """`1.2M in (850K cached) / 45K out`: what went in is what was fresh and what came from a cache."""
    kept = f" ({magnitude(cached)} cached)" if cached else ""
    return f"{magnitude(fresh + cached)} in{kept} / {magnitude(written)} out"


def moment(at: float, now: float) -> str:
    """A time on the local clock, with its day where that is not today."""
    try:
        there, here = time.localtime(at), time.localtime(now)
    except (OverflowError, OSError, ValueError):  # no time that a calendar has
        return "?"
    return time.strftime("%H:%M" if there[:3] == here[:3] else "%a %d %b %H:%M", there)


def iso(at: float) -> str:
    """The moment in UTC, as ISO 8601 writes it."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    except (OverflowError, OSError, ValueError):
        return "?"
