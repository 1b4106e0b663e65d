"""How well a score tells correct responses from wrong ones, and scores that do so too well, or upside down.

AUROC is the chance that a correct response scores above a wrong one, ties counting half. Pooled over
all responses it also rewards a verifier that merely knows easy questions from hard ones; within
questions it does not, and only that helps a vote. Pooled figures flatter: report both.

No verifier tells correct from incorrect responses without a mistake. A score that was computed with the gold answer at
hand, or a column of rewards taken for one, has an AUROC within questions of 1, and what is learned from it is worth
nothing where there are no labels. Of an error probability or a loss, on the other hand, the mean AUROC within questions
is clearly below one half: below .4, and by three standard errors.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import SteelyardWarning
from steelyard.voting.pools.arrays import Bools, Floats, Ints
from steelyard.voting.pools.pool import LabelledPool

QUESTIONS = 20  # with correct and incorrect responses
TOO_GOOD = 0.999
COMPARISONS = 50  # pairs that share no response: a verifier with an AUROC of 0.95 has all of them right 1 time in 13
CLEARLY_BELOW = 0.4
STANDARD_ERRORS = 3


def auroc(pool: LabelledPool) -> float:
    """Return the pooled AUROC over the responses with a score; NaN without both kinds."""
    scores, correct, _ = _scored(pool)
    return float(by_question(scores, correct, np.zeros(len(scores), np.int64), 1)[0])


def auroc_within(pool: LabelledPool) -> float:
    """Return the mean AUROC of the questions that have right and wrong responses; NaN if none has."""
    scores, correct, question = _scored(pool)
    values = by_question(scores, correct, question, pool.n_questions)
    mixed = ~np.isnan(values)
    return float(values[mixed].mean()) if mixed.any() else float("nan")


def _scored(pool: LabelledPool) -> tuple[Floats, Bools, Ints]:
    scored = ~np.isnan(pool.known_scores)
    return pool.known_scores[scored], pool.correct[scored], pool.spread(np.arange(pool.n_questions))[scored]


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


def warn_of_suspicious_scores(pool: LabelledPool) -> None:
    """Name every score of the pool that is too good to be true, or higher for incorrect responses, with the fix."""
    if pool.scores is None:
        return
    columns = pool.scores[:, None] if pool.parts is None else pool.parts
    names = pool.origin.parts if pool.parts is not None else (pool.origin.score or "score",)
    question = pool.spread(np.arange(pool.n_questions))
    for name, scores in zip(names, columns.T, strict=True):
        rated = ~np.isnan(scores)
        data = scores[rated], pool.correct[rated], question[rated]
        if leaked(*data):
            _warn(
                f"the score {name!r} separates the correct from the incorrect responses of nearly every question "
                f"(AUROC within questions above {TOO_GOOD}): it may be the label in disguise; use a score that is "
                "made without the correct answer"
            )
        if name not in pool.origin.undirected and inverted(*data):
            inverse = name.removeprefix("1-") if name.startswith("1-") else f"1-{name}"
            _warn(
                f"the score {name!r} is higher for incorrect responses than for correct ones in most questions (AUROC "
                f"within questions below {CLEARLY_BELOW}): if less of it is better, read it with "
                f"{argument('score', inverse)}"
            )


def leaked(scores: Floats, correct: Bools, question: Ints) -> bool:
    """Whether scores are all but the labels, or their opposite, on enough questions to be sure."""
    hits, misses = np.bincount(question, correct), np.bincount(question, ~correct)
    if np.minimum(hits, misses).sum() < COMPARISONS:
        return False
    values = _suspicious_auroc(scores, correct, question, minimum=0.9, either=True)
    return values is not None and bool(max(values.mean(), 1 - values.mean()) > TOO_GOOD)


def inverted(scores: Floats, correct: Bools, question: Ints) -> bool:
    """Whether scores rank incorrect responses above correct ones, on enough questions to be sure."""
    values = _suspicious_auroc(scores, correct, question, minimum=0.5)
    if values is None:
        return False
    error = values.std(ddof=1) / np.sqrt(len(values))
    return bool(values.mean() < CLEARLY_BELOW and values.mean() + STANDARD_ERRORS * error < 0.5)


def _suspicious_auroc(
    scores: Floats, correct: Bools, question: Ints, *, minimum: float, either: bool = False
) -> Floats | None:
    """The AUROC of each question with correct and incorrect responses; None where they are few or look harmless.

    Harmless: the mean score of the incorrect responses (`either`: of one of the two) is the higher one in fewer than
    `minimum` of the questions. This spares most scores the ranking.
    """
    hits, misses = np.bincount(question, correct), np.bincount(question, ~correct)
    mixed = (hits > 0) & (misses > 0)
    if mixed.sum() < QUESTIONS:
        return None
    lead = (np.bincount(question, scores * correct) * misses - np.bincount(question, scores * ~correct) * hits)[mixed]
    if max((lead < 0).mean(), (lead > 0).mean() if either else 0) < minimum:
        return None
    return by_question(scores, correct, question, len(hits))[mixed]


def _warn(message: str) -> None:
    warnings.warn(message, SteelyardWarning, stacklevel=5)
