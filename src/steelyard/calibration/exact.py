"""Exact calibration of the offset, without a grid.

A correct answer wins where its line lies above those of all rivals, and each rival cuts a
half-line off: one interval of beta an answer. The accuracy at beta is the number of intervals
that cover it. Sorting the 2Q end points gives the whole accuracy curve: O(R + Q log Q).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Ints
from steelyard.calibration.lines import Lines

FINEST = 2.0**34  # steps of the curve narrower than 1 / FINEST are not told apart


@dataclass(frozen=True)
class Curve:
    """Questions answered correctly as a step function of the offset.

    correct[0] holds below edges[0], correct[i] between edges[i-1] and edges[i], the last one
    above the last edge.
    """

    edges: NDArray[np.float64]  # [K], rising
    correct: Ints  # [K+1]
    questions: int

    @property
    def accuracy(self) -> NDArray[np.float64]:
        return self.correct / self.questions

    @property
    def optimal(self) -> list[tuple[float, float]]:
        """Every interval of offsets at which the most questions are right."""
        ends = np.concatenate(([-np.inf], self.edges, [np.inf]))
        best = np.concatenate(([False], self.correct == self.correct.max(), [False]))
        change = np.diff(best.astype(np.int8))
        return list(zip(ends[change == 1].tolist(), ends[np.flatnonzero(change == -1)].tolist(), strict=True))

    @property
    def chosen(self) -> float:
        """The middle of the widest bounded optimal interval; if there is none, the limit.

        A limit is worth taking only alone: its interval is infinite and has no middle.
        """
        bounded = [(high - low, (low + high) / 2) for low, high in self.optimal if np.isfinite(low + high)]
        if bounded:
            return max(bounded)[1]
        low, high = self.optimal[0]
        return low if np.isinf(low) else high

    def at(self, beta: float) -> float:
        """The accuracy at an offset (between the steps)."""
        return float(self.accuracy[np.searchsorted(self.edges, beta)])


@dataclass(frozen=True)
class Intervals:
    """Where each correct answer wins: question, low and high, one entry an answer."""

    question: Ints
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    questions: int

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
        count = np.ones(len(self.question), np.int64) if times is None else times[self.question]
        order, edges, last = self._ends
        steps = np.cumsum(np.concatenate((count, -count))[order])[last]
        correct = count[self.low == -np.inf].sum() + np.concatenate(([0], steps))
        kept = np.flatnonzero(correct[1:] != correct[:-1])
        total = self.questions if times is None else int(times.sum())
        return Curve(edges[kept], correct[np.append(0, kept + 1)], total)


def intervals(lines: Lines) -> Intervals:
    """Find, for every correct answer, the offsets at which it wins."""
    from steelyard import kernels

    room = int(lines.right.sum())
    question, low, high = np.empty(room, np.int64), np.empty(room), np.empty(room)
    size = kernels.intervals(lines.offsets, lines.s, lines.n, lines.merit, lines.right, question, low, high)
    low, high = (np.rint(end[:size] * FINEST) / FINEST for end in (low, high))
    return Intervals(question[:size], low, high, lines.questions)


def exact(lines: Lines) -> Curve:
    """Return the whole accuracy curve over the offset, its optimal intervals and the chosen point."""
    return intervals(lines).curve()
