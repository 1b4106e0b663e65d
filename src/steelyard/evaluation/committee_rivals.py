"""What a way to spend on a committee must beat: majority vote with more samples, of everybody or of the best source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.evaluation.committee_prices import PricedPool
from steelyard.evaluation.joint_search import Spending, at_cost
from steelyard.evaluation.purchase import Purchase, levels_of
from steelyard.voting.methods.majority import MajorityVote

Ladder = list[Spending]  # from cheap to dear


class Rivals:
    """Ladders of more and more samples on the test questions; calibration questions say who is the best source."""

    def __init__(self, cal: PricedPool, test: PricedPool) -> None:
        levels = levels_of(cal.pool)
        self.everybody = _ladder(test, _of_all(cal, levels))
        alone = [[_samples({s: n}, len(levels)) for n in each[1:]] for s, each in enumerate(levels)]
        self._on_cal = [_ladder(cal, each) for each in alone]
        self._alone = [_ladder(test, each) for each in alone]

    def single(self, mean: float) -> int:
        """The source whose majority vote is best on the calibration questions for this much per question."""
        able = [s for s, ladder in enumerate(self._on_cal) if ladder[0].mean <= mean]
        if not able:
            return min(range(len(self._on_cal)), key=lambda s: self._on_cal[s][0].mean)
        return max(able, key=lambda s: float(at_cost(self._on_cal[s], mean).mean()))

    def alone(self, source: int) -> Ladder:
        """The ladder of one source on the test questions."""
        return self._alone[source]


def _of_all(cal: PricedPool, levels: Sequence[Sequence[int]]) -> list[Purchase]:
    """One sample of the cheapest source, of the two cheapest, .., of all; then more of all."""
    by_price = np.argsort(cal.sample, kind="stable").tolist()
    most = [each[-1] for each in levels]
    first = [_samples(dict.fromkeys(by_price[:k], 1), len(levels)) for k in range(1, len(levels) + 1)]
    counts = sorted({n for each in levels for n in each if n > 1})
    return first + [_samples({s: min(n, m) for s, m in enumerate(most)}, len(levels)) for n in counts]


def _samples(counts: dict[int, int], sources: int) -> Purchase:
    return Purchase(tuple(counts.get(s, 0) for s in range(sources)), (False,) * sources)


def _ladder(priced: PricedPool, rungs: Sequence[Purchase]) -> Ladder:
    """Majority vote on each purchase; no score breaks its ties."""
    return [_counted(priced, bought) for bought in rungs]


def _counted(priced: PricedPool, bought: Purchase) -> Spending:
    part, where = bought.of(priced.pool)
    size = priced.pool.n_questions
    cost, correct = np.zeros(size), np.zeros(size)
    cost[where] = np.bincount(part.spread(np.arange(part.n_questions)), part.tokens, part.n_questions)
    correct[where] = MajorityVote().predict(part.unlabelled()).correct(part)
    return Spending(sum(bought.samples), None, np.zeros(size), cost, correct)
