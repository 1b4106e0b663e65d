"""Pass@N, an oracle: a question counts as solved when any of its responses is right. w = correct."""

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool, Pool


@dataclass(repr=False, eq=False)
class PassAtN(Method):
    """The ceiling of every vote: nothing can choose an answer that was never given.

    >>> pool = Pool.from_arrays(question=[0, 0, 1], answer=[4, 9, 7], correct=[False, True, False])
    >>> PassAtN().predict(pool).answer.tolist()
    [9, 7]
    """

    name: ClassVar[str] = "pass-at-n"
    votes_on_similar: ClassVar[bool] = True
    counts_similar: ClassVar[bool] = True
    label: ClassVar[str | None] = "pass@N"
    colour: ClassVar[str | None] = "#bbbbbb"
    exact_subsets: ClassVar[str | None] = "pass-at-n"
    oracle: ClassVar[bool] = True
    scored: ClassVar[bool] = False

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        return cast(LabelledPool, pool).correct.astype(np.float64)

    def by_response(self) -> bool:
        return True
