"""How well a score tells correct responses from wrong ones.

AUROC is the chance that a correct response scores above a wrong one, ties counting half. Pooled over
all responses it also rewards a verifier that merely knows easy questions from hard ones; within
questions it does not, and only that helps a vote. Pooled figures flatter: report both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Bools, Floats, Ints
from steelyard.voting.pools.pool import LabelledPool


def auroc(pool: LabelledPool) -> float:
    """Return the pooled AUROC over the responses with a score; NaN without both kinds."""
    scores, correct, _ = _known(pool)
    return float(by_question(scores, correct, np.zeros(len(scores), np.int64), 1)[0])


def auroc_within(pool: LabelledPool) -> float:
    """Return the mean AUROC of the questions that have right and wrong responses; NaN if none has."""
    scores, correct, question = _known(pool)
    each = by_question(scores, correct, question, pool.n_questions)
    mixed = ~np.isnan(each)
    return float(each[mixed].mean()) if mixed.any() else float("nan")


def _known(pool: LabelledPool) -> tuple[Floats, Bools, Ints]:
    known = ~np.isnan(pool.known_scores)
    return pool.known_scores[known], pool.correct[known], pool.spread(np.arange(pool.n_questions))[known]


def by_question(scores: Floats, correct: Bools, group: Ints, groups: int) -> NDArray[np.float64]:
    """Return the AUROC of each question (or group) by the rank sum of Mann and Whitney, equal scores sharing a rank."""
    order = np.lexsort((scores, group))
    group, scores, correct = group[order], scores[order], correct[order]
    new = np.ones(len(scores), bool)
    new[1:] = (scores[1:] != scores[:-1]) | (group[1:] != group[:-1])
    run = np.cumsum(new) - 1
    ends = np.append(np.flatnonzero(new), len(scores))
    begins = np.searchsorted(group, np.arange(groups))
    rank = ((ends[run] + ends[run + 1] - 1) / 2) - begins[group]  # from 0, within the group
    n = np.bincount(group, correct, groups)
    m = np.bincount(group, ~correct, groups)
    ranks = np.bincount(group, rank * correct, groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        result: NDArray[np.float64] = (ranks - n * (n - 1) / 2) / (n * m)
    return result
