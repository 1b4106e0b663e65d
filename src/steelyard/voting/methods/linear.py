"""Linear weighted vote, w(p) = p - b: a score below b counts against its answer."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.methods.base.offset_vote import OffsetVote
from steelyard.voting.pools.arrays import Floats


@dataclass(repr=False, eq=False)
class LinearVote(OffsetVote):
    """Weight each response by its score minus b: a score below b counts against its answer.

    b is not bounded below: as b goes to minus infinity the vote becomes the majority vote.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> vote = sy.paper.LinearVote(rule="exact").fit(cal)
    >>> round(vote.weight(0.9) - vote.weight(0.4), 6)
    0.5
    """

    name: ClassVar[str] = "linear"
    colour: ClassVar[str | None] = "#009e73"

    def evidence(self, p: Floats) -> NDArray[np.float64]:
        return np.asarray(p, np.float64)

    def score_at(self, offset: float) -> float:
        return offset

    def grid_offsets(self) -> NDArray[np.float64]:
        return np.linspace(-1, 1, self.points)
