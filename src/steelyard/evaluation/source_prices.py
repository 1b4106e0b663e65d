"""The costs of samples and scores of several sources: prices per million tokens, or costs that were read."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.price_table import check_unit_price
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ScoreError, SettingError, SteelyardWarning, did_you_mean, need_numbers
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.stopping.cascade import MILLION

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
        """Refuse a budget that is not positive, or that does not pay for one sample of the cheapest source."""
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
    price_score: ScorePrice | None,
) -> PricedPool:
    """Price every response: by tokens, by one price per sample, or, with neither, by the costs that were read.

    A `price_score` of None: no score is for sale, so the pool is planned for without any.
    """
    if pool.source is None:
        raise SettingError(f"this pool has no sources: read the table with {argument('source', 'llm')}")
    if price_score is None:
        pool, price_score = replace(pool, scores=np.full(pool.n_responses, np.nan), parts=None), 0.0
    elif pool.scores is None or np.isnan(pool.scores).all():
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


def paid(pool: LabelledPool) -> tuple[NDArray[np.int32], Vector]:
    """Return the source and the cost of each response of a priced pool [R]."""
    if pool.source is None or pool.tokens is None:
        raise AssertionError("this pool has no costs")
    return pool.source, pool.tokens.astype(np.float64, copy=False)


def source_costs(pool: Pool, prices: Mapping[str, float] | None) -> NDArray[np.float64]:
    """Return what asking each source costs [Q, S]: price x tokens / 1e6, or the sum of what was read without prices.

    A source with no response to a question is taken to cost there what it costs on average.
    """
    total = _by_source(pool, response_costs(pool, prices))
    present = _by_source(pool) > 0
    mean = total.sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    filled = np.where(present, total, mean)
    if not filled.any():
        raise SettingError("every source is free: there is nothing to save, so ask them all")
    return filled


def usual_samples(pool: Pool) -> list[int]:
    """Return the median number of samples of each source [S] for a question that it answered; 0 if it answered none."""
    return [int(np.median(counts[counts > 0])) if counts.any() else 0 for counts in _by_source(pool).T]


def _by_source(pool: Pool, values: Vector | None = None) -> Vector:
    """Add up values of responses [R] by question and source [Q, S]; without values, count the responses."""
    sources = len(pool.sources)
    cell = pool.spread(np.arange(pool.n_questions)) * sources + pool.source
    return np.bincount(cell, values, pool.n_questions * sources).astype(np.float64).reshape(-1, sources)


def response_costs(pool: Pool, prices: Mapping[str, float] | None) -> NDArray[np.float64]:
    """Return what every response costs [R]: price x tokens / 1e6, or what was read without prices.

    >>> from dataclasses import replace
    >>> pool = Pool.from_arrays(question=[0, 0], answer=[5, 6], source=["gpt", "llama"])
    >>> response_costs(replace(pool, tokens=np.array([100.0, 300.0])), {"gpt": 10, "llama": 1})
    array([0.001 , 0.0003])
    """
    if pool.source is None:
        raise SettingError(f"this pool has no sources: read the table with {argument('source', 'llm')}")
    rates = np.ones(len(pool.sources))
    if prices is not None:
        price_of = checked_prices(prices, pool.sources)
        rates = np.array([price_of[name] for name in pool.sources]) / MILLION
    elif pool.tokens is None:
        raise SettingError("set prices by source: prices={'gpt': 10, 'llama': 0.1} per million tokens, or a column")
    costs: NDArray[np.float64] = _used(pool, counted=prices is not None) * rates[pool.source]
    return costs


def _used(pool: Pool, *, counted: bool) -> NDArray[np.float64]:
    """Return the tokens or the cost of each response [R]; missing values are the mean of their source."""
    if pool.tokens is None:
        warnings.warn(
            "nothing says how many tokens a response has, so each counts as a million: a price is one per response; "
            "add a column 'tokens' or 'response'",
            SteelyardWarning,
            stacklevel=4,
        )
        return np.full(pool.n_responses, MILLION)
    used = pool.tokens
    if (used < 0).any() or np.isinf(used).any():
        raise SettingError(
            f"a response has {'a number of tokens' if counted else 'a cost'} that is negative or infinite"
        )
    is_counted = ~np.isnan(used)
    if not is_counted.any():
        raise SettingError("no response has a number of tokens, or a cost: fill that column")
    count = np.bincount(pool.source[is_counted], minlength=len(pool.sources))  # type: ignore[index]
    mean = np.bincount(pool.source[is_counted], used[is_counted], len(pool.sources)) / np.maximum(count, 1)  # type: ignore[index]
    mean = np.where(count > 0, mean, used[is_counted].mean())
    return np.where(is_counted, used, mean[pool.source])


def checked_prices(prices: Mapping[str, float], sources: tuple[str, ...]) -> dict[str, float]:
    """Return a price for every source, or say which is missing, unknown or impossible.

    >>> checked_prices({"gpt": 10, "llama": 0.1}, ("gpt", "llama"))
    {'gpt': 10.0, 'llama': 0.1}
    """
    for name, price in prices.items():
        if name not in sources:
            raise SettingError(
                f"a price for {name!r}, which is no source of these responses: {did_you_mean(name, sources)}"
            )
        need_numbers(price=price)
        if not isfinite(price) or price < 0:
            raise SettingError(
                f"the price of {name!r} is {price!r:.40}: give a number of 0 or more, per million tokens"
            )
    missing = [name for name in sources if name not in prices]
    if missing:
        raise SettingError(
            f"no price for {', '.join(missing[:5])}{' ..' if len(missing) > 5 else ''}: give one for every source, "
            "0 for one that is free, or leave its responses out"
        )
    return {name: float(prices[name]) for name in sources}


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


def check_prices(unit: str, prices: Mapping[str, float]) -> None:
    """Refuse a price that is not a number of 0 or more; the name of the source may be empty."""
    for name, price in prices.items():
        need_numbers(price=price)
        check_unit_price(unit, price, name)
