"""How likely is each answer of some sources correct, and how likely none of them? A conditional logit.

    P(answer k) = exp(sum over sources s of  w_s share_sk) / (exp(none) + sum over answers of the same)

share_sk: the part of its samples in which s gave k. It is fitted for one set of sources that were asked, so the
probability of the leading answer is one of being correct, not one of beating the others: it is what tells
whether to ask anybody else. Each w_s is drawn to 1, firmly enough that few labels do not carry it away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.panel import Panel

Vector = NDArray[np.float64]
USUAL, FIRM, NONE_FIRM = 1.0, 0.5, 0.1
LARGEST = 40.0  # log-odds beyond which nothing changes
STEPS, TOLERANCE = 25, 1e-7
DIGITS = 9  # of a probability: beyond these equal answers may differ between machines
SURE = 1 - 1e-6  # no answer is more likely than this


class Leading(NamedTuple):
    """The most likely answer of every question: its row of the panel [Q], -1 for none, and how likely it is."""

    row: Ints
    confidence: Vector


def fit_odds(panel: Panel, sources: list[int], *, start: Vector | None = None, steps: int = STEPS) -> Vector:
    """Return the weights of the sources and, last, the log-odds that none of the answers is correct."""
    x, question, correct, n = _given(panel, sources)
    size = len(sources)
    centre, firm = np.append(np.full(size, USUAL), 0.0), np.append(np.full(size, FIRM), NONE_FIRM)
    found = np.bincount(question, correct, n) > 0
    theta = centre if start is None else start
    for _ in range(steps):
        e, none = np.exp(np.clip(x @ theta[:size], -LARGEST, LARGEST)), np.exp(theta[size])
        total = np.bincount(question, e, n) + none
        p, p_none = e / total[question], none / total
        right = np.bincount(question, e * correct, n)
        known = np.where(correct, e / np.maximum(right, 1e-300)[question], 0.0)
        gradient = np.append(x.T @ (known - p), (~found - p_none).sum()) - firm * (theta - centre)
        mean = np.column_stack([np.bincount(question, p * column, n) for column in x.T] + [p_none])
        hessian = np.diag(firm) - mean.T @ mean
        hessian[:size, :size] += (x * p[:, None]).T @ x
        hessian[size, size] += p_none.sum()
        step = np.clip(np.linalg.solve(hessian, gradient), -1, 1)
        theta = theta + step
        if np.abs(step).max() < TOLERANCE:
            break
    return np.clip(theta, -LARGEST, LARGEST)


def leading(panel: Panel, sources: list[int], theta: Vector) -> Leading:
    """Find the most likely answer of every question among those of some sources; of equals, that of the first."""
    inside = panel.share[:, sources]
    rows = np.flatnonzero(inside.any(axis=1))
    x, question = inside[rows], panel.question[rows]
    e = np.exp(np.clip(x @ theta[: len(sources)], -LARGEST, LARGEST))
    p = e / (np.bincount(question, e, panel.questions) + np.exp(theta[len(sources)]))[question]
    order = np.lexsort(((x > 0).argmax(axis=1), -p.round(DIGITS), question))
    first = order[np.unique(question[order], return_index=True)[1]]
    row, confidence = np.full(panel.questions, -1), np.zeros(panel.questions)
    row[question[first]], confidence[question[first]] = rows[first], np.minimum(p[first].round(DIGITS), SURE)
    return Leading(row, confidence)


def is_correct(panel: Panel, row: Ints) -> Bools:
    """Which of these rows are correct [Q]; no answer is not."""
    return np.append(panel.correct, False)[row]


def _given(panel: Panel, sources: list[int]) -> tuple[NDArray[np.float64], Ints, Bools, int]:
    inside = panel.share[:, sources]
    rows = inside.any(axis=1)
    return inside[rows], panel.question[rows], panel.correct[rows], panel.questions
