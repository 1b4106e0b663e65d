"""Is a score the label in disguise? No verifier tells correct from incorrect responses without a mistake.

A score that was computed with the gold answer at hand, or a column of rewards taken for one, separates the responses of
every question: its AUROC within questions is 1. What is learned from it is worth nothing where there are no labels.
"""

from __future__ import annotations

import warnings

import numpy as np

from steelyard.errors import SteelyardWarning
from steelyard.fitting.auroc import by_question
from steelyard.pools.arrays import Bools, Floats, Ints
from steelyard.pools.pool import LabelledPool

TOO_GOOD = 0.999
QUESTIONS = 20  # with correct and incorrect responses, and
COMPARISONS = 50  # pairs that share no response: a verifier with an AUROC of 0.95 has all of them right 1 time in 13


def warn_of_leaked_labels(pool: LabelledPool) -> None:
    """Say so if a score of the pool is too good to be true."""
    if pool.scores is None:
        return
    columns = pool.scores[:, None] if pool.parts is None else pool.parts
    names = pool.origin.parts if pool.parts is not None else (pool.origin.score or "score",)
    question = pool.spread(np.arange(pool.n_questions))
    for name, scores in zip(names, columns.T, strict=True):
        known = ~np.isnan(scores)
        if leaked(scores[known], pool.correct[known], question[known]):
            warnings.warn(
                f"the score {name!r} separates the correct from the incorrect responses of nearly every question "
                f"(AUROC within questions above {TOO_GOOD}): it may be the label in disguise; use a score that is "
                "made without the correct answer",
                SteelyardWarning,
                stacklevel=4,
            )


def leaked(scores: Floats, correct: Bools, question: Ints) -> bool:
    """Whether scores are all but the labels, or their opposite, on enough questions to be sure."""
    if not len(scores):
        return False
    hits, misses = np.bincount(question, correct), np.bincount(question, ~correct)
    mixed = (hits > 0) & (misses > 0)
    if mixed.sum() < QUESTIONS or np.minimum(hits, misses).sum() < COMPARISONS:
        return False
    lead = (np.bincount(question, scores * correct) * misses - np.bincount(question, scores * ~correct) * hits)[mixed]
    if max((lead > 0).mean(), (lead < 0).mean()) < 0.9:  # a quick look spares most scores the ranking
        return False
    each = by_question(scores, correct, question, len(hits))[mixed]
    return bool(max(each.mean(), 1 - each.mean()) > TOO_GOOD)
