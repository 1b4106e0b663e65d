"""What an answer would lose without one of its responses: its probability now, less that with the response unreadable.

An unreadable response casts no vote but counts among the N samples, so nothing else changes. A negative loss says that
the answer would stand better without it: the response counts against its answer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.arrays import Codes, Ints
from steelyard.voting.pools.pool import Pool

AT_ONCE = 2_000_000  # responses of the questions without one response


def response_losses(method: Method, pool: Pool) -> NDArray[np.float64] | None:
    """Return the loss of every response [R], 0 for an unreadable one; None where the method has no probabilities."""
    mixed = method.mixed(pool)
    before = method.answer_probabilities(mixed)
    if before is None:
        return None
    question = mixed.spread(np.arange(mixed.n_questions))
    loss = np.zeros(mixed.n_responses)
    voting = np.flatnonzero(mixed.readable)
    ends = np.cumsum(mixed.sizes[question[voting]]) // AT_ONCE
    for part in np.split(voting, np.flatnonzero(np.diff(ends)) + 1):
        if len(part):
            answer = mixed.answer[part]
            loss[part] = before.p[before.offsets[question[part]] + answer]
            loss[part] -= _without(method, mixed, question[part], part, answer)
    return loss


def _without(method: Method, pool: Pool, question: Ints, row: Ints, answer: Codes) -> NDArray[np.float64]:
    """The probability of an answer [r] with one row of its question unreadable."""
    copies = pool.take(question)
    answers = copies.answer.copy()
    answers[copies.starts[:-1] + row - pool.starts[question]] = -1
    after = method.answer_probabilities(replace(copies, answer=answers))
    if after is None:
        raise AssertionError(f"{method.name} has probabilities of some pools only")
    probability: NDArray[np.float64] = after.p[after.offsets + answer]
    return probability
