"""Rows that are there twice: a file joined to itself, or written twice.

Where rows have sample numbers, the same one twice is refused. Without them the same answer with the same score may well
be two samples, above all when little is random. But if every row of a question has a twin, though they are not all the
same, and that is so in most questions, then the rows were doubled: every vote counts twice and no error bar is right.
"""

from __future__ import annotations

import warnings

import numpy as np

from steelyard.foundation.errors import SteelyardWarning
from steelyard.voting.pools.pool import Pool

LOOKED_AT = 20_000  # responses
FEWEST = 10  # questions


class RepeatedRows:
    """Counts, pool after pool, the questions whose rows differ, and those of them in which every row has a twin."""

    def __init__(self) -> None:
        self.responses = self.varied = self.doubled = 0

    def look(self, pool: Pool) -> None:
        """Look at a pool, unless enough was seen."""
        if self.responses < LOOKED_AT and pool.source is None:  # two sources may well say the same
            self.responses += pool.n_responses
            varied, doubled = twins(pool)
            self.varied += varied
            self.doubled += doubled

    def warn(self) -> None:
        """Say so if rows seem to be there twice."""
        if self.doubled >= FEWEST and 2 * self.doubled > self.varied:
            warnings.warn(
                f"every row has a twin with the same answer and score in {self.doubled:,} of the {self.varied:,} "
                "questions looked at whose rows differ: the rows seem to be there twice, as if a file was joined to "
                "itself; drop the repeated ones",
                SteelyardWarning,
                stacklevel=3,
            )


def twins(pool: Pool) -> tuple[int, int]:
    """How many questions have rows that differ, and in how many of these each row comes as often as a multiple says."""
    question = pool.spread(np.arange(pool.n_questions))
    scores = np.zeros(pool.n_responses) if pool.scores is None else np.nan_to_num(pool.scores, nan=-1.0)
    order = np.lexsort((scores, pool.answer, question))
    question, answer, scores = question[order], pool.answer[order], scores[order]
    new = np.ones(len(question), bool)
    new[1:] = (question[1:] != question[:-1]) | (answer[1:] != answer[:-1]) | (scores[1:] != scores[:-1])
    firsts = np.flatnonzero(new)
    times = np.diff(np.append(firsts, len(new)))
    begins = np.flatnonzero(np.diff(question[firsts], prepend=-1))
    shared = np.gcd.reduceat(times, begins)
    varied = np.diff(np.append(begins, len(firsts))) > 1
    return int(varied.sum()), int((varied & (shared > 1)).sum())
