"""Majority vote (self-consistency): every response weighs w = 1, whatever its score."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.methods.base.method import Method
from steelyard.voting.on_demand.bounds import AnswerBounds, within_range
from steelyard.voting.pools.pool import Pool


@dataclass(repr=False, eq=False)
class MajorityVote(Method):
    """The answer given most often wins; ties go to the higher total score.

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.1, 0.2, 0.9])
    >>> MajorityVote().predict(pool).answer
    array([4], dtype=int32)
    """

    name: ClassVar[str] = "majority"
    votes_on_similar: ClassVar[bool] = True
    label: ClassVar[str | None] = "majority vote"
    colour: ClassVar[str | None] = "#7f7f7f"
    scored: ClassVar[bool] = False

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        return np.ones(pool.n_responses)

    def by_response(self) -> bool:
        return True

    def weight(self, score: float) -> float:  # noqa: ARG002 - the same for every score
        return 1.0

    def _bounds(self, pool: Pool) -> AnswerBounds:
        return within_range(pool, self.weigh(pool), [1.0])
