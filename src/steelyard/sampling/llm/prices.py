"""What tokens cost: the prices of --token-price, by upstream."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from steelyard.foundation.errors import SettingError, did_you_mean
from steelyard.runs.token_usage import Usage

MILLION = 1_000_000
DEFAULT_CURRENCY = "USD"


@dataclass(frozen=True)
class Price:
    """The price of a million tokens of prompts, and of responses."""

    prompt: float
    completion: float
    currency: str = field(default=DEFAULT_CURRENCY, repr=False)

    def of(self, usage: dict[str, Any] | None) -> float | None:
        """The cost of a usage; None if its tokens were not reported.

        >>> Price(1.0, 4.0).of({"prompt_tokens": 1000, "completion_tokens": 500}), Price(1.0, 4.0).of(None)
        (0.003, None)
        """
        counts = [(usage or {}).get(name) for name in ("prompt_tokens", "completion_tokens")]
        if not all(type(count) is int for count in counts):
            return None
        return (counts[0] * self.prompt + counts[1] * self.completion) / MILLION  # type: ignore[operator]


def read_price(text: str) -> Price:
    """Read the price of a million input and output tokens, and its currency.

    >>> read_price("0.15,0.6")
    Price(prompt=0.15, completion=0.6)
    >>> read_price("0.15,0.6,EUR").currency
    'EUR'
    """
    *numbers, last = (part.strip() for part in text.split(","))
    currency = last if re.fullmatch("[A-Z]{3}", last) else DEFAULT_CURRENCY
    try:
        prompt, completion = map(float, numbers if last == currency else [*numbers, last])
    except ValueError:
        prompt = completion = math.nan
    if not (0 <= prompt < math.inf and 0 <= completion < math.inf):
        raise SettingError(
            f"cannot read the prices {text!r:.60}: write the price of a million input and output tokens as IN,OUT, or "
            "as IN,OUT,EUR for a currency other than USD"
        )
    return Price(prompt, completion, currency)


Prices = Mapping[str, Price]  # by the name of the upstream; the empty name is for all others
VERIFIER = "verifier"  # the name for the prices of a verifier's own server


def read_prices(texts: Sequence[str]) -> Prices:
    """Read prices, for all upstreams or as NAME=IN,OUT for one.

    >>> read_prices(["0.15,0.6", "big=2,8"])["big"]
    Price(prompt=2.0, completion=8.0)
    """
    prices: dict[str, Price] = {}
    for text in texts:
        name, _, numbers = text.rpartition("=")
        if name.strip() in prices:
            raise SettingError(f"--token-price {text!r:.60} is the second price of the same upstream: give only one")
        prices[name.strip()] = read_price(numbers)
    if len(currencies := sorted({price.currency for price in prices.values()})) > 1:
        raise SettingError(f"--token-price mixes {' and '.join(currencies)}: give all prices in one currency")
    return prices


def check_price_names(prices: Prices, names: Iterable[str]) -> None:
    """Refuse a price by name that is for none of the servers with these names."""
    named = [name for name in names if name]
    for name in prices:
        if name and name not in named:
            raise SettingError(
                f"there are prices for {name!r:.60} and no such upstream: {did_you_mean(name, named)}; a price without "
                "a name is for all"
            )


def currency_of(prices: Prices) -> str | None:
    """The currency of all prices; None if there are no prices."""
    return next((price.currency for price in prices.values()), None)


def price_of(prices: Prices, source: str) -> Price | None:
    """The prices of an upstream, if they are known."""
    return prices.get(source, prices.get(""))


def cost(usage: Usage, price: Price | None) -> float | None:
    """What requests cost; None if the price is unknown or the server did not report all tokens.

    >>> cost(Usage(2, 8, prompt_tokens=1000, completion_tokens=500), Price(1.0, 4.0))
    0.003
    """
    return None if price is None or usage.uncounted else price.of(vars(usage))


def total_cost(spent: Mapping[str, Usage], prices: Prices) -> float | None:
    """What the requests to all upstreams cost together; None if one of the costs is unknown."""
    costs = [cost(usage, price_of(prices, name)) for name, usage in spent.items() if usage.requests]
    return None if None in costs or not prices else sum(amount for amount in costs if amount is not None)
