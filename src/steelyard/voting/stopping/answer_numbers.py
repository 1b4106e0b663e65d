"""The answer of each sample of a question, numbered 0, 1, 2, .. in the order in which the answers first appear.

Rules that count answers see these numbers alone. Similar answers have the number of the first answer that they are
like, so that a number depends on earlier samples only.
"""

from __future__ import annotations

import numpy as np

from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.similarity import group_leaders


def answer_numbers(pool: Pool, last: int) -> tuple[Ints, Ints]:
    """Return the number of each of the first `last` samples [Q, last], -1 for none, and of each answer [places].

    >>> pool = Pool.from_arrays(question=[0, 0, 0, 1, 1], answer=[7, 5, 7, -1, 3])
    >>> answer_numbers(pool, 3)[0].tolist()
    [[0, 1, 0], [-1, 0, -1]]
    """
    offsets = np.cumsum(pool.width) - pool.width  # of the answers of each question
    sample = np.arange(pool.n_responses) - pool.spread(pool.starts[:-1])
    counted = pool.readable & (sample < last)
    answer = (pool.spread(offsets) + pool.answer)[counted]
    first = np.full(int(pool.width.sum()), last)
    np.minimum.at(first, answer, sample[counted])
    leader = np.arange(len(first))
    if pool.similarity is not None:
        for q, (begin, size) in enumerate(zip(offsets.tolist(), pool.width.tolist(), strict=True)):
            order = np.argsort(first[begin : begin + size], kind="stable").tolist()
            leader[begin : begin + size] = begin + group_leaders(pool.similarity.block(q, size), order)
    question = np.repeat(np.arange(pool.n_questions), pool.width)
    leads = leader == np.arange(len(leader))
    order = np.lexsort((first, ~leads, question))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    number: Ints = (rank - np.repeat(offsets, pool.width))[leader]
    numbers = np.full((pool.n_questions, last), -1)
    numbers[pool.spread(np.arange(pool.n_questions))[counted], sample[counted]] = number[answer]
    return numbers, number
