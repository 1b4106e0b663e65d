"""How likely is each answer of some sources correct, and how likely none of them? A conditional logit.

    P(answer k) = exp(sum over sources s of  w_s share_sk) / (exp(none) + sum over answers of the same)

share_sk: the part of its samples in which s gave k, a dense table (`Panel`) with a row per answer and a column per
source. Asking a source means all of its samples at once: it has one vote, which its samples share. The logit is fitted
for one set of sources that were asked, so the probability of the leading answer is one of being correct, not one of
beating the others: it tells whether to ask another source. Each w_s is drawn to 1, firmly enough that few labels do not
carry it away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import SettingError
from steelyard.voting.pools.arrays import Bools, Codes, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool

Vector = NDArray[np.float64]
USUAL, FIRM, NONE_FIRM = 1.0, 0.5, 0.1
LARGEST = 40.0  # log-odds beyond which nothing changes
STEPS, TOLERANCE = 25, 1e-7
DIGITS = 9  # of a probability: beyond these equal answers may differ between machines
SURE = 1 - 1e-6  # no answer is more likely than this


@dataclass(frozen=True, eq=False)
class Panel:
    """K answers to Q questions by S sources, sorted by question.

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[5, 6, 5], source=["gpt", "llama", "phi"])
    >>> Panel.of(pool).share
    array([[1., 0., 1.],
           [0., 1., 0.]])
    """

    names: tuple[str, ...]  # of the sources
    questions: int
    question: Ints  # [K] rising
    code: Codes  # [K] of the answer, in its question
    share: NDArray[np.float64]  # [K, S] of a source's samples that gave this answer
    correct: Bools  # [K] all False without labels

    @classmethod
    def of(cls, pool: Pool) -> Panel:
        """Lay out a pool that knows its sources."""
        if pool.source is None:
            raise SettingError(f"this pool has no sources: read the table with {argument('source', 'llm')}")
        labels = pool.correct if isinstance(pool, LabelledPool) else np.zeros(pool.n_responses, bool)
        return cls.build(
            pool.sources, pool.n_questions, pool.spread(np.arange(pool.n_questions)), pool.answer, pool.source, labels
        )

    @classmethod
    def build(
        cls, names: Sequence[str], questions: int, question: Ints, answer: Codes, source: Codes, correct: Bools
    ) -> Panel:
        """Lay out responses [R], the answer -1 where it could not be read."""
        sources, readable = len(names), answer >= 0
        samples = np.bincount(question * sources + source, minlength=questions * sources)
        unit = 1.0 / np.maximum(samples[question * sources + source], 1)
        width = int(answer.max(initial=0)) + 1
        keys, row = np.unique((question * width + answer)[readable], return_inverse=True)
        share = np.zeros(len(keys) * sources)
        np.add.at(share, row * sources + source[readable], unit[readable])
        right = np.bincount(row, correct[readable], len(keys)) > 0
        codes = (keys % width).astype(np.int32)
        return cls(tuple(names), questions, keys // width, codes, share.reshape(len(keys), sources), right)

    def take(self, questions: Ints) -> Panel:
        """Keep these questions, by position, each once; they are numbered in this order."""
        position = np.full(self.questions, -1)
        position[questions] = np.arange(len(questions))
        at = position[self.question]
        rows = np.flatnonzero(at >= 0)
        rows = rows[np.argsort(at[rows], kind="stable")]
        return Panel(self.names, len(questions), at[rows], self.code[rows], self.share[rows], self.correct[rows])


class Leading(NamedTuple):
    """The most likely answer of every question: its row of the panel [Q], -1 for none, and how likely it is."""

    row: Ints
    confidence: Vector


def fit_odds(panel: Panel, sources: list[int], *, start: Vector | None = None, steps: int = STEPS) -> Vector:
    """Return the weights of the sources and, last, the log-odds that none of the answers is correct."""
    rows = panel.share[:, sources].any(axis=1)
    x, question, correct = panel.share[:, sources][rows], panel.question[rows], panel.correct[rows]
    n, size = panel.questions, len(sources)
    centre, firm = np.append(np.full(size, USUAL), 0.0), np.append(np.full(size, FIRM), NONE_FIRM)
    has_correct = np.bincount(question, correct, n) > 0
    theta = centre if start is None else start
    for _ in range(steps):
        e, none = np.exp(np.clip(x @ theta[:size], -LARGEST, LARGEST)), np.exp(theta[size])
        total = np.bincount(question, e, n) + none
        p, p_none = e / total[question], none / total
        right = np.bincount(question, e * correct, n)
        target = np.where(correct, e / np.maximum(right, 1e-300)[question], 0.0)
        gradient = np.append(x.T @ (target - p), (~has_correct - p_none).sum()) - firm * (theta - centre)
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
