"""Bayes factor: stop when the votes speak strongly enough for "the leader is the most likely answer".

    B = (s + 1) * P(mode) / (1 - P(mode)),    P(mode) = P(p_1 > all other p),
    p ~ Dirichlet(n_1 + 1, .., n_s + 1, A + 1)

n_j: votes for each of the s answers so far, 1 the verdict; the last part is for answers that were not seen yet, with
A = 0.3. This is the rule of Best-of-infinity (Komiyama et al. 2025, arXiv 2509.21091) as its published code computes
it, with the exact probability in place of 1,000 random draws:

    1 - P(mode) = integral over x of  g(x; n_1 + 1) * (1 - product over the others of G(x; n_j + 1))  dx

with the density g and the distribution function G of the gamma distribution. The signal is B / (1 + B), so that a
threshold of 0.99 is B = 99. The rule counts readable answers: weights and scores decide the verdict alone, and where
they lead to an answer with fewer votes than another, P(mode) is low and sampling goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, sqrt
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.stopping.stopping_rule import PrefixVotes, Rule, in_chunks

UNSEEN = 0.3  # A
STEP = 0.25  # of 2 sqrt(x), in which every gamma distribution has a standard deviation of about 1
BEYOND = 8.0  # standard deviations
TINY = 1e-300
FACTORS = (2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class BayesFactor(Rule):
    """Stop when the Bayes factor for the leader reaches threshold / (1 - threshold).

    >>> BayesFactor(cap=64)
    BayesFactor(cap=64, least=1, threshold=0.99)
    """

    name: ClassVar[str] = "bayes-factor"
    thresholds: ClassVar = tuple(factor / (1 + factor) for factor in FACTORS)

    threshold: float = 0.99

    def signal(self, prefix: PrefixVotes) -> NDArray[np.float64]:
        gamma = Gamma.table(prefix.numbers.shape[1])
        return in_chunks(lambda some: _signal(some, gamma), prefix)

    def describe(self, prefix: PrefixVotes) -> str:
        sure = self.signal(prefix)[0, -1]
        needed = f"{self.threshold / (1 - self.threshold):.3g}" if self.threshold < 1 else "infinity"
        return f"the Bayes factor for the leader is {sure / max(1 - sure, TINY):.3g} (needed: {needed})"


class Gamma(NamedTuple):
    """Gamma distributions on a grid of x [G], for n = 0, 1, 2, .. votes [N, G]."""

    weighted_density: NDArray[np.float64]  # [N, G] g(x; n + 1) dx
    log_distribution: NDArray[np.float64]  # [N, G] log G(x; n + 1)
    unseen: NDArray[np.float64]  # [G] log G(x; A + 1)

    @classmethod
    def table(cls, votes: int) -> Gamma:
        """All counts up to a number of votes."""
        y = np.arange(STEP, 2 * sqrt(votes + 1) + BEYOND, STEP)
        x, dx = y * y / 4, STEP * y / 2
        n = np.arange(votes + 1)[:, None]
        density = np.exp(n * np.log(x) - x - np.array([lgamma(i + 1) for i in range(votes + 1)])[:, None])
        above = np.cumsum(density, axis=0)  # P(X > x): a Poisson variable is at most n
        nodes, weights = np.polynomial.laguerre.laggauss(40)
        above_unseen = np.exp(-x - lgamma(UNSEEN + 1)) * ((x[:, None] + nodes) ** UNSEEN @ weights)
        return cls(density * dx, _log_complement(above), _log_complement(above_unseen))


def _log_complement(above: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log1p(-np.minimum(above, 1 - 1e-16))


def _signal(prefix: PrefixVotes, gamma: Gamma) -> NDArray[np.float64]:
    """Return B / (1 + B) after each prefix [Q, K]; 0 without a verdict."""
    numbers, (questions, samples) = prefix.numbers, prefix.numbers.shape
    row = np.arange(questions)
    votes = np.zeros((questions, int(numbers.max(initial=-1)) + 1), np.int64)
    product = np.tile(gamma.unseen, (questions, 1))  # log of the product of G over all answers [Q, G]
    signal = np.zeros(prefix.leader.shape)
    for sample in range(samples):
        read = row[numbers[:, sample] >= 0]
        now = numbers[read, sample]
        before = votes[read, now]
        product[read] += gamma.log_distribution[before + 1]
        product[read] -= np.where((before > 0)[:, None], gamma.log_distribution[before], 0.0)
        votes[read, now] += 1
        for i in np.flatnonzero(prefix.k == sample + 1):
            leader = prefix.leader[:, i]
            one = row[leader >= 0]
            own = votes[one, leader[one]]
            others = product[one] - gamma.log_distribution[own]
            not_mode = (gamma.weighted_density[own] * -np.expm1(np.minimum(others, 0.0))).sum(axis=1)
            not_mode = np.clip(not_mode, TINY, 1.0)
            answers = (votes[one] > 0).sum(axis=1) + 1
            signal[one, i] = answers * (1 - not_mode) / (answers * (1 - not_mode) + not_mode)
    return signal
