"""The share of correct votes per question when only n of its samples are drawn, by the fastest exact procedure.

- All samples, or the first n: one vote.
- One sample: every method is correct as often as the samples are.
- pass@n and best-of-n over all subsets: a formula (voting/kernels), without drawing any.
- Any other method: counted over random subsets (random_subsets.py).

Subsets of different questions are drawn independently, so from resample to resample the accuracy over
all Q questions varies with the variance  sum of p (1 - p) / Q^2,  p the shares measured here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.random_subsets import (
    Keys,
    Progress,
    Voters,
    answers_correctly,
    count_by_adding,
    count_by_voting,
    no_progress,
    within,
)
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import LabelledPool


def pass_at_n(pool: LabelledPool, sizes: Sequence[int] | Ints) -> NDArray[np.float64]:
    """Return the probability that n samples of a question contain a correct one [Q, S]: 1 - C(N - c, n) / C(N, n).

    >>> pool = LabelledPool.from_arrays(question=[0] * 4, answer=[5, 6, 6, 7], correct=[True, False, False, False])
    >>> pass_at_n(pool, [1, 2, 4])
    array([[0.25, 0.5 , 1.  ]])
    """
    from steelyard.voting import kernels

    share = np.empty((pool.n_questions, len(sizes)))
    kernels.pass_at(pool.starts, pool.correct, np.asarray(sizes, np.int64), share)
    return share


def best_of_n(pool: LabelledPool, sizes: Sequence[int] | Ints) -> NDArray[np.float64]:
    """Return the probability that best-of-n is correct on n samples of a question [Q, S], ties at the top included.

    Two samples share the top score. Both are drawn in one of three pairs, and are seen first equally often:

    >>> pool = LabelledPool.from_arrays(question=[0] * 3, answer=[5, 6, 7], scores=[0.9, 0.9, 0.1], correct=[1, 0, 0])
    >>> best_of_n(pool, [1, 2]).round(3)
    array([[0.333, 0.5  ]])
    """
    from steelyard.voting import kernels

    share = np.empty((pool.n_questions, len(sizes)))
    counts = np.asarray(sizes, np.int64)
    scores = kernels.read_only(pool.known_scores)
    kernels.best_of(pool.starts, pool.width, pool.answer, scores, pool.correct, counts, share)
    return share.round(EXACT)


FORMULAS = {"pass-at-n": pass_at_n, "best-of-n": best_of_n}  # by the `exact_subsets` of a method
VOTE_COST = 20  # of voting again relative to adding, for the progress only
Procedures = NDArray[np.str_]  # [S, K]
Shares = NDArray[np.float64]  # [Q, S, K]
EXACT = 12  # digits; the sum over score levels carries no more


def correct_shares(
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
    report = progress or no_progress
    procedures = np.array(
        [[_procedure(m, n, test, resamples) for m in row] for n, row in zip(sizes.tolist(), voters, strict=True)]
    )
    share = np.full((test.n_questions, *procedures.shape), np.nan)
    for t, k in np.argwhere(np.isin(procedures, ("vote", "one sample"))):
        share[:, t, k] = _exact_shares(procedures[t, k], cast(Method, voters[t][k]), test, int(sizes[t]))
    for formula, chance in FORMULAS.items():
        here = procedures == formula
        rows = np.flatnonzero(here.any(axis=1))
        if len(rows):
            share[:, rows] = np.where(here[rows], chance(test, sizes[rows])[..., None], share[:, rows])
    report(0.0)
    drawn = np.flatnonzero(np.isin(procedures, ("add", "vote again")).any(axis=1))
    if len(drawn):
        keys = np.random.default_rng(seed).integers(2**64, size=test.n_questions, dtype=np.uint64)[test.rank]
        chosen = [voters[t] for t in drawn.tolist()]
        share[:, drawn] = _drawn(
            share[:, drawn], procedures[drawn], chosen, test, sizes[drawn], keys, resamples, report
        )
    report(1.0)
    return share, _sd(share, procedures, sizes == test.n, resamples)


def _procedure(method: Method | None, n: int, test: LabelledPool, resamples: int) -> str:
    if method is None:
        return "none"
    if n == test.n or not resamples:
        return "vote"
    counted = method.ties_by_score
    formula = method.exact_subsets if method.exact_subsets in FORMULAS else None
    if test.similarity is not None:
        formula = formula if formula == "pass-at-n" else None  # the others are about equal answers
    if n == 1 and (counted or formula):
        return "one sample"
    if formula:
        return formula
    added = test.similarity is None and counted and method.independent_weights()
    added = added and method.mix_ is None  # a mix breaks ties by scores of its own
    added = added and not (test.origin.relative and method.reads_scores())  # such scores differ between subsets
    return "add" if added else "vote again"


def _exact_shares(procedure: str, method: Method, test: LabelledPool, n: int) -> NDArray[np.float64]:
    """Return the shares [Q] that need no random subsets."""
    if procedure == "vote":
        return answers_correctly(method, test.first(n)).astype(np.float64)
    method.check_pool(test)
    return np.add.reduceat(test.correct.astype(np.float64), test.starts[:-1]) / test.sizes


def _drawn(
    share: Shares,
    procedures: Procedures,
    voters: Voters,
    test: LabelledPool,
    sizes: Ints,
    keys: Keys,
    resamples: int,
    progress: Progress,
) -> Shares:
    """Fill in the shares that are counted over random subsets."""
    adding, voting = (procedures == procedure for procedure in ("add", "vote again"))
    work = np.array([adding.sum(), VOTE_COST * voting.sum()])
    part = work[0] / work.sum()
    if adding.any():
        only = _only(voters, adding)
        hits = count_by_adding(only, test, sizes, keys, resamples, progress=within(progress, 0.0, part))
        share = np.where(adding, hits / resamples, share)
    if voting.any():
        only = _only(voters, voting)
        hits = count_by_voting(only, test, sizes, keys, resamples, progress=within(progress, part, 1.0))
        share = np.where(voting, hits / resamples, share)
    return share


def _only(voters: Voters, mask: Bools) -> list[list[Method | None]]:
    return [[m if chosen else None for m, chosen in zip(*row, strict=True)] for row in zip(voters, mask, strict=True)]


def _sd(share: Shares, procedures: Procedures, full: Bools, resamples: int) -> NDArray[np.float64]:
    """The sd over resamples [S, K]; where p was counted in B draws, p (1 - p) B / (B - 1) is unbiased."""
    counted = np.isin(procedures, ("add", "vote again"))
    unbiased = resamples / (resamples - 1) if resamples > 1 else np.nan
    factor = np.where(counted, unbiased, np.where((procedures == "vote") & ~full[:, None], np.nan, 1.0))
    variance: NDArray[np.float64] = (share * (1 - share)).sum(axis=0) / len(share) ** 2 * factor
    return np.sqrt(np.maximum(variance, 0.0))
