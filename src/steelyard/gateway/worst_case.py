"""What a request may cost at worst, held against the limits before any upstream is asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.errors import SettingError
from steelyard.gateway.api_errors import ApiError
from steelyard.gateway.caps import Caps
from steelyard.gateway.chat_request import ChatRequest

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """What a million tokens cost, of the prompt and of the response."""

    prompt: float
    completion: float

    def of(self, usage: dict[str, Any] | None) -> float | None:
        """The cost of a usage; None where nobody counted it.

        >>> Price(1.0, 4.0).of({"prompt_tokens": 1000, "completion_tokens": 500}), Price(1.0, 4.0).of(None)
        (0.003, None)
        """
        counts = [(usage or {}).get(name) for name in ("prompt_tokens", "completion_tokens")]
        if not all(type(count) is int for count in counts):
            return None
        return (counts[0] * self.prompt + counts[1] * self.completion) / MILLION  # type: ignore[operator]


def read_price(text: str) -> Price:
    """Read the prices of a million tokens, of the prompt and of the response.

    >>> read_price("0.15,0.6")
    Price(prompt=0.15, completion=0.6)
    """
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        prompt = completion = math.nan
    if not (0 <= prompt < math.inf and 0 <= completion < math.inf):
        raise SettingError(f"cannot read the prices {text!r:.60}: write those of a million tokens as IN,OUT")
    return Price(prompt, completion)


Prices = Mapping[str, Price]  # by the name of the upstream; those of the empty name are for all others


def read_prices(texts: Sequence[str]) -> Prices:
    """Read prices, for all upstreams or as NAME=IN,OUT for one.

    >>> read_prices(["0.15,0.6", "big=2,8"])["big"]
    Price(prompt=2.0, completion=8.0)
    """
    found: dict[str, Price] = {}
    for text in texts:
        name, _, numbers = text.rpartition("=")
        if name.strip() in found:
            raise SettingError(
                f"--token-price has the prices {text!r:.60} after others for the same upstream: give them once"
            )
        found[name.strip()] = read_price(numbers)
    return found


def price_of(prices: Prices, source: str) -> Price | None:
    """The prices of an upstream, where they are known."""
    return prices.get(source, prices.get(""))


def sample_limit(
    asked: ChatRequest, samples: Mapping[str, int], caps: Caps, prices: Prices, most: int | None = None
) -> int | None:
    """The most tokens of each sample, where there is a limit; a request that may go beyond it is refused.

    `samples` says how many are drawn of each upstream, and `most` what the client allows for all of them together. A
    token of the prompt has at least one byte.
    """
    n = sum(samples.values())
    limits = [limit // n for limit in (most, caps.tokens) if limit is not None]
    priced = [(count, price) for name, count in samples.items() if (price := price_of(prices, name))]
    dear = sum(count * price.completion for count, price in priced)
    if caps.cost is not None and dear > 0:
        size = sum(len(written) for written in asked.members.written.values())
        left = caps.cost - sum(count * size * price.prompt for count, price in priced) / MILLION
        limits.append(math.floor(left * MILLION / dear))
    if not limits:
        return None
    each = min(limits)
    if each < 1 or (asked.max_tokens or 0) > each:
        wanted = f"up to {asked.max_tokens:,}" if asked.max_tokens else "at least one"
        raise ApiError(
            400, f"{n} samples of {wanted} tokens may go beyond what is allowed, {max(0, each):,} each: ask for fewer "
            "samples (steelyard.n), or for shorter ones (max_tokens)", param="max_tokens", code="over_budget",
        )  # fmt: skip
    return each
