"""What tokens cost, for clients that report tokens and no cost: an estimate, which the user's own rows override.

Prices change, so whatever is computed from this table is marked as an estimate wherever it is shown.
The table has list prices for standard calls. What differs from call to call is not in it: surcharges for a long context, batch or priority calls,
a longer life of the cache, taxes, subscriptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ralphloop.core.model import OwnPrice, Price, Usage

_MILLION = 1_000_000
_SAME_MODEL = re.compile(r"(?:[-@](?:\d{3,8}(?:-\d{2}){0,2}|latest|preview|exp|codex|max|chat|thinking|low|medium|high|v\d(?::\d)?)|\[1m\]){0,4}")


def _price(input_: float, output: float, cache_read: float | None = None, cache_write: float | None = None) -> Price:
    return Price(input=input_, output=output, cache_read=cache_read, cache_write=cache_write)


PRICES: dict[str, Price] = {
    # Claude: measured as the total_cost_usd of Claude Code 2.1.325 for known usage, 2026-11-19; cache writes are those that live five minutes
    "claude-opus-5-5": _price(4.0, 20.0, 0.2, 5.0),
    "claude-opus-5": _price(5.0, 25.0, 0.5, 6.25),
    "claude-opus-4-8": _price(5.0, 25.0, 0.5, 6.25),
    "claude-opus-4-7": _price(5.0, 25.0, 0.5, 6.25),
    "claude-opus-4-6": _price(5.0, 25.0, 0.5, 6.25),
    "claude-opus-4-5": _price(5.0, 25.0, 0.5, 6.25),
    "claude-sonnet-5-5": _price(2.0, 10.0, 0.1, 2.5),
    "claude-sonnet-5": _price(2.0, 10.0, 0.2, 2.5),
    "claude-sonnet-4-6": _price(3.0, 15.0, 0.3, 3.75),
    "claude-sonnet-4-5": _price(3.0, 15.0, 0.3, 3.75),
    "claude-sonnet-4": _price(3.0, 15.0, 0.3, 3.75),
    "claude-haiku-5-5": _price(0.1, 0.5, 0.01, 0.125),  # up to 100,000 tokens of context; above that five times as much
    "claude-haiku-4-5": _price(1.0, 5.0, 0.1, 1.25),
    "claude-fable-5-2": _price(8.0, 40.0, 0.2, 10.0),
    "claude-fable-5-1": _price(10.0, 50.0, 0.25, 12.5),
    "claude-fable-5": _price(10.0, 50.0, 1.0, 12.5),
    "claude-mythos-5-2": _price(8.0, 40.0, 0.2, 10.0),
    "claude-mythos-5-1": _price(10.0, 50.0, 0.25, 12.5),
    "claude-mythos-5": _price(10.0, 50.0, 1.0, 12.5),
    "claude-3-7-sonnet": _price(3.0, 15.0, 0.3, 3.75),
    "claude-3-5-haiku": _price(0.8, 4.0, 0.08, 1.0),
    # Claude Code 2.1.325 puts opus-5-5 in the place of this one; other clients still name it: genai-prices 0.2.3, read 2026-11-19
    "claude-opus-4-1": _price(15.0, 75.0, 1.5, 18.75),
    # OpenAI: litellm 1.109.1, samples of each generation compared with genai-prices 0.2.3, both read 2026-11-19
    "gpt-6.1-sol": _price(2.0, 10.0, 0.1, 2.5),
    "gpt-6.1-terra": _price(1.0, 5.0, 0.05, 1.25),
    "gpt-6-astra": _price(10.0, 50.0, 1.0, 12.5),
    "gpt-6-sol": _price(2.0, 10.0, 0.2, 2.5),
    "gpt-6-luna": _price(0.1, 0.5, 0.01, 0.125),
    "gpt-5.6": _price(4.0, 20.0, 0.4, 5.0),
    "gpt-5.6-terra": _price(2.0, 12.0, 0.2, 2.5),
    "gpt-5.6-luna": _price(0.2, 1.2, 0.02, 0.25),
    "gpt-5.5": _price(5.0, 30.0, 0.5),
    "gpt-5.5-pro": _price(30.0, 180.0),
    "gpt-5.4": _price(2.5, 15.0, 0.25),
    "gpt-5.4-mini": _price(0.75, 4.5, 0.075),
    "gpt-5.4-nano": _price(0.2, 1.25, 0.02),
    "gpt-5.4-pro": _price(30.0, 180.0),
    "gpt-5.3-codex": _price(1.75, 14.0, 0.175),
    "gpt-5.2": _price(1.75, 14.0, 0.175),
    "gpt-5.1": _price(1.25, 10.0, 0.125),
    "gpt-5.1-codex-mini": _price(0.25, 2.0, 0.025),
    "gpt-5": _price(1.25, 10.0, 0.125),
    "gpt-5-pro": _price(15.0, 120.0),
    "gpt-5.2-pro": _price(21.0, 168.0),
    "gpt-5-mini": _price(0.25, 2.0, 0.025),
    "gpt-5-nano": _price(0.05, 0.4, 0.005),
    "gpt-4.1": _price(2.0, 8.0, 0.5),
    "gpt-4.1-mini": _price(0.4, 1.6, 0.1),
    "o4-mini": _price(1.1, 4.4, 0.275),
    "o3": _price(2.0, 8.0, 0.5),
    "o3-pro": _price(20.0, 80.0),
    # Codex names no model: where none is set either, it is charged as its maker's general model of the day
    "codex": _price(5.0, 30.0, 0.5),
    # Gemini: litellm 1.109.1, samples compared with genai-prices 0.2.3, both read 2026-11-19; the first tier, up to 200,000 tokens of context
    "gemini-4-argon": _price(2.0, 10.0, 0.1),
    "gemini-3.8-flash": _price(0.75, 3.75, 0.075),
    "gemini-3.7-flash": _price(0.75, 3.75, 0.075),
    "gemini-3.6-flash": _price(0.75, 3.75, 0.075),
    "gemini-3.5-flash": _price(1.5, 9.0, 0.15),
    "gemini-3.5-flash-lite": _price(0.3, 2.5, 0.03),
    "gemini-3.1-pro": _price(2.0, 12.0, 0.2),
    "gemini-3.1-flash-lite": _price(0.25, 1.5, 0.025),
    "gemini-3-flash": _price(0.5, 3.0, 0.05),
    "gemini-2.5-pro": _price(1.25, 10.0, 0.125),
    "gemini-2.5-flash": _price(0.3, 2.5, 0.03),
    "gemini-2.5-flash-lite": _price(0.1, 0.4, 0.01),
    # Qwen, by Alibaba's international platform: litellm 1.109.1, read 2026-11-19; the first tier, up to 32,000 tokens of context where there are tiers
    "qwen3.8-max": _price(2.0, 6.0, 0.25, 2.5),
    "qwen3.8-flash": _price(0.15, 0.47, 0.016, 0.2),
    "qwen3.7-plus": _price(0.4, 1.6, 0.08),
    "qwen3.5-plus": _price(0.4, 2.4),
    "qwen3-max": _price(1.2, 6.0),
    "qwen3-coder-plus": _price(1.0, 5.0, 0.1),
    "qwen3-coder-flash": _price(0.3, 1.5, 0.08),
    # others, where litellm 1.109.1 and genai-prices 0.2.3 say the same, read 2026-11-19
    "grok-4.7": _price(2.0, 6.0, 0.5),
    "grok-4.3": _price(1.25, 2.5, 0.2),
    "kimi-k3": _price(3.0, 15.0, 0.3),
}
"""By the beginning of a model's name. A price that its sources do not agree on is not here."""


