"""The best purchases for a budget, with scores and without: a climb from several starts.

A step is twice or half as many samples of a source, some of one source for some of another, or the scores of a source.
All of a budget must bring a fifth of a point, or it is not spent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from steelyard.evaluation.committee_prices import PricedPool
from steelyard.evaluation.purchase import Purchase, levels_of
from steelyard.evaluation.purchase_worth import PurchaseWorth
from steelyard.evaluation.rule_for_budget import CLOSE, WORTH

STEPS, STARTS = 60, 3
Value = Callable[[Purchase], float]
BUDGETS = 7  # to look at, from one sample to everything


class PurchaseSearch:
    """Purchases over the sources of calibration questions."""

    def __init__(self, priced: PricedPool, seed: int) -> None:
        self.levels = levels_of(priced.pool)
        self.known = PurchaseWorth(priced, seed)
        sources = len(self.levels)
        self.nothing = Purchase((0,) * sources, (False,) * sources)
        costs = [self.known.column(s, self.levels[s][1]).cost for s in range(sources)]
        most = sum(self.known.column(s, levels[-1]).cost for s, levels in enumerate(self.levels))
        most += float(sum(price * levels[-1] for price, levels in zip(priced.score, self.levels, strict=True)))
        least = min((cost for cost in costs if cost), default=most / 2**BUDGETS)
        self.budgets: list[float] = np.geomspace(least, max(most, least), BUDGETS).tolist()

    def offers(self, budgets: Sequence[float], *, scores: bool) -> list[Purchase]:
        """What is worth a closer look for these budgets, from small to large: with scores, or without, each once."""
        offered: dict[Purchase, None] = {}
        last: Purchase | None = None
        for budget in budgets:
            alone = self._best_alone(budget, scores=scores)
            last = self.within(budget, scores=scores, after=last)
            some = [bought for bought in (last, alone) if bought]
            some += [self.filled(bought, budget) for bought in some]
            if scores:
                able = [bought for bought in some if all(self.known.may_score[s] for s in bought.sources)]
                some += [whole for whole in (bought.all_scored for bought in able) if self._pays(whole, budget)]
            offered |= dict.fromkeys(some)
        return list(offered)

    def within(self, budget: float, *, scores: bool, after: Purchase | None = None) -> Purchase | None:
        """The best purchase for about this much per question, scored or not; None where nothing can be paid.

        `after`: the best one of a smaller budget, to set out from too.
        """
        may_score = [scores and may for may in self.known.may_score]
        value = self._value(budget, scores)
        starts = {*self._singles(budget, scores), *([after] if after else [])}
        first = sorted(starts, key=lambda one: (-value(one), one.samples))[:STARTS]
        return max((self._climbed(start, value, may_score) for start in first), key=value, default=None)

    def filled(self, bought: Purchase, budget: float) -> Purchase:
        """The same sources with more samples of each, as long as the budget lasts; the fewest first.

        More samples seldom harm, and how little they help is more than so few questions can tell.
        """
        while True:
            more = (bought.moved(s, 1, self.levels) for s in sorted(bought.sources, key=lambda s: bought.samples[s]))
            if (found := next((each for each in more if each and self._pays(each, budget)), None)) is None:
                return bought
            bought = found

    def _value(self, budget: float, scores: bool) -> Value:
        def value(bought: Purchase) -> float:
            if bought.scores != scores or not self._pays(bought, budget):
                return -np.inf
            worth, cost = self.known.of(bought)
            return worth - WORTH * cost / budget

        return value

    def _pays(self, bought: Purchase, budget: float) -> bool:
        return self.known.of(bought)[1] <= budget * (1 + CLOSE)

    def _best_alone(self, budget: float, *, scores: bool) -> Purchase | None:
        return max(self._singles(budget, scores), key=self._value(budget, scores), default=None)

    def _singles(self, budget: float, scores: bool) -> list[Purchase]:
        """Every number of samples of every single source that can be paid."""
        able = [s for s in range(len(self.levels)) if not scores or self.known.may_score[s]]
        return [one for s in able for one in self._alone(s, scores) if self._pays(one, budget)]

    def _alone(self, source: int, scored: bool) -> list[Purchase]:
        """Every number of samples of one source, and of no other."""
        counts = self.levels[source][1:]
        samples = [tuple(count if s == source else 0 for s in range(len(self.levels))) for count in counts]
        return [Purchase(each, self.nothing.scored).scoring(source, scored) for each in samples]

    def _climbed(self, start: Purchase, value: Value, may_score: list[bool]) -> Purchase:
        now = start
        for _ in range(STEPS):
            best = max(now.neighbours(self.levels, may_score), key=value, default=now)
            if value(best) <= value(now) + CLOSE:
                break
            now = best
        return now
