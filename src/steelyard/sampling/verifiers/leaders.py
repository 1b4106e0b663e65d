"""Which pairs of responses a judge compares: the leaders of the vote with all other responses.

A leader is compared with every other response, so that its total U(k) = sum_i K(k, i) is the judge's own. The first is
the leader of the vote by words. Then the next is

- the leader of the vote so far, if it is not among the leaders yet; else
- the leader among the responses that are unlike all leaders, if these are enough to overtake the vote so far.

With N texts and k leaders there are N - 1 to k(N - 1) - k(k - 1)/2 comparisons. A comparison is two replies, one per
order of the two texts. The next requests are a function of the replies so far, in whatever order they arrived, so that
an interrupted command continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.sampling.verifiers.tournament import Pair, is_tie
from steelyard.voting.kernels.feature_overlaps import STEPS

DIGITS = 6  # of a probability
ALIKE = 0.5  # responses with at least this similarity are alike


@dataclass
class LeaderComparisons:
    """The replies so far: `replies[a, b]` is the probability that a and b mean the same, when a was shown first.

    `votes` [N] is how many responses have each text, and `compare_words` compares their words [N, N].
    """

    votes: Sequence[int]
    leaders: int
    compare_words: Callable[[], NDArray[Any]]
    replies: dict[Pair, float | None] = field(default_factory=dict)  # None: unreadable

    def comparison_range(self) -> Pair:
        """The fewest and the most comparisons."""
        n = len(self.votes)
        k = min(self.leaders, n - 1)
        return max(0, n - 1), k * (n - 1) - k * (k - 1) // 2

    def next(self) -> list[Pair]:
        """The ordered pairs to ask about now; empty at the end."""
        for leader in self._leaders():
            pairs = [(leader, other) for other in range(len(self.votes)) if other != leader]
            if missing := [call for a, b in pairs for call in ((a, b), (b, a)) if call not in self.replies]:
                return missing
        return []

    def outcomes(self) -> dict[Pair, float | None]:
        """The probability that the texts of each pair mean the same, the mean of both orders; None if unreadable."""
        pairs = [(a, b) for a, b in self.replies if a < b and (b, a) in self.replies]
        return {(a, b): mean(self.replies[a, b], self.replies[b, a]) for a, b in pairs}

    def ties(self) -> int:
        """The comparisons whose orders contradict each other, or whose mean is about 0.5."""
        return sum(is_tie(self.replies[a, b], self.replies[b, a]) for a, b in self.outcomes())

    def judged(self) -> list[dict[int, float]]:
        """The probabilities of the readable comparisons of each text, by the other text."""
        by_text: list[dict[int, float]] = [{} for _ in self.votes]
        for (a, b), p in self.outcomes().items():
            if p is not None:
                by_text[a][b] = by_text[b][a] = p
        return by_text

    @cached_property
    def _word_similarity(self) -> NDArray[np.float64]:
        return np.asarray(self.compare_words(), np.float64)

    def _leaders(self) -> Iterator[int]:
        """The leaders one by one; the next one is a function of the comparisons of those before it."""
        votes, outcomes = np.array(self.votes, np.float64), self.outcomes()
        similarity, leaders = np.zeros((0, 0)), list[int]()
        for _ in range(min(self.leaders, len(votes) - 1)):
            similarity = similarity if leaders else self._word_similarity.copy()
            leader = next_leader(similarity, votes, leaders)
            if leader is None:
                return
            leaders.append(leader)
            yield leader
            for other in range(len(votes)):
                p = outcomes.get((min(leader, other), max(leader, other)))
                if p is not None:  # multiples of 2^-16, whose sums are exact
                    similarity[leader, other] = similarity[other, leader] = round(p * STEPS) / STEPS


def mean(first: float | None, second: float | None) -> float | None:
    """The mean of the two orders; None if either is unreadable."""
    return None if first is None or second is None else round((first + second) / 2, DIGITS)


def next_leader(similarity: NDArray[np.float64], votes: NDArray[np.float64], leaders: Sequence[int]) -> int | None:
    """The next text to compare with all others; None if no other could win the vote."""
    totals = similarity @ votes
    best = int(np.argmax(totals))
    if best not in leaders:
        return best
    unlike = (similarity[list(leaders)] < ALIKE).all(axis=0)
    rest = votes * unlike
    if rest.sum() <= totals[best]:
        return None
    return int(np.argmax(np.where(unlike, similarity @ rest, -1)))
