"""How to spend a budget on samples and scores together: chosen on calibration questions.

    cost of a question = price of a sample x samples + price of a score x texts that the verifier reads

Every number of samples is tried with every margin of the rule `expected`, each question asked about by fits on the
others. Of the ways within a budget the most accurate is taken and, of those within noise of it, the one that spends
most. It must beat majority vote with more samples for the same money by more than a standard error and a fifth of a
point; else the samples are counted, and the verifier is not asked.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.crossfit_asking import CrossfitAsking
from steelyard.evaluation.plan_cascade import by_lot
from steelyard.evaluation.rule_for_budget import CLOSE, NOISE, WORTH
from steelyard.evaluation.rule_search import Paired
from steelyard.foundation.errors import SettingError, SteelyardWarning, need_numbers
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.majority import MajorityVote
from steelyard.voting.methods.vanilla import VanillaVote
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.on_demand.readings import texts_asked
from steelyard.voting.pools.pool import LabelledPool

MARGINS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0)
STEPS = (1.0, 1.25, 1.5)  # of an octave
DEAREST = 1e12
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Prices:
    """What one sample and one score cost, in the same money."""

    sample: float
    score: float

    def __post_init__(self) -> None:
        need_numbers(price_sample=self.sample, price_score=self.score)
        for what, price in (("sample", self.sample), ("score", self.score)):
            if not 0 <= price <= DEAREST:
                raise SettingError(
                    f"the price of a {what} is {price:g}: give what one costs, a number from 0 (free) to {DEAREST:g}"
                )
        if not self.sample and not self.score:
            raise SettingError("samples and scores are both free: there is nothing to save, so take all of both")

    def check_budget(self, budget: float) -> None:
        """Refuse a budget that is none, or that does not pay for one sample."""
        need_numbers(budget=budget)
        if not 0 < budget < np.inf:
            raise SettingError(f"budget must be above 0, not {budget:g}: the mean cost per question, as 32")
        if budget < self.sample:
            raise SettingError(
                f"a budget of {budget:g} does not pay for one sample at {self.sample:g}: give {self.sample:g} or more"
            )


@dataclass(frozen=True)
class Spending:
    """One way to spend: so many samples, and scores by a margin; without one none is asked."""

    n: int
    margin: float | None
    scores: Vector  # [Q] texts read
    cost: Vector  # [Q]
    correct: Vector  # [Q]

    @property
    def mean(self) -> float:
        """The mean cost per question."""
        return float(self.cost.mean())


class JointSearch:
    """All ways to spend that are worth trying, measured once on the calibration questions."""

    def __init__(self, method: Method, cal: LabelledPool, prices: Prices, *, seed: int = 0) -> None:
        self.method, self.cal, self.prices = method, cal, prices
        self.sizes = sizes(cal.n)
        self.majority = [counted(cal, n, prices) for n in self.sizes]
        self.crossfits: dict[int, CrossfitAsking] = {}
        self.ways: list[Spending] = []
        for n in self.sizes[1:]:
            pool = cal.first(n)
            crossfit = self.crossfits[n] = CrossfitAsking.of(_fitted(method, pool), pool, seed=seed)
            for margin in MARGINS:
                _, seen, code = crossfit.replayed(margin)
                correct = (code >= 0) & pool.answer_correct[pool.base + np.maximum(code, 0)]
                self.ways.append(_spending(n, margin, pool, texts_asked(seen), correct, prices))

    def within(self, budget: float) -> Spending:
        """Choose the way to spend at most so much per question."""
        self.prices.check_budget(budget)
        samples = max((m for m in self.majority if m.mean <= budget + CLOSE), key=lambda m: m.n)
        among = [way for way in self.ways if way.mean <= budget + CLOSE]
        if not among:
            return samples
        top = max(among, key=lambda way: (way.correct.mean(), -way.mean))
        behind = ((way, Paired.of(top.correct - way.correct)) for way in among if way.mean >= top.mean)
        best = max(
            (way for way, gap in behind if gap.mean <= NOISE * gap.se), key=lambda way: (way.mean, way.correct.mean())
        )
        gain = Paired.of(best.correct - at_cost(self.majority, best.mean))
        return best if gain.mean > max(gain.se, WORTH) else samples

    def voter(self, way: Spending) -> Method:
        """The method as it votes when it spends so, fitted on the calibration questions."""
        pool = self.cal.first(way.n)
        if way.margin is None:
            return MajorityVote().fit(without_scores(pool))
        crossfit = self.crossfits[way.n]
        nothing, *_ = crossfit.replayed(0.0)
        asking, seen, _ = crossfit.replayed(way.margin)
        voter = _fitted(self.method, pool)
        voter.asking_ = crossfit.with_confidence(replace(asking, gain=nothing.loss), seen)
        return voter

    def asking_voter(self, way: Spending) -> Method:
        """The same without its confidence, which takes time to learn."""
        if way.margin is None:
            return self.voter(way)
        voter = _fitted(self.method, self.cal.first(way.n))
        voter.asking_ = replace(self.crossfits[way.n].start, margin=way.margin)
        return voter


def sizes(n: int) -> list[int]:
    """The numbers of samples to try: up to three an octave, and n.

    >>> sizes(20)
    [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20]
    """
    steps = {part * 2**k for k in range(n.bit_length()) for part in STEPS}
    return sorted({*(int(size) for size in steps if size < n and size == int(size)), n})


def counted(pool: LabelledPool, n: int, prices: Prices) -> Spending:
    """Majority vote on the first n samples; no score breaks its ties."""
    seen = pool.first(n)
    correct = MajorityVote().predict(without_scores(seen).unlabelled()).correct(seen)
    return _spending(n, None, seen, np.zeros(seen.n_questions), correct, prices)


def all_scored(pool: LabelledPool, n: int, prices: Prices) -> Spending:
    """Vanilla weighted vote on the first n samples, with every text scored once."""
    seen = pool.first(n)
    return _spending(n, None, seen, texts_asked(seen), VanillaVote().predict(seen.unlabelled()).correct(seen), prices)


def spent(voter: Method, way: Spending, pool: LabelledPool, prices: Prices) -> Spending:
    """What a way to spend costs and gives on other questions."""
    if way.margin is None:
        return counted(pool, way.n, prices)
    seen = pool.first(way.n)
    asked = replay(asking_rule("expected"), voter, seen.unlabelled())
    return _spending(way.n, way.margin, seen, texts_asked(asked), voter.decide(asked).correct(seen), prices)


def at_cost(ways: Sequence[Spending], mean: float) -> Vector:
    """The share correct [Q] of the ways that cost this much on average, some questions drawn by lot for the dearer."""
    return by_lot(mean, [(way.cost, way.correct) for way in ways])[1]


def without_scores(pool: LabelledPool) -> LabelledPool:
    """The pool of someone who has no verifier."""
    return replace(pool, scores=None, parts=None, asked=None, origin=replace(pool.origin, score=None, parts=()))


def _spending(
    n: int,
    margin: float | None,
    pool: LabelledPool,
    scores: NDArray[np.generic],
    correct: NDArray[np.bool_],
    prices: Prices,
) -> Spending:
    read = scores.astype(np.float64)
    return Spending(n, margin, read, prices.sample * pool.sizes + prices.score * read, correct.astype(np.float64))


def _fitted(method: Method, pool: LabelledPool) -> Method:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteelyardWarning)  # of many fits, about the same questions
        return deepcopy(method).fit(pool)
