"""Fit the most accurate cascade for a budget on labelled questions.

A cascade has at most four steps (`Shape`): a few cheap sources; more of them where the first are unsure, or only where
they agree; one strong source below a confidence; others where the confidence is still low. Only a few thresholds are
tried, and every cascade is judged on folds that its weights were not fitted on: mostly by the probability that its
verdicts are correct, less by the share that were, which has the same mean and a much larger variance. An unrestricted
search over all thresholds of all sources would overfit 200 labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.answer_odds import Leading, Panel, fit_odds, is_correct, leading
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.stopping.cascade import Cascade, Step, reachable

FOLDS = 5
FEW, FIRST, SECOND, LAST, STRONG = 6, 3, 2, 2, 2  # candidates; sources in the first, second, last step; strong ones
LOWS = (0.0, 0.3, 0.45, 0.6)
HIGHS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.94, 0.97)
ROUGH_HIGHS, MIDDLE_HIGHS, LAST_HIGHS = HIGHS[::2], (0.91, 1.0), (0.4, 0.5, 0.6, 0.75)
REALISED = 0.2  # how much verdicts that were correct count, beside the probability that they are
EACH = 0.001  # of accuracy: what a source must be worth, whatever it costs
POINT = 0.01  # of accuracy: what may cost as much as the best single source
CLOSE = 1e-9
CHEAP, DEAR = 0.5, 10.0  # of the strong source's cost: what may come before it, and after it
COPY = 0.98  # of a source's votes that another gives as well
REFITS, PASSES, DIGITS = 3, 4, 7
Group = tuple[int, ...]  # sources, by their number
Gated = tuple[tuple[Group, float, float], ...]  # sources, low and high of every step
Value = Callable[[Gated], float]


class CascadeFitter:
    """Cascades over the sources of a panel, judged out of fold; all measurements are cached."""

    def __init__(self, panel: Panel, cost: NDArray[np.float64], fold: Ints) -> None:
        self.panel, self.cost, self.fold = panel, cost, fold
        self.mean_cost = cost.mean(axis=0)
        self._seen = [panel.take(np.flatnonzero(fold != k)) for k in range(FOLDS)]
        self.odds, self.leading, self._worths = cache(self._fit_odds), cache(self._out_of_fold), cache(self._worth)
        self._spent, self._measured = cache(self._cost), cache(self._measure)
        self.candidates = self._distinct_sources()
        alone = [is_correct(panel, self.leading((s,)).row).mean() for s in range(len(panel.names))]
        self.alone = np.array(alone)
        self.best = int(np.lexsort((self.mean_cost, -self.alone))[0])
        self.unit = float(self.mean_cost[self.best]) or float(self.mean_cost.max())

    def _fit_odds(self, sampled: Group) -> NDArray[np.float64]:
        """Return the log-odds weights of these sources' answers, fitted on all questions."""
        return fit_odds(self.panel, list(sampled)).round(DIGITS)

    def _out_of_fold(self, sampled: Group) -> Leading:
        """Return the verdicts of these sources (sorted), each by a fit on the other folds."""
        row, confidence = np.full(self.panel.questions, -1), np.zeros(self.panel.questions)
        for k, seen in enumerate(self._seen):
            held, refit = self.fold == k, fit_odds(seen, list(sampled), start=self.odds(sampled), steps=REFITS)
            verdicts = leading(self.panel, list(sampled), refit)
            row[held], confidence[held] = verdicts.row[held], verdicts.confidence[held]
        return Leading(row, confidence)

    def fit(self, budget: float) -> Cascade:
        """Return the cascade with the most accuracy within a mean cost, as measured here; among equals the cheapest.

        Accuracy that costs more than the best single source for a point is not bought.
        """

        def value(gated: Gated, limit: float = budget) -> float:
            worth, cost = self._measured(gated)
            if cost > limit * (1 + CLOSE):
                return -cost / self.unit  # below all that can be paid, which is worth 0 or more
            return round(1 + worth - POINT * min(cost / self.unit, 1 / POINT), DIGITS)

        single = [Shape(strong=s) for s in self.candidates]
        able = sorted(single, key=lambda shape: -value(shape.gated(), np.inf))[:STRONG]
        paid = max(single, key=lambda shape: value(shape.gated()))
        best = [self._around(strong, value) for strong in {shape.strong: None for shape in (*able, paid)}]
        return self.cascade(max((shape.gated() for shape in [paid, *best]), key=value))

    def _around(self, strong: int, value: Value) -> Shape:
        """The best shape around a strong source: step by step, then all over again until nothing gets better.

        It sets out twice, from what is best before the strong source and from what is best after it: from either alone
        the other is often out of reach.
        """
        cheap = self._candidates(strong, CHEAP, self.alone - self.mean_cost / self.unit)
        others = self._candidates(strong, DEAR, self.alone)

        def better(now: Shape, shapes: Iterable[Shape]) -> Shape:
            return max([now, *shapes], key=lambda shape: value(shape.gated()))

        def climbed(shape: Shape) -> Shape:
            for _ in range(PASSES):
                before = shape
                shape = better(
                    shape, (shape.with_changes(second=g, low=low) for g in groups(cheap, SECOND) for low in LOWS)
                )
                gates = ((low, high, middle) for low in LOWS for high in HIGHS for middle in MIDDLE_HIGHS)
                shape = better(shape, (shape.with_changes(low=a, high=b, middle=c) for a, b, c in gates))
                shape = better(
                    shape, (shape.with_changes(last=g, below=b) for g in groups(others, LAST) for b in LAST_HIGHS)
                )
                shape = better(shape, (shape.with_changes(first=f) for f in groups(cheap, FIRST)))
                if shape == before:
                    break
            return shape

        alone = Shape(strong)
        firsts = (Shape(strong, f, high=high) for f in groups(cheap, FIRST) for high in ROUGH_HIGHS)
        lasts = (Shape(strong, last=g, below=below) for g in groups(others, LAST) for below in LAST_HIGHS)
        return better(climbed(better(alone, firsts)), [climbed(better(alone, lasts))])

    def _distinct_sources(self) -> list[int]:
        """The sources that gave any answer; of near-duplicates only the cheapest."""
        share, distinct = self.panel.share, list[int]()
        for s in np.lexsort((np.arange(len(self.mean_cost)), self.mean_cost)).tolist():
            votes = share[:, s].sum()
            if votes and not any((share[:, s] * share[:, other]).sum() >= COPY * votes for other in distinct):
                distinct.append(s)
        return sorted(distinct)

    def _candidates(self, strong: int, part: float, worth: NDArray[np.float64]) -> list[int]:
        """The most promising other sources that cost less than a part of what the strong one does.

        Those that come last are asked seldom, so their price matters little: a dear one that is good is worth it.
        """
        limit = part * self.mean_cost[strong]
        among = [s for s in self.candidates if s != strong and self.mean_cost[s] < limit]
        return sorted(sorted(among, key=lambda s: (-worth[s], s))[:FEW])

    def _measure(self, gated: Gated) -> tuple[float, float]:
        """What some steps are worth, out of fold, and their mean cost."""
        n = self.panel.questions
        worth, confidence, cost = np.zeros(n), np.zeros(n), 0.0
        states: dict[Group, NDArray[np.bool_]] = {(): np.ones(n, bool)}
        for sources, low, high in gated:
            asks = (confidence >= low) & (confidence < high)
            after: dict[Group, NDArray[np.bool_]] = {}
            for sampled, where in states.items():
                new = tuple(s for s in sources if s not in sampled)
                now = where & asks
                cost += float(self._spent(new) @ now)
                for state, part in ((sampled, where & ~asks), (tuple(sorted(sampled + new)), now)):
                    if part.any():
                        after[state] = after[state] | part if state in after else part
            states = after
            for sampled, where in states.items():
                if sampled:
                    leads, worths = self._worths(sampled)
                    confidence[where], worth[where] = leads[where], worths[where]
        named = sum(len(group) for group, _, _ in gated)
        return float(worth.mean()) - EACH * named, cost / n

    def _worth(self, sampled: Group) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How likely the verdicts of these sources are correct as a plan would say, and their worth out of fold [Q]."""
        held = self.leading(sampled)
        worth = REALISED * is_correct(self.panel, held.row) + (1 - REALISED) * held.confidence
        return leading(self.panel, list(sampled), self.odds(sampled)).confidence, worth

    def _cost(self, sources: Group) -> NDArray[np.float64]:
        """What asking these sources costs [Q]."""
        total: NDArray[np.float64] = self.cost[:, list(sources)].sum(axis=1)
        return total

    def cascade(self, gated: Gated) -> Cascade:
        """The cascade of some steps, with what the answers are worth."""
        names = self.panel.names
        steps = tuple(Step(tuple(names[s] for s in group), low, high) for group, low, high in gated)
        odds = {}
        for sampled in reachable(steps):
            group = tuple(names.index(name) for name in sampled)
            odds[sampled] = tuple(float(x) for x in self.odds(group))
        return Cascade(steps, odds)

    def single(self, source: int) -> Cascade:
        """Ask one source only."""
        return self.cascade((((source,), 0.0, 1.0),))


@dataclass(frozen=True)
class Shape:
    """Which sources each step asks, and between which confidences.

    >>> Shape(strong=2, first=(0, 1), high=0.8).gated()
    (((0, 1), 0.0, 1.0), ((2,), 0.0, 0.8))
    """

    strong: int
    first: Group = ()  # always asked
    second: Group = ()  # asked from `low` to `middle`
    low: float = 0.0
    middle: float = 1.0
    high: float = 1.0  # the strong one is asked below it
    last: Group = ()  # asked below `below`
    below: float = 0.5

    def gated(self) -> Gated:
        """Return the steps that ask at least one source."""
        second = tuple(s for s in self.second if s not in self.first)
        last = tuple(s for s in self.last if s not in (*self.first, self.strong))
        steps: list[tuple[Group, float, float]] = []
        if self.first:
            steps.append((self.first, 0.0, 1.0))
            if second:
                steps.append((second, self.low, self.middle))
        steps.append(((self.strong,), 0.0, self.high if self.first else 1.0))
        if last:
            steps.append((last, 0.0, self.below))
        return tuple(steps)

    def with_changes(self, **changed: float | Group) -> Shape:
        """Return a copy with some fields changed."""
        return replace(self, **changed)  # type: ignore[arg-type]


def groups(sources: Iterable[int], largest: int) -> Iterator[Group]:
    """Yield all groups of at most `largest` sources, the empty one included.

    >>> list(groups([1, 2], 2))
    [(), (1,), (2,), (1, 2)]
    """
    listed = list(sources)
    for size in range(largest + 1):
        yield from combinations(listed, size)
