"""What samples and scores of several sources cost: a cost per response, and a price per score for every source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.joint_search import DEAREST
from steelyard.evaluation.source_costs import response_costs
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ScoreError, SettingError, did_you_mean, need_numbers
from steelyard.voting.pools.pool import LabelledPool

Vector = NDArray[np.float64]
ScorePrice = float | Mapping[str, float]


@dataclass(frozen=True)
class PricedPool:
    """A pool whose `tokens` are the cost of every response [R], and what a score of each source's costs [S]."""

    pool: LabelledPool
    score: Vector

    @property
    def sample(self) -> Vector:
        """What one sample of each source costs on average [S]."""
        source, cost = paid(self.pool)
        return np.bincount(source, cost, len(self.score)) / np.maximum(
            np.bincount(source, minlength=len(self.score)), 1
        )

    def check_budget(self, budget: float) -> None:
        """Refuse a budget that is none, or that does not pay for one sample of the cheapest source."""
        need_numbers(budget=budget)
        if not 0 < budget < np.inf:
            raise SettingError(f"budget must be above 0, not {budget:g}: the mean cost per question, as 32")
        cheapest = int(self.sample.argmin())
        if budget < (least := float(self.sample[cheapest])):
            raise SettingError(
                f"a budget of {budget:g} does not pay for one sample of {self.pool.sources[cheapest]} at {least:.4g}, "
                f"the cheapest source: give {least:.4g} or more"
            )

    def split(self, calibrate: float, seed: int) -> tuple[PricedPool, PricedPool]:
        """The questions to choose on, and those to measure on."""
        cal, test = self.pool.split(calibrate, seed=seed)
        return replace(self, pool=cal), replace(self, pool=test)


def priced(
    pool: LabelledPool,
    prices: Mapping[str, float] | None,
    price_sample: float | None,
    price_score: ScorePrice,
) -> PricedPool:
    """Say what every response costs: by tokens, by a price of every sample, or, with neither, by what was read."""
    if pool.source is None:
        raise SettingError(f"this pool does not say who answered: read the table with {argument('source', 'llm')}")
    if pool.scores is None or np.isnan(pool.scores).all():
        raise ScoreError("there are no scores to buy: add some with 'steelyard score', or plan for sources alone")
    if pool.parts is not None:
        names = ", ".join(pool.origin.parts)
        raise ScoreError(
            f"a price is for one score, and these are several ({names}): name one with {argument('score')}"
        )
    score = score_prices(price_score, pool.sources)
    if price_sample is None:
        check_prices("million tokens", prices or {})
        cost = response_costs(pool, prices)
    else:
        if prices is not None:
            raise SettingError("give prices by source, or one price of every sample, not both")
        check_prices("sample", {"": price_sample})
        cost = np.full(pool.n_responses, float(price_sample))
    if not cost.any() and not score.any():
        raise SettingError("samples and scores are all free: there is nothing to save, so take all of both")
    return PricedPool(replace(pool, tokens=cost), score)


def score_prices(price: ScorePrice, sources: tuple[str, ...]) -> Vector:
    """The price of one score of each source [S]: one for all, or one by name for every source.

    >>> score_prices(0.5, ("gpt", "llama")), score_prices({"llama": 1, "gpt": 2}, ("gpt", "llama"))
    (array([0.5, 0.5]), array([2., 1.]))
    """
    if not isinstance(price, Mapping):
        check_prices("score", {"": price})
        return np.full(len(sources), float(price))
    for name in price:
        if name not in sources:
            raise SettingError(
                f"a price of a score for {name!r}, which is no source of these responses: {did_you_mean(name, sources)}"
            )
    check_prices("score", price)
    if missing := [name for name in sources if name not in price]:
        raise SettingError(f"no price of a score for {', '.join(missing[:5])}: give one for every source, or for all")
    return np.array([float(price[name]) for name in sources])


def check_prices(what: str, prices: Mapping[str, float]) -> None:
    """Refuse a price that is none; the name of the source may be empty."""
    for name, price in prices.items():
        need_numbers(price=price)
        if not 0 <= price <= DEAREST:
            of = f" of {name!r}" if name else ""
            raise SettingError(
                f"the price of a {what}{of} is {price:g}: give what one costs, a number from 0 (free) to {DEAREST:g}"
            )


def paid(pool: LabelledPool) -> tuple[NDArray[np.int32], Vector]:
    """Who gave each response of a priced pool, and what it cost [R]."""
    if pool.source is None or pool.tokens is None:
        raise AssertionError("this pool has no costs")
    return pool.source, pool.tokens.astype(np.float64, copy=False)
