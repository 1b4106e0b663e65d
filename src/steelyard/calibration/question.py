"""What an oracle knows of a question: its own densities and its own accuracy, from its labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.calibration.reliability import inside, log_odds
from steelyard.pool import LabelledPool
from steelyard.weights import logit


def question_terms(
    pool: LabelledPool, *, clip: float, crossfit: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the PRM and the LLM term of every response [R], estimated on its own question.

    With `crossfit` a response is judged by the other half of its question's samples; without, by
    all of them, itself included: what the paper prints, and what lets pure noise look informative.
    """
    from steelyard import kernels

    z = logit.evidence(pool.known_scores, clip)
    correct = pool.correct
    kind = np.where(pool.readable & ~np.isnan(z), correct, -1).astype(np.int64)
    ratio, share = np.empty(pool.n_responses), np.empty(pool.n_responses)
    folds = 2 if crossfit else 1
    kernels.question_densities(pool.starts, np.nan_to_num(z), kind, correct, folds, ratio, share)
    judges = np.maximum(pool.sizes // folds, 1)
    return ratio, log_odds(inside(share, pool.spread(judges)), pool.spread(pool.m))
