"""How often each question is answered right when only n of its samples are drawn, by the quickest true way.

- All samples, or the first n: one vote.
- One sample: there is nothing to choose, every method is right as often as the samples are.
- pass@n and best-of-n: a formula.
- Any other method: counted over random subsets.

Subsets of different questions are drawn independently, so from resample to resample the accuracy over
all Q questions varies with the variance  sum of p (1 - p) / Q^2,  p the shares measured here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.exact_subsets import best_of_n, pass_at_n
from steelyard.evaluation.subset_counts import (
    Keys,
    Told,
    Voters,
    answers_correctly,
    count_by_adding,
    count_by_voting,
    ignored,
    within,
)
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import LabelledPool

FORMULAS = {"pass-at-n": pass_at_n, "best-of-n": best_of_n}  # by what a method says of itself: `exact_subsets`
COSTLIER = 20  # voting again against adding, for the progress alone
Ways = NDArray[np.str_]  # [S, K]
Shares = NDArray[np.float64]  # [Q, S, K]


def shares_right(
    voters: Voters,
    test: LabelledPool,
    sizes: Ints,
    *,
    resamples: int,
    seed: int,
    progress: Callable[[float], None] | None = None,
) -> tuple[Shares, NDArray[np.float64]]:
    """Return the share of subsets with a correct vote [Q, S, K] and the sd of the accuracy over resamples [S, K].

    Sizes rise; the subsets are the first n samples when `resamples` is 0. NaN where there is no voter, and for the
    sd where nothing was drawn, or drawn once.
    """
    told = progress or ignored
    ways = np.array([[_way(m, n, test, resamples) for m in row] for n, row in zip(sizes.tolist(), voters, strict=True)])
    share = np.full((test.n_questions, *ways.shape), np.nan)
    for t, k in np.argwhere(np.isin(ways, ("vote", "one sample"))):
        share[:, t, k] = _known(ways[t, k], cast(Method, voters[t][k]), test, int(sizes[t]))
    for formula, chance in FORMULAS.items():
        here = ways == formula
        rows = np.flatnonzero(here.any(axis=1))
        if len(rows):
            share[:, rows] = np.where(here[rows], chance(test, sizes[rows])[..., None], share[:, rows])
    told(0.0)
    drawn = np.flatnonzero(np.isin(ways, ("add", "vote again")).any(axis=1))
    if len(drawn):
        keys = np.random.default_rng(seed).integers(2**64, size=test.n_questions, dtype=np.uint64)[test.rank]
        chosen = [voters[t] for t in drawn.tolist()]
        share[:, drawn] = _drawn(share[:, drawn], ways[drawn], chosen, test, sizes[drawn], keys, resamples, told)
    told(1.0)
    return share, _sd(share, ways, sizes == test.n, resamples)


def _way(method: Method | None, n: int, test: LabelledPool, resamples: int) -> str:
    if method is None:
        return "none"
    if n == test.n or not resamples:
        return "vote"
    counted = method.ties_by_score
    formula = method.exact_subsets if method.exact_subsets in FORMULAS else None
    if n == 1 and (counted or formula):
        return "one sample"
    if formula:
        return formula
    added = counted and method.independent_weights() and method.mix_ is None  # a mix breaks ties by scores of its own
    return "add" if added else "vote again"


def _known(way: str, method: Method, test: LabelledPool, n: int) -> NDArray[np.float64]:
    """The shares [Q] that need no draw."""
    if way == "vote":
        return answers_correctly(method, test.first(n)).astype(np.float64)
    method.check_pool(test)
    return np.add.reduceat(test.correct.astype(np.float64), test.starts[:-1]) / test.sizes


def _drawn(
    share: Shares, ways: Ways, voters: Voters, test: LabelledPool, sizes: Ints, keys: Keys, resamples: int, told: Told
) -> Shares:
    """Fill in what is counted over random subsets."""
    adding, voting = (ways == way for way in ("add", "vote again"))
    work = np.array([adding.sum(), COSTLIER * voting.sum()])
    part = work[0] / work.sum()
    if adding.any():
        only = _only(voters, adding)
        hits = count_by_adding(only, test, sizes, keys, resamples, told=within(told, 0.0, part))
        share = np.where(adding, hits / resamples, share)
    if voting.any():
        only = _only(voters, voting)
        hits = count_by_voting(only, test, sizes, keys, resamples, told=within(told, part, 1.0))
        share = np.where(voting, hits / resamples, share)
    return share


def _only(voters: Voters, mask: Bools) -> list[list[Method | None]]:
    return [[m if chosen else None for m, chosen in zip(*row, strict=True)] for row in zip(voters, mask, strict=True)]


def _sd(share: Shares, ways: Ways, full: Bools, resamples: int) -> NDArray[np.float64]:
    """The sd over resamples [S, K]; where p was counted in B draws, p (1 - p) B / (B - 1) is unbiased."""
    counted = np.isin(ways, ("add", "vote again"))
    unbiased = resamples / (resamples - 1) if resamples > 1 else np.nan
    factor = np.where(counted, unbiased, np.where((ways == "vote") & ~full[:, None], np.nan, 1.0))
    variance: NDArray[np.float64] = (share * (1 - share)).sum(axis=0) / len(share) ** 2 * factor
    return np.sqrt(np.maximum(variance, 0.0))
