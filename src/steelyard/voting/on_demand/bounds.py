"""Bounds on each answer's total over all possible values of the scores that were not requested.

    low_k <= total_k - c n_k <= high_k,    c between two numbers that all answers of a question share

An answer is sure to win where the least it can reach lies above the most that any other can, by more than rounding;
where totals are sure to tie, the same is asked of the total scores, by which the tally breaks ties.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.voting.on_demand.readings import Readings
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import Pool
from steelyard.voting.tally import quantize

Vector = NDArray[np.float64]
QUANTUM = 2.0**-35  # twice what a weight may be rounded by


def within_range(pool: Pool, weights: Vector, ends: ArrayLike) -> AnswerBounds:
    """Bounds where the weight of a response that was not requested lies between the least and the largest of some."""
    low, high = np.min(ends), np.max(ends)
    unread = np.zeros(pool.n_responses, bool) if pool.scored is None else ~pool.scored
    return AnswerBounds(np.where(unread, low, weights), np.where(unread, high, weights))


@dataclass(frozen=True)
class AnswerBounds:
    """Weights of every response at least and at most [R], and what is added to all of a question [Q]."""

    low: Vector
    high: Vector
    shared_low: Vector | None = None
    shared_high: Vector | None = None
    by_best: bool = False  # the highest weight decides, below 0 none does, and more votes break a tie

    def ahead(self, groups: Readings, lead: Bools, pool: Pool) -> tuple[Bools, Vector]:
        """Whether `lead` [K], one answer per question, is sure to beat each answer [K], and how near each can come."""
        low, high = (self._by_answer(w, groups) for w in (self.low, self.high))
        floor = _of_lead(groups, lead, low)
        gap = floor - high
        votes, seen = groups.votes.astype(np.float64), groups.first[groups.begin].astype(np.float64)
        if self.by_best:
            more, first = votes < _of_lead(groups, lead, votes), seen > _of_lead(groups, lead, seen)
            same = (gap == 0) & (more | ((votes == _of_lead(groups, lead, votes)) & first))
            return ((gap > 0) | same) & (floor >= 0), gap
        if self.shared_low is not None and self.shared_high is not None:
            lead_by = _of_lead(groups, lead, votes) - votes
            ends = [lead_by * end[groups.question] for end in (self.shared_low, self.shared_high)]
            gap = gap + np.minimum(*ends)
        slack = self._slack(pool)[groups.question]
        sure = gap > slack
        fixed = (low == high) & (self.shared_low is None)
        tie = fixed & (_of_lead(groups, lead, fixed.astype(np.float64)) > 0) & (gap == 0)
        if tie.any() and pool.scores is not None:
            is_scored = ~np.isnan(pool.scores)
            lowest, highest = (
                self._by_answer(np.where(is_scored, np.nan_to_num(pool.scores), end), groups) for end in (0.0, 1.0)
            )
            sure |= tie & (_of_lead(groups, lead, lowest) - highest > slack)
        return sure, gap

    def _by_answer(self, weights: Vector, groups: Readings) -> Vector:
        answer = groups.answer[groups.of_row]
        if not self.by_best:
            sums: Vector = np.bincount(answer, quantize(weights)[groups.rows], len(groups.begin)).astype(np.float64)
            return sums
        begin = np.cumsum(groups.votes) - groups.votes  # where the responses of each answer begin
        return np.maximum.reduceat(weights[groups.rows], begin) if len(answer) else np.empty(0)

    def _slack(self, pool: Pool) -> Vector:
        """How much rounding may change the difference of two totals [Q]."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        for shared in (self.shared_low, self.shared_high):
            size = size if shared is None else size + np.abs(pool.spread(shared))
        largest = np.maximum.reduceat(size, pool.starts[:-1])
        slack: Vector = 4 * pool.sizes * QUANTUM * np.maximum(1.0, 2 * largest)
        return slack


def _of_lead(groups: Readings, lead: Bools, values: Vector) -> Vector:
    """The value of each question's lead, for all its answers [K]."""
    best: Vector = groups.top(np.where(lead, values, -np.inf))
    return best
