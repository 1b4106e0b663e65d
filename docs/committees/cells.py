"""One cell of the tables: what every way to decide gets right on the test questions of one split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

import steelyard as sy

Outcome = NDArray[np.float64]  # [Q] of the whole set: 1 correct, 0 not, NaN: not a test question
SPLITS = tuple(range(40, 45))
MOST = 400  # labels; the questions beyond them are for the test
WAYS = ("majority", "consensus", "committee", "few-label", "best single")


def split(pool: sy.LabelledPool, seed: int, labels: int) -> tuple[sy.LabelledPool, NDArray[np.int64]]:
    """Return the labelled questions, and where the test questions are; these are the same for any number of labels."""
    order = np.random.default_rng(seed).permutation(pool.n_questions)
    return pool.take(np.sort(order[:labels])), np.sort(order[MOST:])


def decide(pool: sy.LabelledPool, consensus: sy.ConsensusVote, labelled: sy.LabelledPool) -> dict[str, Outcome]:
    """What each way gets right on all questions of a pool [Q]; the caller keeps those of the test.

    `consensus` and `few-label` have seen all responses of the pool, without labels; `committee` and `best single` only
    those of the labelled questions.
    """
    votes: dict[str, sy.Method] = {"majority": sy.MajorityVote(), "consensus": consensus}
    votes["committee"] = sy.CommitteeVote().fit(labelled)
    votes["few-label"] = sy.CommitteeVote().fit(labelled, unlabelled=pool.unlabelled())
    new = pool.unlabelled()
    found = {way: vote.predict(new).correct(pool).astype(np.float64) for way, vote in votes.items()}
    return found | {"best single": best_single(pool, labelled)}


def best_single(pool: sy.LabelledPool, labelled: sy.LabelledPool) -> Outcome:
    """What the LLM gets right [Q] that does best on the labelled questions; the mean where several do."""
    share = by_source(labelled).sum(axis=0) / labelled.n_questions
    alike = np.flatnonzero(share >= share.max() - 1e-12)
    return np.asarray(by_source(pool)[:, alike].mean(axis=1), np.float64)


def by_source(pool: sy.LabelledPool) -> NDArray[np.float64]:
    """Whether each source is correct [Q, S]; a source that did not answer is not."""
    if pool.source is None:
        raise AssertionError("this pool has no sources")
    found = np.zeros((pool.n_questions, len(pool.sources)))
    found[pool.spread(np.arange(pool.n_questions)), pool.source] = pool.correct
    return found


def tested(outcomes: Mapping[str, Outcome], test: NDArray[np.int64]) -> dict[str, Outcome]:
    """The outcomes with NaN where a question is not one of the test."""
    kept = {}
    for way, outcome in outcomes.items():
        kept[way] = np.full(len(outcome), np.nan)
        kept[way][test] = outcome[test]
    return kept


def mean_and_error(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """The mean over splits and questions, and its standard error over questions: a question tested twice is one.

    >>> mean_and_error([np.array([1.0, 0.0, np.nan]), np.array([1.0, np.nan, 0.0])])
    (0.5, 0.3061862178478973)
    """
    values = np.array(outcomes)
    count, mean = np.isfinite(values).sum(), float(np.nanmean(values))
    away = np.nansum(values - mean, axis=0)
    asked = int(np.isfinite(values).any(axis=0).sum())
    return mean, float(np.sqrt((away**2).sum() * asked / (asked - 1)) / count)
