"""A pseudo-PRM: scores that depend on whether a response is right, but not on its question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.voting.pools.pool import LabelledPool


def pseudo(pool: LabelledPool, seed: int) -> LabelledPool:
    """Deal the scores out again among all correct and among all incorrect responses, whatever their question."""
    rng = np.random.default_rng(seed)
    scores = pool.known_scores.copy()
    for kind in (True, False):
        rows = np.flatnonzero(pool.correct == kind)
        scores[rows] = scores[rng.permutation(rows)]
    return replace(pool, scores=scores)
