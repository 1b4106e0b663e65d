"""ESC: stop after a window of samples that all give the same answer (early-stopping self-consistency).

    stop after k = w, 2w, 3w, .. samples, as soon as the last w all have the same answer

Li et al. 2024, "Escape Sky-high Cost: Early-stopping Self-Consistency for Multi-step Reasoning" (arXiv 2401.10480). The
window w is `least`; the paper uses 5 to 8. An unreadable sample is equal to none. The rule counts answers: weights and
scores decide the verdict, not when to stop, and the window may agree on an answer that is not the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Ints
from steelyard.voting.stopping.stopping_rule import PrefixVotes, Rule


@dataclass(frozen=True)
class Esc(Rule):
    """Stop after a window of `least` equal answers.

    >>> Esc(cap=40, least=5)
    Esc(cap=40, least=5, threshold=1.0)
    """

    name: ClassVar[str] = "esc"
    thresholds: ClassVar = (1.0,)
    minimums: ClassVar = (2, 3, 4, 5, 6, 8, 10)
    windowed: ClassVar[bool] = True

    def signal(self, prefix: PrefixVotes) -> NDArray[np.float64]:
        agreeing = np.minimum(run_lengths(prefix.numbers)[:, prefix.k - 1], self.least) / self.least
        return np.where(prefix.k % self.least == 0, agreeing, 0.0)

    def describe(self, prefix: PrefixVotes) -> str:
        agreeing = int(run_lengths(prefix.numbers)[0, prefix.k[-1] - 1])
        return f"the last {agreeing} samples agree (window {self.least})"


def run_lengths(numbers: Ints) -> Ints:
    """Return how many samples up to each one, without a break, have the same answer [Q, N]; 0 if it has none.

    >>> run_lengths(np.array([[0, 0, 1, 1, 1, -1, 1]])).tolist()
    [[1, 2, 1, 2, 3, 0, 1]]
    """
    at = np.arange(numbers.shape[1])
    begins = np.ones(numbers.shape, bool)
    begins[:, 1:] = numbers[:, 1:] != numbers[:, :-1]
    length: Ints = at - np.maximum.accumulate(np.where(begins, at, 0), axis=1) + 1
    return np.where(numbers >= 0, length, 0)
