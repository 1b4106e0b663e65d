"""What a fitted method says about each answer: its probability, the weight for and against it, or its share.

Methods with probabilities show these, and the probability that no answer is correct. Where the weight of a response
depends on the response alone its sign is meaningful, and the weights for and against an answer are shown apart. Any
other method shows the share of each answer of all positive weight; of the votes, where no weight is positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Pool
from steelyard.voting.tally import answer_totals

Kind = Literal["probability", "weight", "share"]
TINY = 1e-300
NOTHING = Pool.from_arrays(question=[0], answer=[-1], scores=[np.nan])


@dataclass(frozen=True)
class AnswerValues:
    """The answers of one question [A], by code."""

    votes: NDArray[np.float64]
    value: NDArray[np.float64]  # probability, weight for the answer (0 or more), or share
    against: NDArray[np.float64]  # weight against the answer, 0 or less
    none: float | None  # probability that no answer is correct


def value_kind(method: Method) -> Kind:
    """Return what a fitted method says about the answers.

    >>> import steelyard as sy
    >>> value_kind(sy.MajorityVote()), value_kind(sy.BestOfN())
    ('weight', 'share')
    """
    if method.answer_probabilities(NOTHING) is not None:
        return "probability"
    return "weight" if method.independent_weights() else "share"


def answer_values(method: Method, pool: Pool) -> list[AnswerValues]:
    """Return the values of the answers, for every question of a pool.

    >>> import steelyard as sy
    >>> pool = sy.Pool.from_arrays(question=[0, 0, 0], answer=[0, 0, 1])
    >>> answer_values(sy.MajorityVote(), pool)[0].value
    array([2., 1.])
    """
    kind = value_kind(method)
    votes = by_answer(pool, np.ones(pool.n_responses))
    if kind == "probability":
        probabilities = method.answer_probabilities(pool)
        if probabilities is None:
            raise AssertionError(f"{method.name} has no probabilities")
        shown = [(probabilities.of(q), float(probabilities.none[q])) for q in range(pool.n_questions)]
        return [AnswerValues(v, p, np.zeros_like(p), none) for v, (p, none) in zip(votes, shown, strict=True)]
    weights = method.weights(pool)
    if kind == "weight":
        parts = (by_answer(pool, np.maximum(weights, 0)), by_answer(pool, np.minimum(weights, 0)))
        return [AnswerValues(v, gain, loss, None) for v, gain, loss in zip(votes, *parts, strict=True)]
    totals = [np.maximum(values, 0) for values in by_answer(pool, weights)]
    positive = [t if t.sum() > 0 else v for t, v in zip(totals, votes, strict=True)]
    return [
        AnswerValues(v, t / max(t.sum(), TINY), np.zeros_like(t), None) for v, t in zip(votes, positive, strict=True)
    ]


def by_answer(pool: Pool, values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The values of the readable responses added up by answer, question by question."""
    return np.split(answer_totals(pool, values)[0], np.cumsum(pool.width)[:-1])
