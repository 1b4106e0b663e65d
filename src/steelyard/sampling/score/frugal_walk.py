"""A walk over questions: what to ask a verifier next, in rounds, until the rule needs no more of any question.

A round is decided when the one before it is complete, and by nothing but the scores: which of them comes first, or
was there before, changes nothing. Copies of a text are one reading, which is asked for once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard.voting.methods.base.method import Method
from steelyard.voting.on_demand.base_rule import AskingRule
from steelyard.voting.pools.arrays import Bools, Floats
from steelyard.voting.pools.pool import LabelledPool, Pool


class Walk:
    """Where a walk stands: what was asked [R] and what was said [R], NaN where that is nothing."""

    def __init__(self, rule: AskingRule, voter: Method, pool: Pool, asked: Bools, scores: Floats) -> None:
        self.rule, self.voter = rule, voter
        self.pool = pool.unlabelled() if isinstance(pool, LabelledPool) else pool
        self.asked, self.scores = asked.copy(), np.where(asked, scores, np.nan)
        self.rounds = 0
        self._question = pool.spread(np.arange(pool.n_questions))
        self._active = np.ones(pool.n_questions, bool)

    @property
    def decided(self) -> float:
        """The share of the questions that need no more."""
        return float(1 - self._active.mean())

    def next(self) -> list[list[int]]:
        """The readings to ask for now, each as the rows of its copies in the order of samples; none: it is over."""
        rows = np.flatnonzero(self._active[self._question])
        part = self._with_scores().take(np.flatnonzero(self._active)).only_asked(self.asked[rows])
        some = np.zeros(len(rows), bool) if part.asked is None else self.rule.next(self.voter, part) & ~part.asked
        wanted = rows[some]
        self._active[:] = False
        self._active[self._question[wanted]] = True
        self.rounds += 1
        return self._readings(wanted.tolist())

    def tell(self, rows: Sequence[int], score: float) -> None:
        """Take in what the verifier said of a text, NaN where it failed, for all its copies."""
        self.asked[rows], self.scores[rows] = True, score

    def seen(self) -> Pool:
        """The pool with what was asked so far."""
        return self._with_scores().only_asked(self.asked)

    def _with_scores(self) -> Pool:
        return replace(self.pool, scores=self.scores)

    def _readings(self, rows: list[int]) -> list[list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        for row in rows:
            text = row if self.pool.text is None else int(self.pool.text[row])
            found.setdefault((int(self._question[row]), text), []).append(row)
        return list(found.values())
