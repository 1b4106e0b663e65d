"""Accuracy on the calibration set as a function of the offset b, exactly and without a grid.

When every response weighs z_i - beta, answer k of a question totals S_k - beta N_k, with S_k = sum of z over its
responses and N_k their number: a line in beta. All rules for the offset work on these lines; the responses are read
once. A correct answer wins where its line lies above those of all rivals, and each rival cuts a half-line off: one
interval of beta an answer. The accuracy at beta is the number of intervals that cover it. Sorting the 2Q end points
gives the whole accuracy curve: O(R + Q log Q).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.voting.pools.arrays import Bools, Floats, Ints
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.tally import quantize

FINEST = 2.0**34  # steps of the curve narrower than 1 / FINEST are not distinguished


@dataclass(frozen=True)
class Lines:
    """The answers of a labelled pool, question by question, in order of appearance."""

    offsets: Ints  # [Q+1] where each question's answers begin
    s: NDArray[np.float64]  # summed evidence
    n: Ints  # votes
    merit: NDArray[np.float64]  # summed score, for ties
    correct: Bools
    top: float  # the largest evidence: beyond it every weight is negative

    @property
    def questions(self) -> int:
        return len(self.offsets) - 1

    def correct_at(self, betas: ArrayLike) -> Bools:
        """Which questions the vote gets right at each offset [T, Q]; -inf is the majority vote."""
        from steelyard.voting import kernels

        points = quantize(np.atleast_1d(betas))
        correct = np.empty((len(points), self.questions), bool)
        kernels.correct_at(self.offsets, self.s, self.n, self.merit, self.correct, points, correct)
        return correct


def lines(pool: LabelledPool, z: NDArray[np.float64], scores: Floats) -> Lines:
    """Sum the evidence z [R] of each answer; every z must be finite."""
    from steelyard.voting import kernels

    room = pool.n_responses
    offsets = np.empty(pool.n_questions + 1, np.int64)
    s, merit = np.empty(room), np.empty(room)
    n, correct = np.empty(room, np.int64), np.empty(room, bool)
    read = (pool.starts, pool.base, pool.width, pool.answer, z, kernels.read_only(scores), pool.answer_correct)
    size, top = kernels.lines(*read, offsets, s, n, merit, correct)
    return Lines(offsets, s[:size], n[:size], merit[:size], correct[:size], float(top))


@dataclass(frozen=True)
class Curve:
    """Questions answered correctly as a step function of the offset.

    correct[0] holds below edges[0], correct[i] between edges[i-1] and edges[i], the last one
    above the last edge. `limit` is the count at minus infinity, the majority vote (equal counts
    go to the higher summed score there, to the higher summed evidence on the first step). Beyond
    `top`, the largest evidence, every weight is negative and fewer votes win: no rule looks there.

    >>> import steelyard as sy
    >>> curve = sy.LogitVote().fit(sy.read_labelled(sy.simulate(60, 8))).curve_
    >>> curve.questions, curve.at(curve.chosen) == curve.best / curve.questions
    (60, True)
    """

    edges: NDArray[np.float64]  # [K], rising
    correct: Ints  # [K+1]
    questions: int
    limit: int
    top: float

    @property
    def accuracy(self) -> NDArray[np.float64]:
        return self.correct / self.questions

    @property
    def best(self) -> int:
        """The most questions any offset below `top` answers, the limit included."""
        return max(int(self.correct[self._below].max()), self.limit)

    @property
    def optimal(self) -> list[tuple[float, float]]:
        """Every interval of offsets below `top` at which that many questions are right."""
        ends = np.concatenate(([-np.inf], self.edges, [np.inf]))
        hit = np.concatenate(([False], (self.correct == self.best) & self._below, [False]))
        change = np.diff(hit.astype(np.int8))
        low, high = ends[change == 1], np.minimum(ends[change == -1], self.top)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    @property
    def chosen(self) -> float:
        """The majority limit if nothing beats it; else the middle of the widest optimal interval.

        An interval without a lower end has no middle: its point lies one unit below its upper end.
        """
        if self.limit == self.best:
            return -np.inf
        points = [(high - low, (low + high) / 2) for low, high in self.optimal if low > -np.inf]
        return max(points)[1] if points else self.optimal[0][1] - 1.0

    @property
    def _below(self) -> Bools:
        """Which steps begin below `top`."""
        return np.concatenate(([True], self.edges < self.top - 2 / FINEST))

    def at(self, beta: float) -> float:
        """The accuracy at an offset (between the steps)."""
        count = self.limit if beta == -np.inf else self.correct[np.searchsorted(self.edges, beta)]
        return float(count / self.questions)


@dataclass(frozen=True)
class Intervals:
    """Where each correct answer wins: question, low and high, one entry an answer."""

    question: Ints
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    majority: Bools  # [Q] which questions the majority vote gets right
    top: float

    @cached_property
    def _ends(self) -> tuple[Ints, NDArray[np.float64], Ints]:
        """The finite ends in rising order: their places, the distinct values, the last place of each."""
        ends = np.concatenate((self.low, self.high))
        order = np.argsort(ends)
        order = order[np.isfinite(ends[order])]
        rising = ends[order]
        last = np.flatnonzero(np.diff(rising, append=np.inf))
        return order, rising[last], last

    def curve(self, times: Ints | None = None) -> Curve:
        """Count the intervals over beta; `times` [Q] repeats questions, as a bootstrap does."""
        repeat = np.ones(len(self.majority), np.int64) if times is None else times
        count = repeat[self.question]
        order, edges, last = self._ends
        steps = np.cumsum(np.concatenate((count, -count))[order])[last]
        correct = count[self.low == -np.inf].sum() + np.concatenate(([0], steps))
        changes = np.flatnonzero(correct[1:] != correct[:-1])
        limit = int(repeat[self.majority].sum())
        return Curve(edges[changes], correct[np.append(0, changes + 1)], int(repeat.sum()), limit, self.top)


def intervals(lines: Lines) -> Intervals:
    """Find, for every correct answer, the offsets at which it wins."""
    from steelyard.voting import kernels

    room = int(lines.correct.sum())
    question, low, high = np.empty(room, np.int64), np.empty(room), np.empty(room)
    size = kernels.intervals(lines.offsets, lines.s, lines.n, lines.merit, lines.correct, question, low, high)
    low, high = (np.rint(end[:size] * FINEST) / FINEST for end in (low, high))
    return Intervals(question[:size], low, high, lines.correct_at(-np.inf)[0], lines.top)
