"""How similar the answers of a question are, for a vote among responses that are similar but not equal.

    U(y) = sum over responses i of  w_i K(y, y_i)        the response with the largest U wins

K is in [0, 1], symmetric, and 1 for equal answers. A pool without a similarity is the case in which K is 1 for equal
answers and 0 for all others; there U is the sum of the weights of an answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Ints

ALIKE = 0.5  # answers with at least this similarity count as votes for each other


@dataclass(frozen=True, eq=False)
class Similarity:
    """One block of K per question, width by width, in the order of the answer codes."""

    values: NDArray[np.float32]  # all blocks, row by row
    begin: Ints  # [Q] where each block begins

    @classmethod
    def of_equal_answers(cls, width: Ints) -> Similarity:
        """K of today's vote: 1 for equal answers, else 0.

        >>> Similarity.of_equal_answers(np.array([2, 1])).values
        array([1., 0., 0., 1., 1.], dtype=float32)
        """
        blocks = [np.eye(size, dtype=np.float32).ravel() for size in width.tolist()]
        return cls(np.concatenate(blocks or [np.empty(0, np.float32)]), np.cumsum(width**2) - width**2)

    def take(self, questions: Any) -> Similarity:
        """Keep these questions, by position or by a mask; the blocks are shared."""
        return replace(self, begin=self.begin[questions])

    def block(self, q: int, width: int) -> NDArray[np.float32]:
        """K of one question [width, width]."""
        return self.values[self.begin[q] : self.begin[q] + width**2].reshape(width, width)

    def leaders(self, width: Ints) -> Ints:
        """Group similar answers: return the leader of each, question by question in the order of the codes.

        >>> Similarity(np.array([1, 0.7, 0, 0.7, 1, 0.2, 0, 0.2, 1], np.float32), np.array([0])).leaders(np.array([3]))
        array([0, 0, 2])
        """
        groups = [group_leaders(self.block(q, size), range(size)) for q, size in enumerate(width.tolist())]
        return np.concatenate([*groups, np.empty(0, np.int64)])

    @classmethod
    def join(cls, parts: list[Similarity]) -> Similarity:
        """The blocks of several pools, one after the other."""
        offsets = np.cumsum([0, *(len(part.values) for part in parts)])
        begin = [part.begin + offset for part, offset in zip(parts, offsets, strict=False)]
        return cls(np.concatenate([part.values for part in parts]), np.concatenate(begin))


def group_leaders(block: NDArray[np.float32], order: Iterable[int]) -> Ints:
    """Return the leader of each answer of a question; those that come first in the order lead the answers like them.

    >>> group_leaders(np.array([[1, 0, 0.5], [0, 1, 0.6], [0.5, 0.6, 1]]), [0, 2, 1])
    array([0, 1, 0])
    """
    leaders = np.full(len(block), -1)
    for k in order:
        if leaders[k] < 0:
            leaders[(leaders < 0) & (block[k] >= ALIKE)] = k
    return leaders
