"""When a usage limit ends: read from the clients' own wordings, and from nothing else."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ralphloop.agents.reset_time import reset_time
from ralphloop.agents.resets import with_reset
from ralphloop.core.model import UsageLimit

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 16, 16, 52, 20, tzinfo=UTC)  # a Monday; 17:52:20 in Berlin
SAID = NOW.timestamp()
HORIZON_S = 35 * 86_400

MOMENTS = [
    # Claude Code
    ("You've hit your 5-hour limit · resets 5:52pm (UTC)", "2026-11-16T17:52:00"),
    ("You've hit your weekly limit · resets Nov 19, 4:52pm (UTC)", "2026-11-19T16:52:00"),
    ("You've hit your session limit · resets 3am (Europe/Berlin)", "2026-11-17T02:00:00"),
    ("You've hit your limit · resets 11pm (America/Anchorage)", "2026-11-17T08:00:00"),
    ("You've hit your org's monthly spend limit · your weekly limit resets Nov 19, 2026, 4:52pm (UTC)", "2026-11-19T16:52:00"),
    ("Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).", "2026-11-16T18:00:00"),
    ("Claude AI usage limit reached|1794851537", "2026-11-16T17:52:17"),
    ("Session limit reached \u2219 resets 12:59am", "2026-11-16T23:59:00"),
    ("You've hit your Fable limit · resets Nov 21, 11:49pm (UTC). Switch to another model to continue.", "2026-11-21T23:49:00"),
    ('API Error: 429 {"error":{"message":"spend limit reached · resets Nov 18 · ask your admin"}}', "2026-11-18T00:00:00"),
    ("You have reached your specified API usage limits. You will regain access on 2026-11-20 at 00:00 UTC.", "2026-11-20T00:00:00"),
    # Codex
    ("You\u2019ve hit your usage limit. Try again at 6:53 PM.", "2026-11-16T17:53:00"),
    (
        "You\u2019ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), or try again at Nov 20th, 2026 5:53 PM.",
        "2026-11-20T16:53:00",
    ),
    ("You've hit your usage limit. Upgrade to Pro or try again in 5 days 22 hours 11\nminutes.", "2026-11-22T15:03:20"),
    ("Try again in less than a minute.", "2026-11-16T16:53:20"),
    ("Rate limit reached for gpt-5 on tokens per min: Limit 30000. Please try again in 1.898s.", "2026-11-16T16:52:21.898"),
    ("Please try again in 6m0s.", "2026-11-16T16:58:20"),
    ("Please try again in 250ms.", "2026-11-16T16:52:20.250"),
    ('{"type":"usage_limit_reached","resets_at":1794851537,"resets_in_seconds":3597}', "2026-11-16T17:52:17"),
    ('{\\"resets_in_seconds\\":3600}', "2026-11-16T17:52:20"),
    # Gemini CLI
    ("Please retry in 34.07s.", "2026-11-16T16:52:54.070"),
    ("You have exhausted your capacity on this model. Your quota will reset after 3h12m5s.", "2026-11-16T20:04:25"),
    ("Quota exceeded. Suggested retry after 60s.", "2026-11-16T16:53:20"),
    ("Usage limit reached for gemini-3-flash-preview. Access resets at 10:57 PM GMT-3.", "2026-11-17T01:57:00"),
    ('"@type": "RetryInfo", "retryDelay": "34s"', "2026-11-16T16:52:54"),
    # Copilot
    ("Please try again in 51 hours. Please review our Terms of Service", "2026-11-18T19:52:20"),
    ("Please try again in 15 hours 23 minutes.", "2026-11-17T08:15:20"),
    ("Sorry, your request was rate-limited. Please wait 2 minutes before trying again.", "2026-11-16T16:54:20"),
    ("Please wait for your limit to reset on November 20, 2026 at 2:00 AM or switch to auto", "2026-11-20T01:00:00"),
    ("Please wait 587 hours 33 minutes before trying again.", "2026-12-11T04:25:20"),
    # anything else
    ("You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.", "2026-12-01T00:00:00"),
    ("retry after 3600 seconds", "2026-11-16T17:52:20"),
    ("Retry-After: 3600\nContent-Length: 5", "2026-11-16T17:52:20"),
    ('"retry_after_ms": 1500', "2026-11-16T16:52:21.500"),
    ("Retry-After: Fri, 20 Nov 2026 17:53:00 GMT", "2026-11-20T17:53:00"),
    ("available again in about 1 day, 2 hours and 5 minutes", "2026-11-17T18:57:20"),
    ("resets at 2026-11-20T17:00:00.5+02:00", "2026-11-20T15:00:00"),
    ('"resetsAt": "2026-11-20T17:00:00Z"', "2026-11-20T17:00:00"),
    ("resets 2026-11-20 17:00", "2026-11-20T16:00:00"),
    ("reset at 1794851537000", "2026-11-16T17:52:17"),
    ("resets 23:30", "2026-11-16T22:30:00"),
    ("resets 12am", "2026-11-16T23:00:00"),
    ("resets 12 p.m. (+05:30)", "2026-11-17T06:30:00"),
    ("resets Feb 30, 5pm; resets 25:00; resets 5pm (UTC)", "2026-11-16T17:00:00"),
]


@pytest.mark.parametrize(("words", "moment"), MOMENTS, ids=[words[:60] for words, _ in MOMENTS])
def test_a_limit_ends_when_the_client_says(words: str, moment: str) -> None:
    ends = reset_time(words, SAID, BERLIN)
    assert ends is not None
    assert datetime.fromtimestamp(ends, UTC) == datetime.fromisoformat(moment).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.",
        "limited to 5 hours of use",
        "You have 100 requests in 5 hours.",
        "at 5:53 PM the server was restarted",
        "You\u2019ve hit your usage limit, or wait for limits to reset (every 5h and every week.).",
        "the preset in 5s",
        "resets 5",
        "resets 13pm",
        "resets 0am",
        "resets 25:00",
        "resets 5:99pm",
        "resets Feb 30, 5pm",
        "resets Nov 20, 99999 5pm",
        "resets Nov 200",
        "resets 2026-13-01",
        "retry after 3600x",
        "resets in 1e5 seconds",
        "resets_at: nan",
    ],
)
def test_a_text_that_names_no_moment_has_none(words: str) -> None:
    assert reset_time(words, SAID, BERLIN) is None


@pytest.mark.parametrize(
    "words",
    [
        "Please wait 987 hours 33 minutes before trying again.",
        "resets Jan 1, 3am (UTC)",
        "try again at Jul 5th, 2027 8:19 PM.",
        "Claude AI usage limit reached|1749924000",
        "resets Nov 16, 2026, 4:51pm (UTC)",
        "resets Nov 15, 4:52pm (UTC)",
        "regain access on 2027-01-01 at 00:00 UTC",
    ],
)
def test_a_moment_that_is_over_or_beyond_any_limit_is_no_answer(words: str) -> None:
    assert reset_time(words, SAID, UTC) is None


@pytest.mark.parametrize("words", ["resets 4:52pm (UTC)", "resets Nov 16, 4:52pm (UTC)", f"resets_at={int(SAID) - 59}"])
def test_a_moment_that_has_just_come_is_now_and_not_tomorrow(words: str) -> None:
    assert reset_time(words, SAID, UTC) == SAID


def test_the_first_moment_that_is_named_counts() -> None:
    assert reset_time("retry after 60s; resets 5:52pm (UTC); retry in 5s", SAID, UTC) == SAID + 60


def test_a_date_without_a_year_is_in_the_year_that_comes() -> None:
    eve = datetime(2026, 12, 31, 23, 0, tzinfo=UTC).timestamp()
    assert reset_time("resets Jan 2, 3am (UTC)", eve, UTC) == datetime(2027, 1, 2, 3, tzinfo=UTC).timestamp()
    new_year = datetime(2027, 1, 1, 0, 0, 30, tzinfo=UTC).timestamp()
    assert reset_time("resets Dec 31, 11:59pm (UTC)", new_year - 1, UTC) is None
    assert reset_time("resets Dec 31, 11:59pm (UTC)", new_year - 31, UTC) == new_year - 31


@pytest.mark.parametrize("name", ["Nowhere/City", "Europe", "PST", "+99:00", "a" * 49, "../../etc/passwd"])
def test_a_zone_that_nobody_knows_is_the_machines(name: str) -> None:
    assert reset_time(f"resets 6:30pm ({name})", SAID, BERLIN) == datetime(2026, 11, 16, 18, 30, tzinfo=BERLIN).timestamp()


def test_a_machine_without_a_zone_database_knows_utc_and_its_own_zone() -> None:
    zoneinfo.reset_tzpath(to=())
    ZoneInfo.clear_cache()
    try:
        assert reset_time("resets 5:52pm (UTC)", SAID, BERLIN) == datetime(2026, 11, 16, 17, 52, tzinfo=UTC).timestamp()
        assert reset_time("resets 6:52pm (Europe/Berlin)", SAID, BERLIN) == datetime(2026, 11, 16, 18, 52, tzinfo=BERLIN).timestamp()
    finally:
        zoneinfo.reset_tzpath()
        ZoneInfo.clear_cache()


def test_an_hour_that_comes_twice_is_the_one_that_is_still_to_come() -> None:
    between = datetime(2026, 10, 25, 0, 45, tzinfo=UTC).timestamp()  # 2:45 in Berlin, for the first time
    assert reset_time("resets 2:30am", between, BERLIN) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC).timestamp()


def test_an_hour_that_does_not_come_is_near_where_it_would_be() -> None:
    before = datetime(2026, 3, 29, 0, 0, tzinfo=UTC).timestamp()  # in Berlin, 2:00 is 3:00
    assert reset_time("resets 2:30am", before, BERLIN) in {before + 1_800, before + 5_400}


HOSTILE = [
    "resets ",
    "resets at ",
    "wait  ",
    "try again ",
    "resets ((",
    "resets 5pm (X/Y) ",
    "retry in 1h",
    "1h",
    "resets Nov 1 ",
    "resets\t\n",
    "\ud800\0",
    "9",
]


@pytest.mark.parametrize("part", HOSTILE)
def test_half_a_megabyte_of_anything_is_read_in_no_time(part: str) -> None:
    for words in (part * (500_000 // len(part)), "resets in " + part * 50_000, "resets at 5pm (" + part * 50_000):
        reset_time(words, SAID, UTC)  # a pattern that backtracks without bound would never come back


def test_the_end_of_a_long_text_is_read_too() -> None:
    assert reset_time("x" * 500_000 + " retry in 5s", SAID, UTC) == SAID + 5


ZONES = st.sampled_from([UTC, BERLIN, ZoneInfo("America/Anchorage"), ZoneInfo("Australia/Lord_Howe"), timezone(timedelta(hours=14))])
TIMES = st.floats(min_value=0, max_value=4e9)
PIECES = st.sampled_from(
    ["resets ", "try again at ", "retry in ", "wait ", "Nov ", "Feb ", "29, ", "2028 ", "99999", "25:61", "5:30pm", "12am", "(UTC)", "(Europe/Berlin)", "GMT-99",
     "3h", "999999999 weeks", "1.5", "\u017f", "\u212a", "\u0130", "\u0663", "\n", "|", "0000-00-00", "9999-12-31T23:59:59Z", "0001-01-01", "9999999999"],
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join)


@given(words=TEXTS, now=st.floats() | TIMES, zone=ZONES)
@example(words="resets 5pm", now=float("nan"), zone=UTC)
@example(words="resets Nov 5, 5pm (Europe/Berlin)", now=253_402_300_799.0, zone=BERLIN)
@example(words="resets 5pm", now=-62_135_596_800.0, zone=BERLIN)
def test_whatever_is_said_there_is_no_answer_or_one_within_eight_days(words: str, now: float, zone: ZoneInfo) -> None:
    ends = reset_time(words, now, zone)
    assert ends is None or now <= ends <= now + HORIZON_S


@given(now=TIMES, wait=st.integers(0, 7 * 24 * 60), zone=ZONES)
def test_a_duration_is_counted_from_when_it_was_said(now: float, wait: int, zone: ZoneInfo) -> None:
    days, minutes = divmod(wait, 24 * 60)
    assert reset_time(f"try again in {days} days {minutes // 60} hours {minutes % 60} minutes.", now, zone) == pytest.approx(now + wait * 60)


@given(now=TIMES, wait=st.integers(60, 86_400 - 7_200), zone=ZONES)
def test_a_clock_time_is_met_to_the_minute(now: float, wait: int, zone: ZoneInfo) -> None:
    then = datetime.fromtimestamp(now + wait, zone)
    ends = reset_time(f"You've hit your 5-hour limit · resets {then:%I:%M%p}".lower(), now, zone)
    assert ends is not None
    assert f"{datetime.fromtimestamp(ends, zone):%H:%M}" == f"{then:%H:%M}"
    assert ends <= now + wait


@given(now=TIMES, wait=st.integers(60, 7 * 86_400), zone=ZONES)
def test_a_date_is_met_to_the_minute(now: float, wait: int, zone: ZoneInfo) -> None:
    then = datetime.fromtimestamp(now + wait, zone)
    day = f"{then:%b} {then.day}"
    for words in (f"resets {day}, {then:%I:%M%p}", f"try again at {day}th, {then.year} {then:%I:%M %p}.", f"resets at {then:%Y-%m-%dT%H:%M}"):
        ends = reset_time(words, now, zone)
        assert ends is not None
        assert f"{datetime.fromtimestamp(ends, zone):%F %H:%M}" == f"{then:%F %H:%M}"


@pytest.mark.parametrize(
    ("words", "ends_s"),
    [
        ("try again at 4:52 PM. (UTC)", 40.0),  # this very minute
        ("resets 4:53pm (UTC)", 100.0),
        ("try again in 30s", 30.0),
        ("resets at 1794851537", 1794851537 - SAID),
    ],
)
def test_a_loop_waits_for_the_end_of_the_minute_that_was_named(words: str, ends_s: float) -> None:
    limit = with_reset(UsageLimit(resets_at=None, text=words.replace(". (UTC)", " (UTC)")), SAID)
    assert limit is not None
    assert limit.resets_at == SAID + ends_s
