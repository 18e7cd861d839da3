"""Numbers are said as a person says them."""

from __future__ import annotations

import time

import pytest

from ralphloop.views.figures import count, duration, iso, magnitude, moment, money, tokens


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3.0, "0.0s"),
        (1.23, "1.2s"),
        (9.94, "9.9s"),
        (9.96, "10s"),
        (41.2, "41s"),
        (59.7, "1m0s"),
        (367.0, "6m7s"),
        (3599.6, "1h00m"),
        (7500.0, "2h05m"),
        (273_600.0, "3d4h"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0"), (999, "999"), (1234, "1.2K"), (45_000, "45K"), (9_960, "10K"), (999_600, "1M"), (1_200_000, "1.2M")]
)
def test_magnitudes(number: int, words: str) -> None:
    assert magnitude(number) == words


def test_money_is_never_nothing_when_something_was_spent_and_an_estimate_is_marked() -> None:
    assert [money(0), money(0.001), money(5.76), money(1234.5), money(0.1, estimated=True)] == ["$0.00", "<$0.01", "$5.76", "$1,234.50", "~$0.10"]


def test_counts_and_tokens() -> None:
    assert (count(1, "task"), count(2, "task")) == ("1 task", "2 tasks")
    assert tokens(350_000, 850_000, 45_000) == "1.2M in (850K cached) / 45K out"
    assert tokens(10, 0, 5) == "10 in / 5 out"


def test_a_time_of_another_day_says_which_day() -> None:
    noon = time.mktime((2026, 1, 23, 12, 0, 0, 0, 0, -1))
    assert moment(noon + 3900, noon) == "13:05"
    assert moment(noon + 86400, noon) == time.strftime("%a %d %b 12:00", time.localtime(noon + 86400))


def test_a_moment_for_machines_is_utc() -> None:
    assert iso(1_769_162_400.0) == "2026-01-23T10:00:00Z"
