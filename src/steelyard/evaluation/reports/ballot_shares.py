"""What each answer of a ballot has: its probability, its share of the weight, or the weight for and against it.

A method that has learned probabilities shows these, "none of these" included. Where the weight of a response depends on
the response alone its sign means something, and weight for and against an answer are shown. Any other method shows each
answer's part of all positive weight. Probabilities and parts are tenths of a per cent, rounded so that they
add up to 1000.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.percentages import tenths
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.response_losses import response_losses
from steelyard.voting.pools.pool import Pool
from steelyard.voting.tally import answer_totals

TINY = 1e-300
Kind = Literal["probability", "weight", "share"]
Entry = dict[str, Any]


def kind_of(method: Method) -> Kind:
    """What the ballots of a fitted method show."""
    if method.answer_probabilities(NOTHING) is not None:
        return "probability"
    return "weight" if method.independent_weights() else "share"


NOTHING = Pool.from_arrays(question=[0], answer=[-1], scores=[np.nan])


def entries(method: Method, pool: Pool) -> list[Entry]:
    """One entry per question: `t` by answer, votes first, `w` by response, and `o`, what no answer has."""
    kind = kind_of(method)
    votes = _by_answer(pool, np.ones(pool.n_responses))
    if kind == "probability":
        return _probabilities(method, pool, votes)
    weights = method.weights(pool)
    if kind == "weight":
        parts = (np.maximum(weights, 0), np.minimum(weights, 0))
        sums = [np.column_stack(columns) for columns in zip(votes, *(_by_answer(pool, w) for w in parts), strict=True)]
        shown = [each.round(3).tolist() for each in sums]
    else:
        totals = [np.maximum(each, 0) for each in _by_answer(pool, weights)]
        parts_of = [t if t.sum() > 0 else v for t, v in zip(totals, votes, strict=True)]
        shown = [_paired(v, tenths((t / max(t.sum(), TINY)).tolist())) for v, t in zip(votes, parts_of, strict=True)]
    return [{"t": t, "w": w} for t, w in zip(shown, _by_question(pool, weights.round(3)), strict=True)]


def _probabilities(method: Method, pool: Pool, votes: list[NDArray[np.float64]]) -> list[Entry]:
    found, losses = method.answer_probabilities(pool), response_losses(method, pool)
    if found is None or losses is None:
        raise AssertionError(f"{method.name} has no probabilities")
    points = _by_question(pool, (100 * losses).round(2))
    made = []
    for q, (held, loss) in enumerate(zip(votes, points, strict=True)):
        shares = tenths([*found.of(q).tolist(), float(found.none[q])])
        made.append({"t": _paired(held, shares[:-1]), "o": shares[-1], "w": loss})
    return made


def _paired(votes: NDArray[np.float64], shares: Sequence[int]) -> list[list[int]]:
    return [[int(count), share] for count, share in zip(votes, shares, strict=True)]


def _by_answer(pool: Pool, values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The values of the readable responses added up by answer, question by question."""
    return np.split(answer_totals(pool, values)[0], np.cumsum(pool.width)[:-1])


def _by_question(pool: Pool, values: NDArray[np.float64]) -> list[list[float]]:
    return [part.tolist() for part in np.split(values, pool.starts[1:-1])]
