"""Is a score upside down? An error probability or a loss is highest where a response is wrong.

Of such a score the mean AUROC within questions is clearly below one half: below .4, and by three standard errors over
at least 20 questions with correct and incorrect responses.
"""

from __future__ import annotations

import warnings

import numpy as np

from steelyard.errors import SteelyardWarning
from steelyard.fitting.auroc import by_question
from steelyard.pools.arrays import Bools, Floats, Ints
from steelyard.pools.pool import LabelledPool

CLEARLY_BELOW = 0.4
STANDARD_ERRORS = 3
QUESTIONS = 20


def warn_of_inverted_scores(pool: LabelledPool) -> None:
    """Name every score of the pool that is higher for incorrect responses, with the option that turns it round."""
    if pool.scores is None:
        return
    columns = pool.scores[:, None] if pool.parts is None else pool.parts
    names = pool.origin.parts if pool.parts is not None else (pool.origin.score or "score",)
    question = pool.spread(np.arange(pool.n_questions))
    for name, scores in zip(names, columns.T, strict=True):
        known = ~np.isnan(scores)
        if inverted(scores[known], pool.correct[known], question[known]):
            warnings.warn(
                f"the score {name!r} is higher for incorrect responses than for correct ones in most questions (AUROC "
                f"within questions below {CLEARLY_BELOW}): if less of it is better, read it with "
                f"score='{_turned_round(name)}'",
                SteelyardWarning,
                stacklevel=4,
            )


def inverted(scores: Floats, correct: Bools, question: Ints) -> bool:
    """Whether scores rank incorrect responses above correct ones, on enough questions to be sure."""
    if not len(scores):
        return False
    hits, misses = np.bincount(question, correct), np.bincount(question, ~correct)
    mixed = (hits > 0) & (misses > 0)
    if mixed.sum() < QUESTIONS:
        return False
    lead = (np.bincount(question, scores * correct) * misses - np.bincount(question, scores * ~correct) * hits)[mixed]
    if (lead < 0).mean() < 0.5:  # a quick look spares most scores the ranking
        return False
    auroc = by_question(scores, correct, question, len(hits))[mixed]
    error = auroc.std(ddof=1) / np.sqrt(len(auroc))
    return bool(auroc.mean() < CLEARLY_BELOW and auroc.mean() + STANDARD_ERRORS * error < 0.5)


def _turned_round(name: str) -> str:
    """The spelling of a score the other way round."""
    return name.removeprefix("1-") if name.startswith("1-") else f"1-{name}"
