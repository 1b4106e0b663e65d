"""Which answer leads as things look: the verdict on the pool with what was not asked filled in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.counting import tally
from steelyard.voting.on_demand.readings import Readings
from steelyard.voting.on_demand.rule import Voter
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import Pool


def leading(voter: Voter, pool: Pool, found: Readings) -> Bools:
    """The answer with the largest total in every question [K]; of equals the first."""
    totals = answer_totals(voter, pool, found)
    return found.one(totals == found.top(totals))


def answer_totals(voter: Voter, pool: Pool, found: Readings) -> NDArray[np.float64]:
    """What every answer would total if what was not asked turned out as filled in [K]."""
    totals, _ = tally.answer_totals(pool, voter.weigh(voter.mixed(pool)))
    chosen: NDArray[np.float64] = totals[(np.cumsum(pool.width) - pool.width)[found.question] + found.code]
    return chosen
