"""The sources of a committee: which make the same errors, and how much accuracy each adds.

    share_st    = questions in which s and t give the same wrong answer / questions in which both are wrong
    expected_st = the same share among all other pairs of sources that are wrong in those questions

Some questions have one wrong answer that most sources give; `expected` is what that alone would lead to. Where a source
has several samples per question, its most frequent answer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import Estimate, estimates
from steelyard.voting.fitting.source_votes import modal_answers
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool

Square = NDArray[np.float64]  # [S, S]
FEWEST = 5  # questions in which both are wrong; below, no share is reported
MAX_QUESTIONS = 1000  # calibration questions; a fit for every source takes a while


@dataclass(frozen=True, eq=False)
class ErrorAgreement:
    """Agreement in error of every pair of sources; NaN on the diagonal and where both are wrong too rarely."""

    names: tuple[str, ...]  # [S]
    share: Square
    expected: Square
    both: NDArray[np.int64]  # [S, S] questions in which both are wrong


def error_agreement(pool: LabelledPool, names: tuple[str, ...]) -> ErrorAgreement:
    """Measure the agreement in error of these sources of a labelled pool.

    >>> from steelyard.voting.pools.pool import Pool
    >>> rows = [(q, s, a) for q in range(10) for s, a in (("a", 1), ("b", 1), ("c", 2 + q % 2), ("d", 0))]
    >>> question, source, answer = zip(*rows)
    >>> pool = Pool.from_arrays(question=question, source=source, answer=answer, correct=[a == 0 for a in answer])
    >>> found = error_agreement(pool, ("a", "b", "c"))
    >>> found.share[0].tolist(), found.expected[0].tolist()
    ([nan, 1.0, 0.0], [nan, 0.0, 0.5])
    """
    part = pool.from_sources(names)
    names = part.sources
    answer = modal_answers(part, np.asarray(part.source), len(names))
    place = np.where(answer < 0, len(part.answer_correct), part.base[:, None] + answer)
    wrong = (answer >= 0) & ~np.append(part.answer_correct, False)[place]
    if part.similarity is not None:  # answers that are alike are the same error
        offsets = np.cumsum(part.width) - part.width
        leader = part.similarity.leaders(part.width)
        answer = np.where(answer < 0, -1, leader[offsets[:, None] + np.maximum(answer, 0)]).astype(np.int32)
    together = wrong.astype(np.float64)
    both = together.T @ together
    same = np.array(
        [(wrong & wrong[:, [s]] & (answer == answer[:, [s]])).sum(axis=0) for s in range(len(names))], float
    )
    pairs, alike = _pairs_by_question(answer, wrong)
    others = together.T @ (pairs[:, None] * together) - both
    other_same = together.T @ (alike[:, None] * together) - same
    is_measured = (both >= FEWEST) & ~np.eye(len(names), dtype=bool)
    with np.errstate(invalid="ignore", divide="ignore"):
        share, expected = np.where(is_measured, same / both, np.nan), np.where(is_measured, other_same / others, np.nan)
    return ErrorAgreement(names, share, expected, both.astype(np.int64))


def _pairs_by_question(answer: NDArray[np.int32], wrong: NDArray[np.bool_]) -> tuple[Square, Square]:
    """Count the pairs of sources that are both wrong in each question [Q], and those that agree [Q]."""
    count = wrong.sum(axis=1).astype(np.float64)
    question = np.nonzero(wrong)[0]
    keys = question * (int(answer.max(initial=0)) + 1) + answer[wrong]
    cells, votes = np.unique(keys, return_counts=True)
    alike = np.bincount(cells // (int(answer.max(initial=0)) + 1), votes * (votes - 1) / 2, len(answer))
    return count * (count - 1) / 2, np.asarray(alike, np.float64)


def error_order(agreement: ErrorAgreement) -> list[int]:
    """Return an order of the sources in which those that make the same errors are adjacent [S].

    Groups are merged by average linkage, the most similar first, each oriented so that the nearest ends meet.

    >>> share = np.array([[np.nan, 0.1, 0.9], [0.1, np.nan, 0.2], [0.9, 0.2, np.nan]])
    >>> error_order(ErrorAgreement(("a", "b", "c"), share, share, np.full((3, 3), 9)))
    [0, 2, 1]
    """
    usual = np.nanmean(agreement.share) if np.isfinite(agreement.share).any() else 0.0
    close = np.where(np.isfinite(agreement.share), agreement.share, usual)
    groups = [[s] for s in range(len(close))]
    while len(groups) > 1:
        ends = [(close[np.ix_(a, b)].mean(), -i, -j) for i, a in enumerate(groups) for j, b in enumerate(groups[:i])]
        _, i, j = max(ends)
        second, first = groups.pop(-i), groups.pop(-j)
        groups.insert(-j, _joined(first, second, close))
    return groups[0]


def _joined(first: list[int], second: list[int], close: Square) -> list[int]:
    joins = [(a, b) for a in (first, first[::-1]) for b in (second, second[::-1])]
    best = max(range(len(joins)), key=lambda k: (close[joins[k][0][-1], joins[k][1][0]], -k))
    return [*joins[best][0], *joins[best][1]]


def leave_one_out(
    method: Method,
    cal: LabelledPool,
    test: LabelledPool,
    names: Sequence[str],
    *,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Estimate]:
    """Return, for each of these sources, the accuracy with all less that without it, paired over test questions.

    Both votes are fitted on the same calibration questions, evenly spaced ones where there are very many.
    """
    few = cal.take(np.argsort(cal.rank)[:: -(-cal.n_questions // MAX_QUESTIONS)])
    all_correct = _correct(method, few, test, test.sources)
    lost = []
    for i, name in enumerate(names):
        rest = [other for other in test.sources if other != name]
        lost.append(all_correct - _correct(method, few, test, rest))
        if progress:
            progress((i + 1) / len(names))
    return dict(zip(names, estimates(np.column_stack(lost), seed=seed), strict=True))


def _correct(method: Method, cal: LabelledPool, test: LabelledPool, names: Sequence[str]) -> NDArray[np.float64]:
    """Return which test questions [Q] the committee of these sources decides correctly; unanswered ones are wrong."""
    part = test.from_sources(names)
    present = [name for name in names if name in cal.sources]
    vote = deepcopy(method).fit(cal.from_sources(present))
    rows = np.flatnonzero(np.isin(np.asarray(test.questions), np.asarray(part.questions)))
    correct = np.zeros(test.n_questions)
    correct[rows] = vote.predict(part.unlabelled()).correct(part)
    return correct
