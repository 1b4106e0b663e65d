"""Certificate: stop when the verdict is proven to be the LLM's most likely answer, however often one looks.

For every other answer m, seen or not, a bet against "m is a most likely answer". Before each sample the challenger c is
the answer with the most votes so far, m left out (of equal ones, the first seen). If m is most likely, a sample that is
c or m is m with a probability of at least 1/2, so that for every t >= 1/2 the product

    E_m = 2 * integral over t from 1/2 to 1 of  (2 t)^hits * (2 (1 - t))^losses  dt
        = 2^(hits + losses + 1) * B(hits + 1, losses + 1) * P(Beta(hits + 1, losses + 1) > 1/2)

is a supermartingale that starts at 1: a sample c is a hit, a sample m is a loss, any other is no bet. By Ville's
inequality it ever reaches 1 / alpha with a probability of at most alpha. The verdict is certified when every other
answer is rejected, at the level

    1 - alpha = 1 - 1 / min over m of E_m

A wrong certificate must have rejected a most likely answer, and the tests of all others do not matter: no correction
for the number of answers or of looks is needed, and an answer that was never seen has losses = 0 like any other. The
rule is a certificate about the LLM, not about correctness. Cordero-Encinar and Duncan 2025 (arXiv 2510.17472) and Ota
et al. 2026 (arXiv 2605.05873) study such certificates; Jain et al. 2022 (arXiv 2109.05047) compare answers in pairs.

The rule counts readable answers: weights and scores decide the verdict alone. A verdict that is not the answer with the
most votes is never certified.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Ints
from steelyard.voting.stopping.rules.beta import leading_table
from steelyard.voting.stopping.stopping_rule import PrefixVotes, Rule, in_chunks

TINY = 1e-300


@dataclass(frozen=True)
class Certificate(Rule):
    """Stop when the verdict is the most likely answer, with an error of at most 1 - threshold.

    >>> Certificate(cap=64)
    Certificate(cap=64, least=1, threshold=0.95)
    """

    name: ClassVar[str] = "certificate"
    thresholds: ClassVar = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99)

    threshold: float = 0.95

    def signal(self, prefix: PrefixVotes) -> NDArray[np.float64]:
        table = evidence_table(prefix.numbers.shape[1])
        evidence = in_chunks(lambda some: lowest_evidence(some, table), prefix)
        level: NDArray[np.float64] = 1 - np.exp(-np.maximum(evidence, 0.0))
        return level

    def describe(self, prefix: PrefixVotes) -> str:
        level = self.signal(prefix)[0, -1]
        return f"the verdict is the most likely answer at level {level:.3f} (threshold {self.threshold:g})"


def lowest_evidence(prefix: PrefixVotes, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lowest log E_m of all answers but the verdict, after each prefix [Q, K]; -inf without a verdict."""
    numbers, (questions, samples) = prefix.numbers, prefix.numbers.shape
    width = int(numbers.max(initial=-1)) + 2  # the last column is an answer that was never seen
    row, columns = np.arange(questions), np.arange(width)
    votes, hits, losses = (np.zeros((questions, width), np.int64) for _ in range(3))
    lowest = np.full(prefix.leader.shape, -np.inf)
    for sample in range(samples):
        top = votes.argmax(axis=1)
        others = votes.copy()
        others[row, top] = -1
        second = others.argmax(axis=1)
        challenger = np.where(columns == top[:, None], second[:, None], top[:, None])  # [Q, m]
        bets = np.take_along_axis(votes, challenger, axis=1) > 0
        now = numbers[:, sample, None]
        hits += bets & (challenger == now)
        losses += bets & (columns == now)
        read = row[now[:, 0] >= 0]
        votes[read, now[read, 0]] += 1
        for i in np.flatnonzero(prefix.k == sample + 1):
            evidence = table[hits, losses]
            leader = prefix.leader[:, i]
            evidence[row[leader >= 0], leader[leader >= 0]] = np.inf
            lowest[:, i] = np.where(leader >= 0, evidence.min(axis=1), -np.inf)
    return lowest


def evidence_table(samples: int) -> NDArray[np.float64]:
    """Return log E for all hits and losses up to a number of samples.

    >>> np.exp(evidence_table(2)).round(3)[:, 0]
    array([1.   , 1.5  , 2.333])
    """
    factorial = np.array([lgamma(i + 1) for i in range(2 * samples + 2)])
    hits, losses = np.ogrid[: samples + 1, : samples + 1]
    total: Ints = hits + losses + 1
    log_beta = factorial[hits] + factorial[losses] - factorial[total]
    log_table: NDArray[np.float64] = total * log(2) + log_beta
    return log_table + np.log(np.maximum(leading_table(samples, samples), TINY))
