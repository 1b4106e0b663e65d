"""What a request may cost at worst, held against the limits before any upstream is asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from steelyard.gateway.caps import Caps
from steelyard.gateway.limits.allowance import Allowance, Bill
from steelyard.gateway.messages.api_errors import ApiError
from steelyard.gateway.messages.chat_request import ChatRequest
from steelyard.sampling.llm.prices import MILLION, Price, Prices, price_of


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
