"""Groups of similar responses, to show a vote on free text: each is the responses that are alike its leader."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.similarity import ALIKE
from steelyard.voting.tally import smoothed


def support(pool: Pool, voter: Method, totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weight of every answer with what similar answers add; `totals` are the sums of its own responses."""
    return totals if voter.counts_similar else smoothed(pool, totals)


def leader_of_each(block: NDArray[np.float32], weights: NDArray[np.float64], verdict: int) -> list[int]:
    """The leader of the group of each answer of a question; `block` has their similarities.

    The verdict leads the first group, and the answer with the highest weight among the rest the next one.

    >>> leader_of_each(np.array([[1, 0, 0.5], [0, 1, 0.6], [0.5, 0.6, 1]]), np.array([2.0, 1.5, 1.9]), 0)
    [0, 1, 0]
    """
    leaders = np.full(len(block), -1)
    for k in [verdict, *np.argsort(-weights, kind="stable").tolist()]:
        if leaders[k] < 0:
            leaders[(leaders < 0) & (block[k] >= ALIKE)] = k
    return [int(leader) for leader in leaders]
