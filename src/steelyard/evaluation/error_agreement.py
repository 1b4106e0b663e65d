"""Who errs with whom: how often two sources that are both wrong give the same wrong answer.

    share_st    = questions in which s and t give the same wrong answer / questions in which both are wrong
    expected_st = the same share among all other pairs of sources that are wrong in those questions

Some questions have a wrong answer that tempts everybody; `expected` is what that alone would give. Where a source
has several samples in a question, the answer it gave most often counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.source_votes import modal_answers
from steelyard.voting.pools.pool import LabelledPool

Square = NDArray[np.float64]  # [S, S]
FEWEST = 5  # questions in which both are wrong; of fewer no share is told


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
    said = modal_answers(part, np.asarray(part.source), len(names))
    place = np.where(said < 0, len(part.answer_correct), part.base[:, None] + said)
    wrong = (said >= 0) & ~np.append(part.answer_correct, False)[place]
    together = wrong.astype(np.float64)
    both = together.T @ together
    same = np.array([(wrong & wrong[:, [s]] & (said == said[:, [s]])).sum(axis=0) for s in range(len(names))], float)
    pairs, alike = _pairs_by_question(said, wrong)
    others = together.T @ (pairs[:, None] * together) - both
    other_same = together.T @ (alike[:, None] * together) - same
    known = (both >= FEWEST) & ~np.eye(len(names), dtype=bool)
    with np.errstate(invalid="ignore", divide="ignore"):
        share, expected = np.where(known, same / both, np.nan), np.where(known, other_same / others, np.nan)
    return ErrorAgreement(names, share, expected, both.astype(np.int64))


def _pairs_by_question(said: NDArray[np.int32], wrong: NDArray[np.bool_]) -> tuple[Square, Square]:
    """How many pairs of sources are wrong in every question [Q], and how many of them agree [Q]."""
    count = wrong.sum(axis=1).astype(np.float64)
    question = np.nonzero(wrong)[0]
    keys = question * (int(said.max(initial=0)) + 1) + said[wrong]
    found, votes = np.unique(keys, return_counts=True)
    alike = np.bincount(found // (int(said.max(initial=0)) + 1), votes * (votes - 1) / 2, len(said))
    return count * (count - 1) / 2, np.asarray(alike, np.float64)


def families_together(found: ErrorAgreement) -> list[int]:
    """An order of the sources in which those that err together stand together [S].

    Groups are joined by average linkage, most alike first, each turned so that its nearest end meets the other's.

    >>> share = np.array([[np.nan, 0.1, 0.9], [0.1, np.nan, 0.2], [0.9, 0.2, np.nan]])
    >>> families_together(ErrorAgreement(("a", "b", "c"), share, share, np.full((3, 3), 9)))
    [0, 2, 1]
    """
    usual = np.nanmean(found.share) if np.isfinite(found.share).any() else 0.0
    close = np.where(np.isfinite(found.share), found.share, usual)
    groups = [[s] for s in range(len(close))]
    while len(groups) > 1:
        ends = [(close[np.ix_(a, b)].mean(), -i, -j) for i, a in enumerate(groups) for j, b in enumerate(groups[:i])]
        _, i, j = max(ends)
        second, first = groups.pop(-i), groups.pop(-j)
        groups.insert(-j, _joined(first, second, close))
    return groups[0]


def _joined(first: list[int], second: list[int], close: Square) -> list[int]:
    ways = [(a, b) for a in (first, first[::-1]) for b in (second, second[::-1])]
    best = max(range(len(ways)), key=lambda k: (close[ways[k][0][-1], ways[k][1][0]], -k))
    return [*ways[best][0], *ways[best][1]]
