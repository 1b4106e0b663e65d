"""Which answer leads as things look: the verdict on the pool with what was not asked filled in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.counting.quantize import quantize
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
    weights = quantize(voter.weigh(voter.mixed(pool)))
    totals = np.bincount(found.answer[found.of_row], weights[found.rows], len(found.begin))
    return totals.astype(np.float64)
