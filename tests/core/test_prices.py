"""What tokens cost where the agent does not say: the right row, the user's own first, and each kind of token at its own price."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralphloop.core.model import OwnPrice, Price, Usage
from ralphloop.core.prices import PRICES, cost_of, price_of

OWN = Price(input=1.0, output=2.0)
DEARER = Price(input=3.0, output=4.0)


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5", "claude-opus-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-opus-4-8[1m]", "claude-opus-4-8"),
        ("anthropic/claude-fable-5-2", "claude-fable-5-2"),
        ("openrouter/anthropic/claude-opus-4.6", "claude-opus-4-6"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("gpt-5.5-codex", "gpt-5.5"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("openai/gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("GPT-5.1-Codex-Mini", "gpt-5.1-codex-mini"),
        ("models/gemini-2.5-flash-lite", "gemini-2.5-flash-lite"),
        ("gemini-3.1-pro-preview", "gemini-3.1-pro"),
        (" qwen3-coder-plus-2025-07-22 ", "qwen3-coder-plus"),
    ],
)
def test_a_model_has_the_price_of_the_longest_row_that_begins_its_name(model: str, row: str) -> None:
    assert price_of(model) is PRICES[row]


@pytest.mark.parametrize("model", [None, "", "/", "nope-1", "gpt", "gpt-5.9", "o365", "claude", "claude-", "my-gpt-5"])
def test_a_model_that_nobody_knows_has_no_price(model: str | None) -> None:
    assert price_of(model) is None


def own(**rows: Price) -> tuple[OwnPrice, ...]:
    return tuple(OwnPrice(model=model, price=price) for model, price in rows.items())


def test_the_users_own_rows_come_before_the_table_even_where_they_are_shorter() -> None:
    assert price_of("gpt-5-mini", own(**{"gpt-5": OWN})) is OWN
    assert price_of("gpt-5-mini", own(**{"gpt-5-mini": DEARER, "gpt-5": OWN})) is DEARER
    assert price_of("openai/My-Model-7", own(**{"my-model": OWN})) is OWN
    assert price_of("claude-sonnet-4-5", own(**{"Claude-Sonnet-4.5": OWN})) is OWN
    assert price_of("gpt-5.4", own(**{"my-model": OWN})) is PRICES["gpt-5.4"]


def test_a_row_of_the_users_is_for_every_model_whose_name_begins_so() -> None:
    assert price_of("gpt-5.9", own(**{"gpt-5": OWN})) is OWN
    assert price_of("mine", own(mine=OWN)) is OWN
    assert price_of(None, own(mine=OWN)) is None
    assert price_of("mine", own(**{"": OWN})) is None


def test_a_row_with_a_provider_is_for_that_provider_alone() -> None:
    rows = own(**{"openrouter/openai/gpt-5": OWN})
    assert price_of("openrouter/openai/gpt-5", rows) is OWN
    assert price_of("openai/gpt-5", rows) is PRICES["gpt-5"]


def test_each_kind_of_token_has_its_own_price() -> None:
    million = 1_000_000
    usage = Usage(input_tokens=million, output_tokens=million, cache_read_tokens=million, cache_write_tokens=million)
    assert cost_of(usage, Price(input=1.0, output=10.0, cache_read=100.0, cache_write=1_000.0)) == 1_111.0
    assert cost_of(usage, Price(input=1.0, output=10.0)) == 13.0
    assert cost_of(usage, Price(input=1.0, output=10.0, cache_read=0.0, cache_write=0.0)) == 11.0


def test_cached_tokens_are_not_paid_twice() -> None:
    price = Price(input=2.0, output=8.0, cache_read=0.5)
    assert cost_of(Usage(input_tokens=0, cache_read_tokens=1_000_000), price) == 0.5


def test_a_price_in_the_table_is_one() -> None:
    for name, price in PRICES.items():
        assert name == name.lower().strip()
        assert 0 < price.input <= price.output
        assert price.cache_read is None or 0 < price.cache_read < price.input, name
        assert price.cache_write is None or price.cache_write >= price.input, name
        assert price_of(name) is price


COUNTS = st.integers(min_value=0, max_value=10**12)
USAGES = st.builds(Usage, input_tokens=COUNTS, output_tokens=COUNTS, cache_read_tokens=COUNTS, cache_write_tokens=COUNTS)


@given(model=st.text(max_size=20) | st.sampled_from(sorted(PRICES)), suffix=st.text(max_size=8), usage=USAGES)
def test_whatever_an_agent_calls_its_model_the_estimate_is_a_number(model: str, suffix: str, usage: Usage) -> None:
    price = price_of(model + suffix, own(**{suffix: OWN}))
    assert price is None or 0 <= cost_of(usage, price) < math.inf


@pytest.mark.parametrize(
    "model", ["gpt-5.9", "gpt-5.6-pro", "o3-deep-research", "claude-opus-5-6", "claude-sonnet-4-9", "gemini-3.1-pro-ultra", "codex-mini-latest"]
)
def test_a_relative_of_a_known_model_has_no_price(model: str) -> None:
    assert price_of(model) is None
