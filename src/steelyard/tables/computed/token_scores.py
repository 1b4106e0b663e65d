"""Scores from one number per token: DeepConf (Fu et al. 2025, arXiv 2508.15260), self-certainty (Kang et al. 2025,
arXiv 2502.18581), entropy, and the mean log-probability.

    C_i = -(1/k) sum_j log P_i(j)              confidence at token i, over its k most likely tokens
    G_i = mean of C over tokens i - 2047 .. i   confidence of a group; the response itself if it is shorter

    deepconf-lowest  min_i G_i
    deepconf-bottom  mean of the lowest 10 % of the G_i
    deepconf-tail    mean of C over the last 2,048 tokens
    self-certainty   mean of C

The score is C / (1 + C), so that its logit is log C: in the same order, and in (0, 1). Self-certainty is defined over
the complete vocabulary, -(1 / nV) sum log(V P); over the top k it is the mean of C less log k, in the same order.

    entropy          exp(-mean of H_i), 1 if the LLM never had a choice
    mean-logprob     exp(mean of log P_i of the sampled tokens), as in `self_logprob`

H_i counts the tokens outside the stored top k as one, so it is a lower bound (foundation/token_statistics.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.foundation.token_statistics import CONFIDENCE, ENTROPY
from steelyard.tables.computed.computed_score import ComputedScore

TOKEN_LISTS = (CONFIDENCE, ENTROPY, "token_logprobs")  # one number per token, not per step: never the default score
GENERATE = "sample with 'steelyard generate --top-logprobs 20', which stores it"
WINDOW = 2048  # tokens
SHARE = 0.1
Array = NDArray[np.float64]


def is_list(kind: pl.DataType) -> bool:
    """Whether a column has one number per token."""
    return isinstance(kind, pl.List | pl.Array) and kind.inner.is_float()


def of_lists(formula: Callable[[Array], float]) -> Callable[[pl.Series], pl.Series]:
    """Return a function that applies a formula to the finite numbers of every list; null if there are none."""

    def values(column: pl.Series) -> pl.Series:
        results: list[float | None] = []
        for item in column:
            tokens = np.empty(0) if item is None else item.cast(pl.Float64).to_numpy()
            tokens = tokens[np.isfinite(tokens)]
            results.append(formula(tokens) if len(tokens) else None)
        return pl.Series(column.name, results, pl.Float64)

    return values


def group_means(confidence: Array, window: int = WINDOW) -> Array:
    """Return the mean of every full window of consecutive tokens; that of all tokens if there are fewer.

    >>> group_means(np.array([1.0, 2.0, 6.0]), 2), group_means(np.array([1.0, 2.0]), 5)
    (array([1.5, 4. ]), array([1.5]))
    """
    window = min(window, len(confidence))
    sums = np.concatenate(([0.0], np.cumsum(confidence)))
    means: Array = (sums[window:] - sums[:-window]) / window
    return means


def lowest(confidence: Array) -> float:
    """Return the smallest group confidence."""
    return float(group_means(confidence).min())


def bottom(confidence: Array) -> float:
    """Return the mean of the lowest tenth of the group confidences, at least one of them."""
    groups = np.sort(group_means(confidence))
    return float(groups[: max(1, int(SHARE * len(groups)))].mean())


def tail(confidence: Array) -> float:
    """Return the mean confidence of the last tokens."""
    return float(confidence[-WINDOW:].mean())


def mean(confidence: Array) -> float:
    """Return the mean confidence of all tokens."""
    return float(confidence.mean())


def as_score(formula: Callable[[Array], float], confidence: Array) -> float:
    """Map a confidence into (0, 1)."""
    c = max(0.0, formula(confidence))
    return c / (1 + c)


FORMULAS = {"deepconf-lowest": lowest, "deepconf-bottom": bottom, "deepconf-tail": tail, "self-certainty": mean}
SCORES = (
    *(
        ComputedScore(
            name=name,
            columns=(CONFIDENCE,),
            reads="lists of one confidence per token",
            accepts=is_list,
            values=of_lists(partial(as_score, formula)),
            missing=f"there is no column {CONFIDENCE!r}: {GENERATE}",
        )
        for name, formula in FORMULAS.items()
    ),
    ComputedScore(
        name="entropy",
        columns=(ENTROPY,),
        reads="lists of one entropy per token",
        accepts=is_list,
        values=of_lists(lambda tokens: math.exp(-max(0.0, float(tokens.mean())))),
        missing=f"there is no column {ENTROPY!r}: {GENERATE}",
    ),
    ComputedScore(
        name="mean-logprob",
        columns=("token_logprobs", "logprobs"),
        reads="lists of one log-probability per token",
        accepts=is_list,
        values=of_lists(lambda tokens: math.exp(min(0.0, float(tokens.mean())))),
        missing="there is no column 'token_logprobs' or 'logprobs'; a run has it as the score self_logprob",
    ),
)