def price_of(model: str | None, own: Iterable[OwnPrice] = ()) -> Price | None:
    """The price of a model, None where it is not known: the user's own rows come before the table, the longest beginning of the name before shorter."""
    whole = _plain(model or "")
    names = (whole, _plain(whole.rpartition("/")[2]))
    set_by_user = {start: row.price for row in own if (start := _plain(row.model)) and any(name.startswith(start) for name in names)}
    listed = {start: price for start, price in PRICES.items() if any(_begins(name, start) for name in names)}
    fitting = set_by_user or listed
    return fitting[max(fitting, key=len)] if fitting else None


def cost_of(usage: Usage, price: Price) -> float:
    """US dollars for `usage`, whose input_tokens EXCLUDE those read from and written to the cache, as Claude counts; adapters convert what others say."""
    dollars = (
        usage.input_tokens * price.input
        + usage.output_tokens * price.output
        + usage.cache_read_tokens * (price.input if price.cache_read is None else price.cache_read)
        + usage.cache_write_tokens * (price.input if price.cache_write is None else price.cache_write)
    )
    return dollars / _MILLION


def _plain(name: str) -> str:
    """The name without what clients and platforms put around it: `us.anthropic.claude-…`, `claude-sonnet-4.5` (GitHub Copilot)."""
    plain = name.strip().lower()
    _, claude, version = plain.rpartition("claude-")
    return claude + version.replace(".", "-") if claude else plain


def _begins(name: str, start: str) -> bool:
    """Whether `name` is `start`, perhaps of a day or for a purpose: gpt-5-2025-08-07 is gpt-5, and the price of gpt-5.9 or gpt-5-pro is anybody's guess."""
    return name.startswith(start) and _SAME_MODEL.fullmatch(name[len(start) :]) is not None
