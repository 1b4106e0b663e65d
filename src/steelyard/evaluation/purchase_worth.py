"""What a purchase is worth and about what it costs, on calibration questions: fast enough to try hundreds.

    P(answer k) ~ exp(sum over sources s of  w_s share_sk + v_s evidence_sk)      (voting/fitting/answer_odds.py)

share_sk: the part of its samples in which s gave k; evidence_sk: the sum of their standardised logits, by the same
number. A purchase is worth what a cascade is worth (cascade_search.py): mostly how likely its verdicts are correct,
less how many were, by fits on the other folds, as that is far less a matter of luck. The verifier is taken to read two
responses of every answer where answers differ, which is about what the rule `expected` reads; what it reads in truth
is measured later (committee_ways.py).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.cascade_search import FOLDS, REALISED, REFITS
from steelyard.evaluation.committee_prices import PricedPool, paid
from steelyard.evaluation.purchase import Purchase
from steelyard.voting.fitting.answer_odds import Panel, fit_odds, is_correct, leading
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.pools.arrays import Ints, places_among
from steelyard.voting.score_weights import clipped_logit

READ = 2  # responses of every answer
LEAST = 0.1  # spread of the logits of a source
Vector = NDArray[np.float64]


class Column(NamedTuple):
    """The first samples of one source: how many gave each answer [K], their share and evidence [K], and the cost."""

    given: Vector
    share: Vector
    evidence: Vector
    cost: float  # mean per question


class PurchaseWorth:
    """The worth and the cost of purchases, each measured once."""

    def __init__(self, priced: PricedPool, seed: int) -> None:
        pool = priced.pool
        self.prices, self.questions = priced.score, pool.n_questions
        self.source, self.cost = paid(pool)
        self._question: Ints = pool.spread(np.arange(pool.n_questions))
        offsets = np.cumsum(pool.width) - pool.width
        self._answer = np.where(pool.readable, pool.spread(offsets) + pool.answer, -1)
        self.correct = np.zeros(int(pool.width.sum()), bool)
        self.correct[self._answer[pool.correct]] = True
        self.of_answer = np.repeat(np.arange(pool.n_questions), pool.width)
        self._code = (np.arange(len(self.of_answer)) - offsets[self.of_answer]).astype(np.int32)
        self.fold = fold_of(pool, FOLDS, seed)
        z = clipped_logit(pool.known_scores)
        self.may_score = [bool((~np.isnan(z[self.source == s])).any()) for s in range(len(priced.score))]
        self._z = np.zeros(len(z))
        for s in np.flatnonzero(self.may_score):
            mine = self.source == s
            self._z[mine] = (z[mine] - np.nanmean(z[mine])) / max(float(np.nanstd(z[mine])), LEAST)
        self._z = np.nan_to_num(self._z)
        self._place = places_among(self._question * len(priced.score) + self.source)
        self.column = cache(self._column)
        self.of = cache(self._of)

    def _of(self, bought: Purchase) -> tuple[float, float]:
        """The worth of a purchase, and about its mean cost per question."""
        columns = {s: self.column(s, bought.samples[s]) for s in bought.sources}
        share = [column.share for column in columns.values()]
        evidence = [column.evidence for s, column in columns.items() if bought.scored[s]]
        rows = np.flatnonzero(np.any(share, axis=0))
        x = np.stack([*share, *evidence], axis=1)[rows]
        names = tuple(str(i) for i in range(x.shape[1]))
        panel = Panel(names, self.questions, self.of_answer[rows], self._code[rows], x, self.correct[rows])
        cost = sum(column.cost for column in columns.values())
        if bought.scores:
            cost += self._read(bought, {s: column.given[rows] for s, column in columns.items()}, panel)
        return self._worth(panel), cost

    def _read(self, bought: Purchase, counts: dict[int, Vector], panel: Panel) -> float:
        """About what the scores cost."""
        answers = np.bincount(panel.question, minlength=self.questions)
        among = sum((counts[s] for s in counts if bought.scored[s]), np.zeros(len(panel.question)))
        part = np.where(answers[panel.question] > 1, np.minimum(1.0, READ / np.maximum(among, 1.0)), 0.0)
        read = sum(float(self.prices[s] * (part @ counts[s])) for s in counts if bought.scored[s])
        return read / self.questions

    def _worth(self, panel: Panel) -> float:
        """The share of correct verdicts by fits on the other folds, and how likely they say that these are."""
        columns = list(range(len(panel.names)))
        theta, worth = fit_odds(panel, columns), 0.0
        for k in range(FOLDS):
            seen, held = (panel.take(np.flatnonzero(part)) for part in (self.fold != k, self.fold == k))
            found = leading(held, columns, fit_odds(seen, columns, start=theta, steps=REFITS))
            worth += REALISED * is_correct(held, found.row).sum() + (1 - REALISED) * found.confidence.sum()
        return worth / self.questions

    def _column(self, source: int, samples: int) -> Column:
        mine = (self.source == source) & (self._place < samples)
        given = np.bincount(self._question[mine], minlength=self.questions)
        mean, size = 1 / np.maximum(given, 1), len(self.correct)
        rows = np.flatnonzero(mine & (self._answer >= 0))
        answer, unit = self._answer[rows], mean[self._question[rows]]
        share, evidence = (np.bincount(answer, each, size).astype(np.float64) for each in (unit, unit * self._z[rows]))
        count = np.bincount(answer, minlength=size).astype(np.float64)
        return Column(count, share, evidence, float(self.cost[mine].sum() / self.questions))
