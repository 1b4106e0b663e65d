"""Several scores made one without any label: what they have in common is whether the response is correct.

    x_v = (logit p_v - mean_v) / spread_v = a_v t + noise_v,    t = +1 or -1: the response is correct, or not
    cov(x_u, x_v) = a_u a_v                                      if the noises of two verifiers have nothing in common
    log-odds of correct = 2 sum_v a_v x_v / (1 - a_v^2)          for noise that is normal, as many correct as not

So the covariance of the scores is of rank one beside its diagonal and tells how good each verifier is: the spectral
meta-learner (Parisi et al. 2014) with scores in place of judgements. What it cannot know: verifiers that share a
mistake, such as the length of a response, look good together. And most must be better than chance: a verifier that
goes against them is left out, and if most are upside down so is the result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ScoreError
from steelyard.voting.fitting.mixing import FLAT, Mix
from steelyard.voting.fitting.solvers import rank_one
from steelyard.voting.pools.pool import Pool
from steelyard.voting.score_weights import clipped_logit

FEWEST = 3  # scores: two agree with each other as much as the one does with the other
MOST = np.sqrt(0.95)  # of a score that is never wrong


def covariance_mix(pool: Pool) -> Mix:
    """Learn from several scores of a pool how to make them one; labels are not read."""
    if pool.parts is None or pool.parts.shape[1] < FEWEST:
        count = 1 if pool.parts is None else pool.parts.shape[1]
        raise ScoreError(
            f"mix=covariance needs {FEWEST} scores or more, as two cannot tell which of them is better, and there is "
            f"{count}: read the table with {argument('score', 'ONE+OTHER+THIRD')}, or leave mix as it is"
        )
    z = np.column_stack([clipped_logit(column) for column in pool.parts[pool.readable].T])
    for name, column in zip(pool.origin.parts, z.T, strict=True):
        if np.isnan(column).all():
            score = argument("score", pool.origin.score)
            raise ScoreError(f"every score of {name!r} is missing: leave it out of {score}")
    mean, spread = np.nanmean(z, axis=0), np.nanstd(z, axis=0)
    spread = np.where(spread > FLAT, spread, 0.0)
    a = rank_one(_covariance((z - mean) / np.where(spread > 0, spread, 1.0)), 0.0, float(MOST))
    coefficient = np.where(spread > 0, 2 * a / (1 - a**2), 0.0)
    if not coefficient.any():  # nothing in common: they count the same
        coefficient = (spread > 0).astype(np.float64)
    return Mix(pool.origin.parts, coefficient, mean, spread, 0.0)


def _covariance(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The covariance [V, V] of standardised columns [R, V], over the rows where both are known; 0 on the diagonal."""
    known = ~np.isnan(x)
    filled, present = np.where(known, x, 0.0), known.astype(np.float64)
    covariance = (filled.T @ filled) / np.maximum(present.T @ present, 1.0)
    np.fill_diagonal(covariance, 0.0)
    return np.asarray(covariance, np.float64)
