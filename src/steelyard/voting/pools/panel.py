"""Who gave which answer, as one dense table: every row an answer of a question, every column a source.

Asking a source means all of its samples at once: it has one vote, which its samples share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import SettingError
from steelyard.voting.pools.arrays import Bools, Codes, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool


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
            raise SettingError(f"this pool does not say who answered: read the table with {argument('source', 'llm')}")
        labels = pool.correct if isinstance(pool, LabelledPool) else np.zeros(pool.n_responses, bool)
        return cls.build(
            pool.sources, pool.n_questions, pool.spread(np.arange(pool.n_questions)), pool.answer, pool.source, labels
        )

    @classmethod
    def build(
        cls, names: Sequence[str], questions: int, question: Ints, answer: Codes, source: Codes, correct: Bools
    ) -> Panel:
        """Lay out responses [R], the answer -1 where it could not be read."""
        sources, heard = len(names), answer >= 0
        asked = np.bincount(question * sources + source, minlength=questions * sources)
        each = 1.0 / np.maximum(asked[question * sources + source], 1)
        width = int(answer.max(initial=0)) + 1
        keys, row = np.unique((question * width + answer)[heard], return_inverse=True)
        share = np.zeros(len(keys) * sources)
        np.add.at(share, row * sources + source[heard], each[heard])
        right = np.bincount(row, correct[heard], len(keys)) > 0
        codes = (keys % width).astype(np.int32)
        return cls(tuple(names), questions, keys // width, codes, share.reshape(len(keys), sources), right)

    def take(self, questions: Ints) -> Panel:
        """Keep these questions, by position, each once; they are numbered in this order."""
        place = np.full(self.questions, -1)
        place[questions] = np.arange(len(questions))
        at = place[self.question]
        rows = np.flatnonzero(at >= 0)
        rows = rows[np.argsort(at[rows], kind="stable")]
        return Panel(self.names, len(questions), at[rows], self.code[rows], self.share[rows], self.correct[rows])
