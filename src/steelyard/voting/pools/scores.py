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
CEILINGS = (1, 2, 3, 4, 5, 7, 9, 10, 20, 50, 100, 1000)  # where people let their scales end


class ScoreRangeError(ScoreError):
    """Scores run beyond [0, 1]."""


def checked_scores(scores: NDArray[Any], column: str = "scores", expression: str | None = None) -> Floats:
    """Return scores as floats in [0, 1] or NaN, or say what is wrong with them.

    `expression` is the requested score, where the column is one part of it.
    """
    if scores.dtype.kind not in "fiub":
        raise ScoreError(f"{column} is {scores.dtype}, not numbers: give scores in [0, 1], NaN = no score")
    values: Floats = scores if scores.dtype in (np.float32, np.float64) else scores.astype(np.float64)
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    if low < 0 or high > 1:
        raise outside(column, low, high, expression)
    return values


def outside(column: str, low: float, high: float, expression: str | None = None) -> ScoreRangeError:
    """The error of scores that run from `low` to `high`, with what brings them inside."""
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
        known = ~np.isnan(inside)
        total += np.where(known, np.log(inside / (1 - inside)), 0.0)
        count += known
    return np.where(count > 0, 1 / (1 + np.exp(-total / np.maximum(count, 1))), np.nan)


def expit(z: ArrayLike) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-z)), the inverse of the logit, without overflow.

    >>> expit([-np.inf, 0.0, 800.0])
    array([0. , 0.5, 1. ])
    """
    return np.asarray(0.5 * (1 + np.tanh(0.5 * np.asarray(z, np.float64))))
