"""Find the best purchases for a budget, with and without scores, by hill climbing from several starts.

A step doubles or halves the samples of a source, swaps samples between two sources, or adds or drops the scores of a
source. Spending the whole budget must gain a fifth of a point. `PurchaseWorth` estimates the accuracy and the cost of a
purchase fast enough to try hundreds:

    P(answer k) ~ exp(sum over sources s of  w_s share_sk + v_s evidence_sk)      (voting/fitting/answer_odds.py)

share_sk: the share of the samples of s that gave k; evidence_sk: the sum of their standardised logits, divided by the
same number of samples. As for a cascade (cascade_fitting.py), the worth is mostly the mean probability that the
verdicts are correct, and less the share that were, by fits on the other folds. The verifier is assumed to read two
responses of every answer where answers differ, about as many as the rule `expected` reads; committee_strategies.py
measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.cascade_fitting import FOLDS, REALISED, REFITS
from steelyard.evaluation.purchase import Purchase, levels_of
from steelyard.evaluation.source_prices import PricedPool, paid
from steelyard.evaluation.stopping_rule_choice import CLOSE, WORTH
from steelyard.voting.fitting.answer_odds import Panel, fit_odds, is_correct, leading
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.pools.arrays import Ints, places_among
from steelyard.voting.score_weights import clipped_logit

STEPS, STARTS = 60, 3
Value = Callable[[Purchase], float]
BUDGETS = 7  # to look at, from one sample to everything
READ = 2  # responses of every answer
LEAST = 0.1  # spread of the logits of a source
Vector = NDArray[np.float64]


class PurchaseSearch:
    """Searches purchases over the sources of calibration questions."""

    def __init__(self, priced: PricedPool, seed: int) -> None:
        self.levels = levels_of(priced.pool)
        self.worth = PurchaseWorth(priced, seed)
        sources = len(self.levels)
        costs = [self.worth.column(s, self.levels[s][1]).cost for s in range(sources)]
        highest = sum(self.worth.column(s, levels[-1]).cost for s, levels in enumerate(self.levels))
        highest += float(sum(price * levels[-1] for price, levels in zip(priced.score, self.levels, strict=True)))
        lowest = min((cost for cost in costs if cost), default=highest / 2**BUDGETS)
        self.budgets: list[float] = np.geomspace(lowest, max(highest, lowest), BUDGETS).tolist()

    def offers(self, budgets: Sequence[float], *, scores: bool) -> list[Purchase]:
        """Return the candidates for these rising budgets, with or without scores, without duplicates."""
        offered: dict[Purchase, None] = {}
        last: Purchase | None = None
        for budget in budgets:
            alone = max(self._singles(budget, scores), key=self._value(budget, scores), default=None)
            last = self.within(budget, scores=scores, after=last)
            some = [bought for bought in (last, alone) if bought]
            some += [self.filled(bought, budget) for bought in some]
            if scores:
                able = [bought for bought in some if all(self.worth.may_score[s] for s in bought.sources)]
                some += [bought.all_scored for bought in able if self._pays(bought.all_scored, budget)]
            offered |= dict.fromkeys(some)
        return list(offered)

    def within(self, budget: float, *, scores: bool, after: Purchase | None = None) -> Purchase | None:
        """Return the best purchase for a mean cost per question, with or without scores; None if nothing is affordable.

        `after`: the best purchase of a smaller budget, as another start.
        """
        may_score = [scores and may for may in self.worth.may_score]
        value = self._value(budget, scores)
        starts = {*self._singles(budget, scores), *([after] if after else [])}
        first = sorted(starts, key=lambda one: (-value(one), one.samples))[:STARTS]
        return max((self._climbed(start, value, may_score) for start in first), key=value, default=None)

    def filled(self, bought: Purchase, budget: float) -> Purchase:
        """Add samples to the sources of a purchase while the budget lasts, the source with the fewest first.

        More samples seldom harm, and their small gain cannot be measured on few questions.
        """
        while True:
            more = (bought.moved(s, 1, self.levels) for s in sorted(bought.sources, key=lambda s: bought.samples[s]))
            if (better := next((option for option in more if option and self._pays(option, budget)), None)) is None:
                return bought
            bought = better

    def _value(self, budget: float, scores: bool) -> Value:
        def value(bought: Purchase) -> float:
            if bought.scores != scores or not self._pays(bought, budget):
                return -np.inf
            worth, cost = self.worth.of(bought)
            return worth - WORTH * cost / budget

        return value

    def _pays(self, bought: Purchase, budget: float) -> bool:
        return self.worth.of(bought)[1] <= budget * (1 + CLOSE)

    def _singles(self, budget: float, scores: bool) -> list[Purchase]:
        """Return the affordable purchases of a single source."""
        sources = range(len(self.levels))
        singles = [
            Purchase(tuple(count * (t == s) for t in sources), tuple(scores and t == s for t in sources))
            for s in sources
            for count in self.levels[s][1:]
            if not scores or self.worth.may_score[s]
        ]
        return [one for one in singles if self._pays(one, budget)]

    def _climbed(self, start: Purchase, value: Value, may_score: list[bool]) -> Purchase:
        now = start
        for _ in range(STEPS):
            best = max(now.neighbours(self.levels, may_score), key=value, default=now)
            if value(best) <= value(now) + CLOSE:
                break
            now = best
        return now


class Column(NamedTuple):
    """The first samples of one source: how many gave each answer [K], their share and evidence [K], and the cost."""

    counts: Vector
    share: Vector
    evidence: Vector
    cost: float  # mean per question


class PurchaseWorth:
    """The worth and the cost of purchases, cached."""

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
        """Return the worth of a purchase, and its approximate mean cost per question."""
        columns = {s: self.column(s, bought.samples[s]) for s in bought.sources}
        share = [column.share for column in columns.values()]
        evidence = [column.evidence for s, column in columns.items() if bought.scored[s]]
        rows = np.flatnonzero(np.any(share, axis=0))
        x = np.stack([*share, *evidence], axis=1)[rows]
        names = tuple(str(i) for i in range(x.shape[1]))
        panel = Panel(names, self.questions, self.of_answer[rows], self._code[rows], x, self.correct[rows])
        cost = sum(column.cost for column in columns.values())
        if bought.scores:
            cost += self._read(bought, {s: column.counts[rows] for s, column in columns.items()}, panel)
        return self._worth(panel), cost

    def _read(self, bought: Purchase, counts: dict[int, Vector], panel: Panel) -> float:
        """Return the approximate mean cost of the scores."""
        answers = np.bincount(panel.question, minlength=self.questions)
        among = sum((counts[s] for s in counts if bought.scored[s]), np.zeros(len(panel.question)))
        part = np.where(answers[panel.question] > 1, np.minimum(1.0, READ / np.maximum(among, 1.0)), 0.0)
        read = sum(float(self.prices[s] * (part @ counts[s])) for s in counts if bought.scored[s])
        return read / self.questions

    def _worth(self, panel: Panel) -> float:
        """Return the cross-fitted share of correct verdicts, averaged with their mean probability."""
        columns = list(range(len(panel.names)))
        theta, worth = fit_odds(panel, columns), 0.0
        for k in range(FOLDS):
            seen, held = (panel.take(np.flatnonzero(part)) for part in (self.fold != k, self.fold == k))
            leads = leading(held, columns, fit_odds(seen, columns, start=theta, steps=REFITS))
            worth += REALISED * is_correct(held, leads.row).sum() + (1 - REALISED) * leads.confidence.sum()
        return worth / self.questions

    def _column(self, source: int, samples: int) -> Column:
        mine = (self.source == source) & (self._place < samples)
        counts = np.bincount(self._question[mine], minlength=self.questions)
        mean, size = 1 / np.maximum(counts, 1), len(self.correct)
        rows = np.flatnonzero(mine & (self._answer >= 0))
        answer, unit = self._answer[rows], mean[self._question[rows]]
        share, evidence = (np.bincount(answer, w, size).astype(np.float64) for w in (unit, unit * self._z[rows]))
        count = np.bincount(answer, minlength=size).astype(np.float64)
        return Column(count, share, evidence, float(self.cost[mine].sum() / self.questions))
