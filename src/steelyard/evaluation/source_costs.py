"""What it costs to ask every source each question: prices per million tokens, or costs that were read."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import SettingError, SteelyardWarning, did_you_mean, need_numbers
from steelyard.voting.pools.pool import Pool
from steelyard.voting.stopping.cascade import MILLION


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


def source_costs(pool: Pool, prices: Mapping[str, float] | None) -> NDArray[np.float64]:
    """Return what asking each source costs [Q, S]: price x tokens / 1e6, or the sum of what was read without prices.

    A source with no response to a question is taken to cost there what it costs on average.
    """
    each = response_costs(pool, prices)
    sources, shape = len(pool.sources), (pool.n_questions, len(pool.sources))
    place = pool.spread(np.arange(pool.n_questions)) * sources + pool.source
    total = np.bincount(place, each, shape[0] * sources).reshape(shape)
    there = np.bincount(place, minlength=shape[0] * sources).reshape(shape) > 0
    usual = total.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    found = np.where(there, total, usual)
    if not found.any():
        raise SettingError("every source is free: there is nothing to save, so ask them all")
    return found


def response_costs(pool: Pool, prices: Mapping[str, float] | None) -> NDArray[np.float64]:
    """Return what every response costs [R]: price x tokens / 1e6, or what was read without prices.

    >>> from dataclasses import replace
    >>> pool = Pool.from_arrays(question=[0, 0], answer=[5, 6], source=["gpt", "llama"])
    >>> response_costs(replace(pool, tokens=np.array([100.0, 300.0])), {"gpt": 10, "llama": 1})
    array([0.001 , 0.0003])
    """
    if pool.source is None:
        raise SettingError(f"this pool does not say who answered: read the table with {argument('source', 'llm')}")
    rates = np.ones(len(pool.sources))
    if prices is not None:
        known = checked_prices(prices, pool.sources)
        rates = np.array([known[name] for name in pool.sources]) / MILLION
    elif pool.tokens is None:
        raise SettingError("say what sources cost: prices={'gpt': 10, 'llama': 0.1} per million tokens, or a column")
    costs: NDArray[np.float64] = _used(pool, counted=prices is not None) * rates[pool.source]
    return costs


def _used(pool: Pool, *, counted: bool) -> NDArray[np.float64]:
    """The tokens or the cost of every response [R]; what is not known is the mean of its source."""
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
        raise SettingError(f"a response has {'a number of tokens' if counted else 'a cost'} below 0 or without end")
    known = ~np.isnan(used)
    if not known.any():
        raise SettingError("no response has a number of tokens, or a cost: fill that column")
    count = np.bincount(pool.source[known], minlength=len(pool.sources))  # type: ignore[index]
    mean = np.bincount(pool.source[known], used[known], len(pool.sources)) / np.maximum(count, 1)  # type: ignore[index]
    mean = np.where(count > 0, mean, used[known].mean())
    return np.where(known, used, mean[pool.source])
