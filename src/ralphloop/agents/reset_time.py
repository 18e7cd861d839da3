"""When a usage limit ends, as the error text of a failed run names it.

The text is a client's own, but nothing in it is trusted: a bounded piece of it is read, in ASCII, by patterns whose every repetition is bounded.
Each row of `_TABLE` reads one way of naming a moment. A way may leave several moments open (a clock time without a date, an hour that comes twice
when clocks are put back): the earliest that is not yet over counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import islice
from zoneinfo import ZoneInfo

_DAY_S = 86_400.0
_SLACK_S = 60.0  # the clients cut the seconds off, so a moment that has just come may seem to be over
_HORIZON_S = 35 * _DAY_S  # the longest limits known are those of a month
_LOOK_CHARS = 8_000
_MATCHES = 20
_UNITS_S = (("ms", 0.001), ("mil", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3_600.0), ("d", _DAY_S), ("w", 7 * _DAY_S))
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")  # a middle dot, a narrow space before "PM"
_OFFSET = re.compile(r"(?:utc|gmt)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?", re.IGNORECASE)

_GAP = r"\s{1,9}"
_IS = r"""[\s:="'|\\]{1,9}"""  # between a name and its value: in words, or in JSON, escaped or not
_END = rf"(?<![a-z])(?:resets?|re-?try(?:ing)?|try(?:ing)?{_GAP}again|available(?:{_GAP}again)?|renews?|refresh(?:es)?)"
_AT = rf"(?:{_END}|until|regain{_GAP}access|limit{_GAP}reached)(?:[-_\s]{{0,9}}(?:at|on|by|after))?{_IS}"
_ABOUT = rf"(?:~|(?:about|around|approximately|another|at{_GAP}least|less{_GAP}than){_GAP})?"
_IN = rf"(?:{_END}[-_\s]{{0,9}}(?:in|after|delay)|wait(?:{_GAP}for)?){_IS}{_ABOUT}"

_AMOUNT = r"\d{1,9}(?:\.\d{1,9})?"
_UNIT = r"(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)(?![a-z])"
_PART = rf"(?:{_AMOUNT}\s{{0,9}}|an?{_GAP}){_UNIT}"
_PARTS = re.compile(rf"(?:(?P<amount>{_AMOUNT})\s{{0,9}}|an?{_GAP})(?P<unit>{_UNIT})", re.IGNORECASE)

_CLOCK = r"(?P<hour>\d{1,2})(?!\d)(?::(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d{1,9})?)?(?![\d:]))?(?:\s{0,9}(?P<half>[ap])(?:m\b|\.m\.))?"
_BARE_ZONE = r"z\b|(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?(?!\d)|(?-i:[A-Z]{2,5})\b"
_ZONE = rf"(?:\s{{0,9}}(?:\((?P<named>[a-z+-][a-z0-9_+/:-]{{0,49}})\)|(?P<bare>{_BARE_ZONE})))?"
_TIME_OF_DAY = rf"(?:(?:,?{_GAP}(?:at{_GAP})?|t){_CLOCK}|(?!,?\s{{0,9}}\d)){_ZONE}"
_WEEKDAY = rf"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{{0,6}},?{_GAP})?"
_YEAR, _DAY = r"(?P<year>\d{4})(?!\d)", r"(?P<day>\d{1,2})(?!\d)"
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"

_Reading = Callable[[re.Match[str], float, tzinfo], Iterator[float]]


def reset_time(words: str, now: float, zone: tzinfo) -> float | None:
    """The first moment of the next five weeks that `words` names as the end of a limit; `now` is when they were said, `zone` the machine's."""
    piece = words if len(words) <= 2 * _LOOK_CHARS else f"{words[:_LOOK_CHARS]}\n{words[-_LOOK_CHARS:]}"
    text = _NOT_ASCII.sub(" ", piece)
    rows = enumerate(_TABLE)
    found = [(match.start(), row, match, read) for row, (pattern, read) in rows for match in islice(pattern.finditer(text), _MATCHES)]
    for _, _, match, read in sorted(found, key=lambda one: one[:2]):
        possible = [moment for moment in read(match, now, zone) if now - _SLACK_S <= moment <= now + _HORIZON_S]
        if possible:
            return max(now, min(possible))
    return None


def _by_date(match: re.Match[str], now: float, machine: tzinfo) -> Iterator[float]:
    """A date without a year is any year's; without a time of day it begins in UTC, as the clients mean it (seen in Claude Code 2.1.325)."""
    said = match.groupdict()
    zone = _zone(said, UTC if said["hour"] is None else machine)
    years = [int(said["year"])] if said["year"] else [day.year + more for day in _today(now, zone) for more in (-1, 0, 1)]
    month = int(said["month"]) if said["month"].isdigit() else 1 + _MONTHS.index(said["month"].lower())
    clock = _clock(said)
    for year in years if clock else ():
        yield from _moments(year, month, int(said["day"]), clock or (0, 0, 0), zone)


def _by_clock(match: re.Match[str], now: float, machine: tzinfo) -> Iterator[float]:
    said = match.groupdict()
    zone, clock = _zone(said, machine), _clock(said)
    for today in _today(now, zone) if clock else ():
        for more in (-1, 0, 1, 2):
            with suppress(OverflowError):
                day = today + timedelta(days=more)
                yield from _moments(day.year, day.month, day.day, clock or (0, 0, 0), zone)


def _by_duration(match: re.Match[str], now: float, _machine: tzinfo) -> Iterator[float]:
    yield now + sum(float(part["amount"] or 1) * _seconds(part["unit"]) for part in _PARTS.finditer(match["duration"]))


def _by_number(match: re.Match[str], now: float, _machine: tzinfo) -> Iterator[float]:
    yield now + float(match["amount"]) * _seconds(match["unit"] or "s")


def _by_epoch(match: re.Match[str], _now: float, _machine: tzinfo) -> Iterator[float]:
    yield int(match["epoch"]) / (1_000 if match["milliseconds"] else 1)


def _seconds(unit: str) -> float:
    return next(seconds for beginning, seconds in _UNITS_S if unit.lower().startswith(beginning))


def _clock(said: dict[str, str | None]) -> tuple[int, int, int] | None:
    """Hour, minute and second, midnight where none is said, and None where the number is no clock time."""
    if said["hour"] is None:
        return 0, 0, 0
    hour, minute, second = int(said["hour"]), int(said["minute"] or 0), int(said["second"] or 0)
    if said["half"] is None:
        return None if said["minute"] is None else (hour, minute, second)
    return (hour % 12 + (12 if said["half"].lower() == "p" else 0), minute, second) if 1 <= hour <= 12 else None


def _zone(said: dict[str, str | None], otherwise: tzinfo) -> tzinfo:
    name = said["named"] or said["bare"]
    if name is None:
        return otherwise
    if name.upper() in {"UTC", "GMT", "Z"}:  # without asking for a zone database
        return UTC
    with suppress(ValueError, KeyError, OSError):
        offset = _OFFSET.fullmatch(name)
        if offset is None:
            return ZoneInfo(name)
        ahead = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"] or 0))
        return timezone(ahead if offset["sign"] == "+" else -ahead)
    return otherwise


def _today(now: float, zone: tzinfo) -> Iterator[datetime]:
    """The day of `now`, if there is one."""
    with suppress(ValueError, OverflowError, OSError):
        yield datetime.fromtimestamp(now, zone)


def _moments(year: int, month: int, day: int, clock: tuple[int, int, int], zone: tzinfo) -> Iterator[float]:
    """No moment where there is no such day or time, and two where clocks are put back."""
    for fold in (0, 1):
        with suppress(ValueError, OverflowError):
            yield datetime(year, month, day, *clock, tzinfo=zone, fold=fold).timestamp()


def _row(pattern: str, read: _Reading) -> tuple[re.Pattern[str], _Reading]:
    return re.compile(pattern, re.IGNORECASE | re.ASCII), read


_TABLE = (
    # Copilot 1.0 "(current limit resets in ~5m)"
    # Codex 0.39 "or try again in 5 days 22 hours 11 minutes.", OpenAI "in 1.898s", Gemini CLI 0.61 "Please retry in 34.07s", "retryDelay"
    _row(rf"{_IN}(?P<duration>{_PART}(?:(?:,|\s|,?\s{{1,9}}and)?\s{{0,9}}{_PART}){{0,5}})", _by_duration),
    # headers and error bodies: "retry-after: 3600", "retry_after_ms": 1500, "resets_in_seconds": 13872
    _row(
        rf"{_END}[-_ ]?(?:in|after)(?:[-_ ]?(?P<unit>milliseconds|ms|seconds|secs|s))?{_IS}(?P<amount>{_AMOUNT})(?![\w:/-]|\.\d|[ \t]{{0,9}}[a-z])",
        _by_number,
    ),
    # Claude Code 1.0 "Claude AI usage limit reached|1749924000"; "resets_at" in what Codex is told
    _row(rf"{_AT}(?P<epoch>\d{{10}}(?P<milliseconds>\d{{3}})?)(?!\d)", _by_epoch),
    # Anthropic's API "You will regain access on 2025-12-01 at 00:00 UTC.", and ISO times
    _row(rf"{_AT}{_YEAR}-(?P<month>\d{{2}})-{_DAY}{_TIME_OF_DAY}", _by_date),
    # Claude Code 2.1.325 "resets Nov 19, 4:52pm (UTC)", Codex 0.166 "try again at Jul 5th, 2026 8:19 PM.", Copilot 1.0 "April 20, 2026 at 2:00 AM"
    _row(rf"{_AT}{_WEEKDAY}{_MONTH}{_GAP}{_DAY}(?:st|nd|rd|th)?(?:,?{_GAP}{_YEAR})?{_TIME_OF_DAY}", _by_date),
    # the date of an HTTP header: "Retry-After: Fri, 20 Nov 2026 17:53:00 GMT"
    _row(rf"{_AT}{_WEEKDAY}{_DAY}{_GAP}{_MONTH},?{_GAP}{_YEAR}{_TIME_OF_DAY}", _by_date),
    # Claude Code 2.1.325 "resets 5:52pm (UTC)", Codex 0.166 "try again at 5:53 PM.", Gemini CLI 0.33 "Access resets at 10:57 PM GMT-3."
    _row(rf"{_AT}{_CLOCK}{_ZONE}", _by_clock),
)
