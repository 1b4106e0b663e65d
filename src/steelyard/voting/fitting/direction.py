"""Learn from labels whether more of a score is better, for a score such as length where that depends on the LLM.

    lead of a question = mean logit of its correct responses - mean logit of its incorrect ones

Where the leads add up to less than 0, the score is read the other way around, as 1 - p, and its name says so:
`1-length(tokens)`. What is learned from the score afterwards sees every fold read as the other folds say. So where the
direction is a matter of chance the folds disagree, and the score does not look better than it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.score_weights import clipped_logit

FOLDS = 5
TIE = 1e-9  # a smaller total lead is rounding
P = TypeVar("P", bound=Pool)


def opposite(name: str) -> str:
    """Return the name of a score read the other way around.

    >>> opposite("length(tokens)"), opposite("1-length(tokens)")
    ('1-length(tokens)', 'length(tokens)')
    """
    return name.removeprefix("1-") if name.startswith("1-") else f"1-{name}"


def learn_direction(pool: LabelledPool) -> tuple[LabelledPool, LabelledPool]:
    """Return the pool with every score in the direction its labels show, and the same to learn from, cross-fitted."""
    directed: LabelledPool = with_reversed(pool, _reversed(pool))
    if pool.parts is not None:
        return directed, directed  # the mix is cross-fitted itself
    scores = np.array(directed.known_scores)
    fold = fold_of(pool, FOLDS, seed=0)
    for k in np.unique(fold):
        part = pool.take(fold == k)
        scores[pool.spread(fold) == k] = with_reversed(part, _reversed(pool.take(fold != k))).known_scores
    return directed, replace(directed, scores=scores)


def as_fitted(pool: P, score: str | None) -> P:
    """Return the pool with its scores in the direction of the fitted score, such as `1-length(tokens)+prm`."""
    fitted = (score or "").split("+")
    turned = {name for name in pool.origin.undirected if name not in fitted and opposite(name) in fitted}
    return with_reversed(pool, turned)


def with_reversed(pool: P, names: set[str]) -> P:
    """Return the pool with these of its scores read the other way around."""
    if not names:
        return pool
    origin = replace(
        pool.origin,
        undirected=tuple(name for name in pool.origin.undirected if name not in names),
        relative=tuple(opposite(name) if name in names else name for name in pool.origin.relative),
    )
    if pool.parts is None:
        origin = replace(origin, score=opposite(str(origin.score)))
        return replace(pool, scores=1 - pool.known_scores, origin=origin)
    columns = zip(pool.origin.parts, pool.parts.T, strict=True)
    parts = dict((opposite(name), 1 - column) if name in names else (name, column) for name, column in columns)
    return replace(pool, origin=origin).with_parts(parts)


def _reversed(pool: LabelledPool) -> set[str]:
    """Return the scores without a direction that are higher where responses are incorrect."""
    names = pool.origin.parts if pool.parts is not None else (pool.origin.score,)
    columns = pool.known_scores[:, None] if pool.parts is None else pool.parts
    return {
        str(name)
        for name, column in zip(names, columns.T, strict=True)
        if name in pool.origin.undirected and _total_lead(pool, clipped_logit(column)) < -TIE
    }


def _total_lead(pool: LabelledPool, z: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    known = pool.readable & ~np.isnan(z)
    question, correct = pool.spread(np.arange(pool.n_questions))[known], pool.correct[known]
    hits, misses = (np.bincount(question, kind, pool.n_questions) for kind in (correct, ~correct))
    sums = [np.bincount(question, z[known] * kind, pool.n_questions) for kind in (correct, ~correct)]
    both = (hits > 0) & (misses > 0)
    return float((sums[0][both] / hits[both] - sums[1][both] / misses[both]).sum())
