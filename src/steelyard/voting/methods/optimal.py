"""The paper's "optimal" vote, an oracle, exactly as printed:

    w = log f1(p) - log f0(p)  +  log(q_M (m - 1) / (1 - q_M))

with densities and q_M estimated on the very responses that vote. It leaks: each response sits
under the density of its own label, so even scores without any signal seem to tell right from
wrong. Read it beside `optimal-crossfit`, and beside itself on shuffled scores.
"""

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.llm_reliability import question_odds, question_ratio
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import setting
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.scores import CLIP
from steelyard.voting.score_weights import check_clip
from steelyard.voting.tally import quantize


@dataclass(repr=False, eq=False)
class OptimalVote(Method):
    """The paper's best weights, computed from the labels of the voting responses: an unattainable upper bound.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> best = sy.accuracy(sy.paper.OptimalVote().fit(cal).predict(test), test)
    >>> best > sy.accuracy(sy.MajorityVote().predict(test), test)
    True
    """

    name: ClassVar[str] = "optimal"
    colour: ClassVar[str | None] = "#b8a000"
    oracle: ClassVar[bool] = True
    crossfit: ClassVar[bool] = False

    clip: float = setting(CLIP, "minimum distance of a score from 0 and 1")

    def check_settings(self) -> None:
        check_clip(self.clip)

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Return the weight of every response [R]."""
        labelled = cast(LabelledPool, pool)
        ratio = question_ratio(labelled, clip=self.clip, crossfit=self.crossfit)
        return quantize(ratio + question_odds(labelled))  # 0 up to rounding is 0, not a vote of the rounding
