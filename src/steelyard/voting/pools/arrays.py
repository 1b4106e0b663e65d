"""From arrays with one entry per response to the arrays of a pool: group, code, check."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import ColumnError, LabelError, ScoreError
from steelyard.voting.pools.score_ranges import range_fixes

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Bools = NDArray[np.bool_]

CLIP = 2.0**-9  # how far scores are kept from 0 and 1 before a logit


class ScoreRangeError(ScoreError):
    """Scores run beyond [0, 1]."""


def group(ids: NDArray[Any]) -> tuple[Ints, Ints | None]:
    """Return where each question begins, and the stable order that brings it together if needed."""
    starts = _runs(ids)
    heads = ids[starts[:-1]]
    if len(np.unique(heads)) == len(heads):
        return starts, None
    _, first, which = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first[which], kind="stable")
    return _runs(ids[order]), order


def _runs(ids: NDArray[Any]) -> Ints:
    changes = np.flatnonzero(ids[1:] != ids[:-1]) + 1
    return np.concatenate(([0], changes, [len(ids)])).astype(np.int64)


def small_codes(starts: Ints, given: NDArray[Any]) -> tuple[Codes, Ints, NDArray[Any] | None]:
    """Return codes, width and names: codes that are small stay, others are numbered by question."""
    if given.dtype.kind not in "iu":
        raise ColumnError(
            f"answer is {given.dtype}, not integer codes: use numpy.unique(answers, return_inverse=True)[1], "
            "with -1 for an unreadable one"
        )
    if given.min() < -1:
        raise ColumnError(f"answer holds {given.min()}: codes are 0, 1, 2, .. and -1 for an unreadable one")
    if given.max() < 2**31 - 1:
        width = np.maximum.reduceat(given, starts[:-1]).astype(np.int64) + 1
        if width.sum() <= 4 * len(given):
            return given.astype(np.int32, copy=False), width, None
    codes, rows, width = number_keys(starts, given.astype(np.uint64), given >= 0)
    return codes, width, given[rows]


def number_keys(starts: Ints, keys: NDArray[np.uint64], readable: Bools) -> tuple[Codes, Ints, Ints]:
    """Number each question's distinct keys: codes [R], the rows where each first appears, width [Q]."""
    from steelyard.voting import kernels

    codes = np.empty(len(keys), np.int32)
    rows = np.empty(len(keys), np.int64)
    width = np.empty(len(starts) - 1, np.int64)
    found = kernels.code_keys(starts, kernels.read_only(keys), readable, codes, rows, width)
    return codes, rows[:found], width


def checked_scores(scores: NDArray[Any], column: str = "scores", whole: str | None = None) -> Floats:
    """Return scores as floats in [0, 1] or NaN, or say what is wrong with them.

    `whole` is what was asked for, where the column is one of its parts.
    """
    if scores.dtype.kind not in "fiub":
        raise ScoreError(f"{column} is {scores.dtype}, not numbers: give scores in [0, 1], NaN = no score")
    values: Floats = scores if scores.dtype in (np.float32, np.float64) else scores.astype(np.float64)
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    if low < 0 or high > 1:
        raise outside(column, low, high, whole)
    return values


def outside(column: str, low: float, high: float, whole: str | None = None) -> ScoreRangeError:
    """The error of scores that run from `low` to `high`, with what brings them inside."""
    fixes = range_fixes(column, low, high, whole)
    return ScoreRangeError(f"{column} runs from {low:.9g} to {high:.9g}, outside [0, 1]: {fixes}")


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


def checked_labels(correct: NDArray[Any]) -> Bools:
    """Return labels as booleans, or say what is wrong with them."""
    if correct.dtype.kind not in "biu" or (correct.dtype.kind != "b" and not np.isin(correct, (0, 1)).all()):
        raise LabelError(f"correct is {correct.dtype} with values other than true and false: give booleans")
    return correct.astype(bool)


def places_among(key: Ints) -> Ints:
    """The place of each entry among those with the same key, in their order.

    >>> places_among(np.array([3, 1, 3, 3]))
    array([0, 0, 1, 2])
    """
    order = np.argsort(key, kind="stable")
    count = np.bincount(key)
    place = np.empty(len(key), np.int64)
    place[order] = np.arange(len(key)) - np.repeat(np.cumsum(count) - count, count)
    return place
