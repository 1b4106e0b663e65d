"""Scores: the checks of a column, the errors of one that leaves [0, 1], and the mean of several."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ScoreError
from steelyard.voting.pools.arrays import Floats

CLIP = 2.0**-9  # how far scores are kept from 0 and 1 before a logit
LOG_PROBABILITY = re.compile(r"log_?p|log_?lik|(^|_)ll($|_)", re.IGNORECASE)
LENGTH = re.compile(r"(^|_)(length|len|tokens?|chars|characters|words)($|_)", re.IGNORECASE)
CEILINGS = (1, 2, 3, 4, 5, 7, 9, 10, 20, 50, 100, 1000)  # where people let their scales end


class ScoreRangeError(ScoreError):
    """Scores run beyond [0, 1]."""


def checked_scores(scores: NDArray[Any], column: str = "scores", *, any_scale: bool = False) -> Floats:
    """Return scores as floats in [0, 1] or NaN, or say what is wrong; `any_scale` allows any finite number."""
    if scores.dtype.kind not in "fiub":
        raise ScoreError(f"{column} is {scores.dtype}, not numbers: give scores in [0, 1], NaN = no score")
    values: Floats = scores if scores.dtype in (np.float32, np.float64) else scores.astype(np.float64)
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    if any_scale and (np.isinf(low) or np.isinf(high)):
        raise ScoreError(f"{column} contains infinite values: replace them, or leave it out")
    if not any_scale and (low < 0 or high > 1):
        raise outside(column, low, high)
    return values


def outside(column: str, low: float, high: float, expression: str | None = None) -> ScoreRangeError:
    """The error of scores that run from `low` to `high`, with what brings them inside."""
    if low >= 0 and LENGTH.search(column):
        parts = [f"length({part})" if part == column else part for part in (expression or column).split("+")]
        fixes = f"if lengths, compute a score from them with {argument('score', '+'.join(parts))}"
    else:
        fixes = range_fixes(column, low, high, expression)
    return ScoreRangeError(f"{column} runs from {low:.9g} to {high:.9g}, outside [0, 1]: {fixes}")


def range_fixes(column: str, low: float, high: float, expression: str | None = None) -> str:
    """Say how scores from `low` to `high` may be read; `expression` is the requested score if it has several parts.

    >>> range_fixes("judge", 1.0, 4.5)
    "if 5 is the best, read them with score='judge/5'; if a rating from 1 to 5, with score='(judge-1)/4'; if logits, \
read them with score='sigmoid(judge)'"
    >>> range_fixes("logprob", -2.5, -0.1)
    "if log-probabilities, read them with score='exp(logprob)'"
    """
    name, _, reducer = column.partition(":")
    turned = "1-" if name.startswith("1-") else ""  # less is better
    if turned:
        name, low, high = name.removeprefix(turned), 1 - high, 1 - low
    if "/" in name and not name.startswith(("sigmoid(", "exp(")):
        return "choose what it is divided by so that the highest score becomes 1"
    top = _ceiling(high)

    def spelled(spelling: str) -> str:
        fixed = f"{turned}{spelling}{':' * bool(reducer)}{reducer}"
        parts = (expression or column).split("+")
        return argument("score", "+".join(fixed if part == column else part for part in parts))

    if name.startswith("exp("):
        return f"only log-probabilities, which are at most 0, can be read so; name {name[4:-1]!r} as it is instead"
    fixes = []
    if high <= 0:
        fixes.append(f"if log-probabilities, read them with {spelled(f'exp({name})')}")
    if fixes and LOG_PROBABILITY.search(name):
        return fixes[0]
    if math.isfinite(top) and low >= 0:
        scale = "these are percent" if top == 100 else f"{top} is the best"
        fixes.append(f"if {scale}, read them with {spelled(f'{name}/{top}')}")
        if low >= 1:
            fixes.append(f"if a rating from 1 to {top}, with {spelled(f'({name}-1)/{top - 1}')}")
    elif math.isfinite(top) and math.isfinite(low):
        bottom = _ceiling(-low)
        fixes.append(
            f"if a scale from -{bottom} to {top}, read them with {spelled(f'({name}+{bottom})/{bottom + top}')}"
        )
    return "; ".join((*fixes, f"if logits, read them with {spelled(f'sigmoid({name})')}"))


def _ceiling(high: float) -> float:
    """The end of the scale that a highest score suggests."""
    if not math.isfinite(high):
        return math.inf
    return next((end for end in CEILINGS if end >= high), None) or 10 ** math.ceil(math.log10(high))


def mean_score(parts: Floats) -> Floats:
    """Return sigma(mean of the known logits) of each row of scores [R, V]; NaN where nothing is known.

    >>> mean_score(np.array([[0.2, 0.8], [0.25, np.nan], [np.nan, np.nan]]))
    array([0.5 , 0.25,  nan])
    """
    total, count = np.zeros(len(parts)), np.zeros(len(parts))
    for v in range(parts.shape[1]):  # part by part: a row's sum does not depend on the rows beside it
        inside = np.clip(parts[:, v].astype(np.float64), CLIP, 1 - CLIP)
        is_scored = ~np.isnan(inside)
        total += np.where(is_scored, np.log(inside / (1 - inside)), 0.0)
        count += is_scored
    return np.where(count > 0, 1 / (1 + np.exp(-total / np.maximum(count, 1))), np.nan)


def question_ranks(values: NDArray[np.float64], question: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the rank of every value among the n of its question, in (0, 1): (below + equal / 2 + 1/2) / (n + 1).

    >>> question_ranks(np.array([7.0, 9.0, 7.0, -3.0, np.nan]), np.array([0, 0, 0, 1, 1]))
    array([0.375, 0.75 , 0.375, 0.5  ,   nan])
    """
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.lexsort((values[known], question[known]))]
    v, q = values[order], question[order]
    first_of_question = np.concatenate(([True], q[1:] != q[:-1]))[: len(q)]
    first = first_of_question | np.concatenate(([True], v[1:] != v[:-1]))[: len(v)]
    group = np.cumsum(first) - 1
    starts, size = np.flatnonzero(first), np.bincount(q, minlength=1)
    below = starts - np.flatnonzero(first_of_question)[(np.cumsum(first_of_question) - 1)[starts]]
    ranks = np.full(len(values), np.nan)
    ranks[order] = (below + np.bincount(group) / 2 + 0.5)[group] / (size[q] + 1) if len(order) else 0.0
    return ranks


def in_unit_range(parts: Floats) -> bool:
    """Whether all known scores lie in [0, 1], so that they may be probabilities."""
    return not bool(((parts < 0) | (parts > 1)).any())


def mean_on_any_scale(parts: NDArray[Any], question: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean score of every row; that of ranks within the question where one of its scores leaves [0, 1].

    >>> mean_on_any_scale(np.array([[7.0, 0.5], [9.0, 0.5]]), np.array([0, 0])).round(2)
    array([0.41, 0.59])
    """
    mean = mean_score(parts).astype(np.float64, copy=False)
    if in_unit_range(parts):
        return mean
    ranks = np.column_stack([question_ranks(column.astype(np.float64), question) for column in parts.T])
    outside = np.bincount(question, ((parts < 0) | (parts > 1)).any(axis=1)) > 0
    scores: NDArray[np.float64] = np.where(outside[question], mean_score(ranks), mean)
    return scores


def expit(z: ArrayLike) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-z)), the inverse of the logit, without overflow.

    >>> expit([-np.inf, 0.0, 800.0])
    array([0. , 0.5, 1. ])
    """
    return np.asarray(0.5 * (1 + np.tanh(0.5 * np.asarray(z, np.float64))))
