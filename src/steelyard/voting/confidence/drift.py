"""Do the scores of a file look like those the plan was fitted on?

Samples of a question go together, so a question is the unit: its mean evidence. The distance of two sets of
questions is the largest gap between their distribution functions (Kolmogorov and Smirnov), and how large it may
be by chance is found by dealing the questions out anew many times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.voting.pools.pool import Pool
from steelyard.voting.score_weights import clipped_logit

MOST_REFERENCES = 400  # questions remembered in a plan
DEALS = 999
AT_ONCE = 111  # deals
RARE = 0.01
NOT_RARE = 10  # deals as far apart, whatever the others: p is above RARE


@dataclass(frozen=True)
class Drift:
    """How far apart, how rare that is by chance, and where the middles lie (as scores)."""

    distance: float
    p: float
    seen: float
    found: float

    @property
    def warning(self) -> str | None:
        """A sentence where the scores have moved, else None."""
        if self.p > RARE:
            return None
        return (
            f"these scores do not look like the calibration scores (median {self.found:.2f} against {self.seen:.2f}, "
            f"distance {self.distance:.2f}, p = {self.p:.3f}): the weights may not fit; label some of these questions "
            "and fit again"
        )


def some_question_means(pool: Pool) -> NDArray[np.float64]:
    """Return the evidence of at most MOST_REFERENCES questions of a large pool, evenly spaced."""
    few = pool.n_questions <= MOST_REFERENCES
    return question_means(
        pool if few else pool.take(np.linspace(0, pool.n_questions - 1, MOST_REFERENCES).astype(np.int64))
    )


def question_means(pool: Pool) -> NDArray[np.float64]:
    """Return the mean evidence of every question with a known score, in the order of ids."""
    z = clipped_logit(pool.known_scores)
    is_scored = ~np.isnan(z)
    total = np.add.reduceat(np.where(is_scored, z, 0.0), pool.starts[:-1])
    count = np.add.reduceat(is_scored.astype(np.int64), pool.starts[:-1])
    mean = total / np.maximum(count, 1)
    order = np.argsort(pool.rank)
    return mean[order][count[order] > 0]


def reference_scores(pool: Pool) -> NDArray[np.float64]:
    """Return the evidence of at most MOST_REFERENCES questions, drawn evenly, rising."""
    return np.sort(np.random.default_rng(0).permutation(question_means(pool))[:MOST_REFERENCES])


def score_drift(reference: ArrayLike, current: ArrayLike, seed: int = 0, enough: int = DEALS) -> Drift | None:
    """Compare the evidence of questions with what was remembered; None where either says nothing.

    It stops when `enough` deals are as far apart. With NOT_RARE it warns as with all of them, but p is less precise.
    """
    rng = np.random.default_rng(seed)
    reference, current = np.asarray(reference, np.float64), np.asarray(current, np.float64)
    current = rng.permutation(current)[:MOST_REFERENCES]
    if not len(reference) or not len(current):
        return None
    both, rising = np.sort(np.concatenate((reference, current))), np.sort(current)
    new = np.zeros(len(both), bool)
    repeats = np.arange(len(rising)) - np.searchsorted(rising, rising)  # equal neighbours are numbered 0, 1, 2, ..
    new[np.searchsorted(both, rising) + repeats] = True
    last = np.append(both[1:] != both[:-1], True)
    actual = _gap(new[None], last)[0]
    deals = as_far = 0
    while deals < DEALS and as_far < enough:
        size = min(DEALS - deals, AT_ONCE)
        dealt = _gap(np.stack([rng.permutation(new) for _ in range(size)]), last)
        as_far += int((dealt >= actual - 1e-12).sum())
        deals += size
    p = float((1 + as_far) / (1 + deals))
    middles = (float(1 / (1 + np.exp(-np.median(x)))) for x in (reference, current))
    return Drift(float(actual), p, *middles)


def unusual(stored: ArrayLike, pool: Pool) -> str | None:
    """Say where a single question's scores lie beyond nearly all of the remembered ones; None where they do not."""
    reference, current = np.asarray(stored, np.float64), question_means(pool)
    if len(current) != 1:
        return None
    beyond = min((reference <= current[0]).sum(), (reference >= current[0]).sum())
    if 2 * (1 + beyond) / (1 + len(reference)) > RARE:
        return None
    side = "lower" if current[0] < np.median(reference) else "higher"
    return (
        f"the scores of this question (about {1 / (1 + np.exp(-current[0])):.2f}) are {side} than those of nearly all "
        f"{len(reference)} calibration questions: the weights may not fit it"
    )


def _gap(new: NDArray[np.bool_], last: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The largest gap between the shares of new and old up to each value [T]."""
    share = new.cumsum(axis=1) / np.maximum(new.sum(axis=1, keepdims=True), 1)
    other = (~new).cumsum(axis=1) / np.maximum((~new).sum(axis=1, keepdims=True), 1)
    return np.asarray(np.abs(share - other)[:, last].max(axis=1))
