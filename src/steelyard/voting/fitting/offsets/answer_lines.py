"""The calibration set as lines.

When every response weighs z_i - beta, answer k of a question totals S_k - beta N_k, with
S_k = sum of z over its responses and N_k their number: a line in beta. All rules for the offset
work on these lines; the responses are read once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.voting.counting.quantize import quantize
from steelyard.voting.pools.arrays import Bools, Floats, Ints
from steelyard.voting.pools.pool import LabelledPool


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
