"""What an oracle knows of a question: its own densities and its own accuracy, from its labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.counting import logit_weight as logit
from steelyard.voting.fitting.llm_reliability import inside, log_odds
from steelyard.voting.pools.pool import LabelledPool


def question_ratio(pool: LabelledPool, *, clip: float, crossfit: bool) -> NDArray[np.float64]:
    """Return the PRM term log f1 / f0 of every response [R], from densities of its own question.

    With `crossfit` a response is judged by the other half of its question's samples; without, by
    all of them, itself included: what the paper prints, and what lets pure noise look informative.
    """
    from steelyard.voting import kernels

    z = logit.clipped_logit(pool.known_scores, clip)
    kind = np.where(pool.readable & ~np.isnan(z), pool.correct, -1).astype(np.int64)
    ratio = np.empty(pool.n_responses)
    kernels.question_ratios(pool.starts, np.nan_to_num(z), kind, 2 if crossfit else 1, ratio)
    return ratio


def question_odds(pool: LabelledPool) -> NDArray[np.float64]:
    """Return the LLM term of every response [R] from the question's true accuracy q_M."""
    hits = np.add.reduceat(pool.correct.astype(np.float64), pool.starts[:-1])
    return pool.spread(log_odds(inside(hits / pool.sizes, pool.sizes), pool.m))
