"""What a request may cost at worst, held against the limits before any upstream is asked."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from steelyard.errors import SettingError
from steelyard.gateway.allowance import Allowance, Bill
from steelyard.gateway.api_errors import ApiError
from steelyard.gateway.caps import Caps
from steelyard.gateway.chat_request import ChatRequest

MILLION = 1_000_000
DOLLAR = "USD"


@dataclass(frozen=True)
class Price:
    """What a million tokens cost, of the prompt and of the response."""

    prompt: float
    completion: float
    currency: str = field(default=DOLLAR, repr=False)

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
    """Read the prices of a million tokens, of the prompt and of the response, and their currency.

    >>> read_price("0.15,0.6")
    Price(prompt=0.15, completion=0.6)
    >>> read_price("0.15,0.6,EUR").currency
    'EUR'
    """
    *numbers, last = (part.strip() for part in text.split(","))
    currency = last if re.fullmatch("[A-Z]{3}", last) else DOLLAR
    try:
        prompt, completion = map(float, numbers if last == currency else [*numbers, last])
    except ValueError:
        prompt = completion = math.nan
    if not (0 <= prompt < math.inf and 0 <= completion < math.inf):
        raise SettingError(
            f"cannot read the prices {text!r:.60}: write those of a million tokens as IN,OUT, or IN,OUT,EUR for a "
            "currency other than USD"
        )
    return Price(prompt, completion, currency)


Prices = Mapping[str, Price]  # by the name of the upstream; those of the empty name are for all others
VERIFIER = "verifier"  # the name under which the prices of a verifier's own server are given


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
    if len(currencies := sorted({price.currency for price in found.values()})) > 1:
        raise SettingError(f"--token-price mixes {' and '.join(currencies)}: give all prices in one currency")
    return found


def currency_of(prices: Prices) -> str | None:
    """The one currency of all prices; None where there are no prices."""
    return next((price.currency for price in prices.values()), None)


def price_of(prices: Prices, source: str) -> Price | None:
    """The prices of an upstream, where they are known."""
    return prices.get(source, prices.get(""))


class Reading(NamedTuple):
    """What a verifier's server is billed for a score, all tries together, at worst."""

    fixed: int  # tokens that are read beside the response
    per_token: int  # tokens that are read for each of the response
    written: int  # tokens
    price: Price | None


NOTHING = Reading(0, 0, 0, None)
FREE = Price(0.0, 0.0)


class Budget(NamedTuple):
    """The most tokens of each sample, where there is a limit, and what is left beside the worst case of all of them."""

    each: int | None = None
    allowance: Allowance | None = None


def budget(
    asked: ChatRequest,
    samples: Mapping[str, int],
    caps: Caps,
    prices: Prices,
    most: int | None = None,
    reading: Reading = NOTHING,
) -> Budget:
    """What each sample may take; a request that may go beyond the limits is refused.

    `samples` says how many are drawn of each upstream, and `most` what the client allows for all of them together, with
    their scores. A token of the prompt has at least one byte.
    """
    n = sum(samples.values())
    tokens = min((limit for limit in (most, caps.tokens) if limit is not None), default=math.inf)
    cost = math.inf if caps.cost is None else caps.cost * MILLION
    if tokens == cost == math.inf:
        return Budget()
    size = asked.size
    priced = {name: price_of(prices, name) or FREE for name in samples}
    score = reading.price or FREE
    beside = Bill(
        n * (reading.fixed + reading.written),
        sum(count * size * priced[name].prompt for name, count in samples.items())
        + n * (reading.fixed * score.prompt + reading.written * score.completion),
    )
    per_token = Bill(
        n * (1 + reading.per_token),
        sum(count * priced[name].completion for name, count in samples.items()) + n * reading.per_token * score.prompt,
    )
    each = min(_share(tokens - beside.tokens, per_token.tokens), _share(cost - beside.cost, per_token.cost))
    if each == math.inf:
        return Budget()
    if each < 1 or (asked.max_tokens or 0) > each:
        wanted = f"up to {asked.max_tokens:,}" if asked.max_tokens else "at least one"
        scores = " and their scores" if reading != NOTHING else ""
        raise ApiError(
            400, f"{n} samples of {wanted} tokens{scores} may go beyond what is allowed, {max(0, each):,} each: ask "
            "for fewer samples (steelyard.n), or for shorter ones (max_tokens)", param="max_tokens", code="over_budget",
        )  # fmt: skip
    taken = asked.max_tokens or each
    left = Bill(
        tokens - beside.tokens - per_token.tokens * taken, (cost - beside.cost - per_token.cost * taken) / MILLION
    )
    worst = {
        name: Bill(taken, (size * price.prompt + taken * price.completion) / MILLION) for name, price in priced.items()
    }
    spared = {name: price.completion / MILLION for name, price in priced.items()}
    return Budget(int(each), Allowance(left, worst, spared))


def _share(left: float, price: float) -> float:
    """How often a price can be paid, in whole numbers; where it is nothing, as often as one likes, or never."""
    if price > 0 and left < math.inf:
        return math.floor(left / price)
    return math.inf if left >= 0 else 0
