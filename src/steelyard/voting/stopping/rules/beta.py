"""Beta: stop when the leader will not change: Adaptive-Consistency (Aggarwal et al. 2023, arXiv 2305.11860).

    P(p > 1/2) with p ~ Beta(v1 + 1, v2 + 1)  =  P(Binomial(v1 + v2 + 1, 1/2) <= v1)

v1: votes for the verdict so far, v2: votes for the answer with the most votes among the others; p: the share of the
verdict in the votes that go to either, uniform before any was seen. At the threshold 0.95 this is the published rule,
with its Beta criterion. It asks about votes alone and needs no labels.
Where scores lead a vote to an answer with fewer votes than another, this is below 1/2 and sampling goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.stopping.stopping_rule import PrefixVotes, Rule


@dataclass(frozen=True)
class Beta(Rule):
    """Stop when the verdict leads by enough votes.

    >>> [lead for lead in range(8) if keeps_leading(np.array([lead]), np.array([0]))[0] >= 0.95]
    [4, 5, 6, 7]
    """

    name: ClassVar[str] = "beta"
    thresholds: ClassVar = (0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999)

    threshold: float = 0.95

    def signal(self, prefix: PrefixVotes) -> NDArray[np.float64]:
        return keeps_leading(prefix.votes, prefix.rival)

    def describe(self, prefix: PrefixVotes) -> str:
        sure = self.signal(prefix)[0, -1]
        ahead = f"{int(prefix.votes[0, -1])} votes against {int(prefix.rival[0, -1])}"
        return f"{ahead}: the leader stays ahead with probability {sure:.3f} (threshold {self.threshold:g})"


def keeps_leading(votes: NDArray[np.int64], rival: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return P(p > 1/2) for every pair of counts; 0 where there is no vote."""
    largest = int(votes.max(initial=0)), int(rival.max(initial=0))
    probability: NDArray[np.float64] = leading_table(*largest)[votes, rival]
    return np.where(votes > 0, probability, 0.0)


def leading_table(votes: int, rival: int) -> NDArray[np.float64]:
    """Return P(p > 1/2) for all counts up to these [votes + 1, rival + 1].

    Whoever gets a vote more moves it by half the difference: P(a, b) = (P(a - 1, b) + P(a, b - 1)) / 2, and one
    side without votes has P(a, 0) = 1 - 2^-(a+1).
    """
    table = np.empty((votes + 1, rival + 1))
    table[:, 0] = 1 - 0.5 ** np.arange(1, votes + 2)
    table[0] = 0.5 ** np.arange(1, rival + 2)
    for b in range(1, rival + 1):
        for a in range(1, votes + 1):
            table[a, b] = (table[a - 1, b] + table[a, b - 1]) / 2
    return table
