"""The counting rule: the only place that sums weights, breaks ties and skips the unreadable.

    winner(question) = argmax over answers k of  sum of w_i over responses i that answered k

- An unreadable answer casts no vote; a question with only such answers has no winner.
- Negative totals are fine: argmax is argmax. A lone answer wins whatever its weight.
- Ties: higher total score (a missing score counts as the question's mean), then more votes,
  then the answer seen first. Best-of-n has used the scores already and passes over them (`by_score=False`).
- In a pool with a similarity (pools/similarity.py) a weight also counts for similar answers, by their similarity:

    winner(question) = argmax over answers k of  sum over responses i of  w_i K(k, answer of i)
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.foundation.cores import run_together, usable_cores
from steelyard.foundation.errors import SettingError
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.similarity import ALIKE
from steelyard.voting.pools.verdicts import Verdicts

WORTH_A_THREAD = 1_000_000  # responses


def tally(
    pool: Pool, weights: ArrayLike, *, by_score: bool = True, spread: bool = True, threads: int | None = None
) -> Verdicts:
    """Count one weight per response into one verdict per question.

    Two moderate scores for 7 outweigh one high score for 3, until low scores count against:

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[3, 7, 7], scores=[0.9, 0.5, 0.6])
    >>> tally(pool, [0.9, 0.5, 0.6]).answer, tally(pool, [0.4, 0.0, 0.1]).answer
    (array([7], dtype=int32), array([3], dtype=int32))

    The result does not depend on `threads` (default: one for each million responses, at most
    one per core) nor on the order of a question's responses: weights are rounded to a quantum at which
    tens of thousands of them add without error (kernels/totals.py). With `spread=False` the weights already contain
    what similar answers add.
    """
    from steelyard.voting import kernels

    w = np.asarray(weights, np.float64, order="C")
    if w.shape != pool.answer.shape:
        raise SettingError(f"weights have shape {w.shape}: give one for each of the {pool.n_responses} responses")
    size = pool.n_questions
    code = np.empty(size, np.int32)  # the loops fill all of these
    total, margin, positive = np.empty(size), np.empty(size), np.empty(size)
    votes, cast = np.empty(size, np.int64), np.empty(size, np.int64)
    scores = pool.scores if pool.scores is not None and by_score else np.empty(0)
    read = (pool.starts, pool.width, pool.answer, kernels.read_only(w), kernels.read_only(scores))
    written = (code, total, margin, positive, votes, cast)
    if pool.similarity is not None:
        support = np.empty(size)
        blocks = (pool.similarity.begin, pool.similarity.values, spread, ALIKE)
        _need_finite(kernels.tally_similar(*read, *blocks, *written, support))
        return Verdicts(pool, *written, support=support)

    def count(begin: int, end: int) -> bool:
        room = int(pool.width[begin:end].max(initial=1)) + 1
        counted = np.zeros(room, np.int64), np.zeros(room), np.zeros(room, np.int64), np.zeros(room)
        return bool(kernels.tally(*read, begin, end, *counted, *written))

    more = pool.n_responses // WORTH_A_THREAD
    workers = threads or (min(usable_cores(), 1 + more) if more else 1)
    cuts = pairwise(np.linspace(0, size, workers + 1).astype(int).tolist())
    _need_finite(all(run_together([partial(count, begin, end) for begin, end in cuts])))
    return Verdicts(pool, *written)


def _need_finite(finite: bool) -> None:
    if not finite:
        raise SettingError("weights must be finite: clip the scores, or give missing ones the weight of the prior")


def smoothed(pool: Pool, by_answer: ArrayLike) -> NDArray[np.float64]:
    """Return sum_j K(k, j) x_j for every answer k, of values x [K], question by question in the order of the codes.

    Without a similarity these are the values themselves.
    """
    from steelyard.voting import kernels

    x = np.asarray(by_answer, np.float64)
    if pool.similarity is None:
        return x
    out = np.zeros(len(x))
    offsets = np.cumsum(pool.width) - pool.width
    kernels.smooth(pool.similarity.begin, pool.width, offsets, pool.similarity.values, x, out)
    return out


def answer_totals(pool: Pool, weights: ArrayLike) -> tuple[NDArray[np.float64], Ints]:
    """Return the summed weight and the votes of every answer [K], question by question in the order of the codes.

    A winner's total is that of its verdict, to the last bit.

    >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[3, 7, 7])
    >>> total, votes = answer_totals(pool, [0.75, 0.5, 0.25])
    >>> total[[3, 7]].tolist(), votes[[3, 7]].tolist()
    ([0.75, 0.75], [1, 2])
    """
    from steelyard.voting import kernels

    size = int(pool.width.sum())
    total, votes = np.zeros(size), np.zeros(size, np.int64)
    w = kernels.read_only(np.asarray(weights, np.float64))
    kernels.answer_totals(pool.starts, np.cumsum(pool.width) - pool.width, pool.answer, w, total, votes)
    return total, votes


def quantize_known(z: NDArray[np.float64], missing: float) -> NDArray[np.float64]:
    """Round to multiples of 2^-36 like `quantize`, with `missing` in place of NaN.

    >>> quantize_known(np.array([0.5, np.nan]), 0.25).tolist()
    [0.5, 0.25]
    """
    from steelyard.voting import kernels

    rounded = np.empty(len(z))
    kernels.fill_evidence(np.ascontiguousarray(z), float(missing), rounded)
    return rounded


def quantize(z: ArrayLike) -> NDArray[np.float64]:
    """Round to a multiple of 2^-36.

    >>> quantize([0.5, 1e-16]).tolist()
    [0.5, 0.0]
    """
    from steelyard.voting import kernels

    moved = np.asarray(z, np.float64) + kernels.QUANTIZER
    return np.subtract(moved, kernels.QUANTIZER)
