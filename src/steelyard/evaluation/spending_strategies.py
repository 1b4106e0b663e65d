"""Strategies to spend a budget on samples and scores of one model, chosen on calibration questions.

    cost of a question = price of a sample x samples + price of a score x texts that the verifier reads

Every number of samples is tried with every margin of the rule `expected`, replayed with cross-fitting. Of the
strategies within a budget, the most accurate is chosen, or the most expensive within noise of it. It must beat majority
vote with more samples for the same cost by more than a standard error and a fifth of a point; otherwise no score is
bought.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import Estimate, Paired, estimates
from steelyard.evaluation.budget_plan import random_mixture
from steelyard.evaluation.crossfit_replay import CrossfitReplay
from steelyard.evaluation.price_table import UnitPrices
from steelyard.evaluation.stopping_rule_choice import CLOSE, NOISE, WORTH
from steelyard.foundation.errors import SteelyardWarning
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.majority import MajorityVote
from steelyard.voting.methods.vanilla import VanillaVote
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.on_demand.readings import texts_scored
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import LabelledPool

MARGINS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0)
STEPS = (1.0, 1.25, 1.5)  # of an octave
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class SpendingStrategy:
    """A number of samples and the margin of scores (None: no scores), with cost and accuracy per question."""

    n: int
    margin: float | None
    scores: Vector  # [Q] texts read
    cost: Vector  # [Q]
    correct: Vector  # [Q]

    @property
    def mean(self) -> float:
        """The mean cost per question."""
        return float(self.cost.mean())


class SpendingStrategies:
    """All candidate strategies, each measured once on the calibration questions."""

    def __init__(self, method: Method, cal: LabelledPool, prices: UnitPrices, *, seed: int = 0) -> None:
        self.method, self.cal, self.prices = method, cal, prices
        self.sizes = sizes(cal.n)
        self.majority = [majority_strategy(cal, n, prices) for n in self.sizes]
        self.crossfits: dict[int, CrossfitReplay] = {}
        self.strategies: list[SpendingStrategy] = []
        for n in self.sizes[1:]:
            pool = cal.first(n)
            crossfit = self.crossfits[n] = CrossfitReplay.of(fitted_copy(method, pool), pool, seed=seed)
            for margin in MARGINS:
                _, seen, code = crossfit.replayed(margin)
                correct = correct_verdicts(pool, code)
                self.strategies.append(_measured_strategy(n, margin, pool, texts_scored(seen), correct, prices))

    def within(self, budget: float) -> SpendingStrategy:
        """Choose the strategy for at most this mean cost per question."""
        self.prices.check_budget(budget)
        samples = max((m for m in self.majority if m.mean <= budget + CLOSE), key=lambda m: m.n)
        among = [strategy for strategy in self.strategies if strategy.mean <= budget + CLOSE]
        if not among:
            return samples
        top = max(among, key=lambda strategy: (strategy.correct.mean(), -strategy.mean))
        behind = (
            (strategy, Paired.of(top.correct - strategy.correct)) for strategy in among if strategy.mean >= top.mean
        )
        best = max(
            (strategy for strategy, gap in behind if gap.mean <= NOISE * gap.se),
            key=lambda strategy: (strategy.mean, strategy.correct.mean()),
        )
        gain = Paired.of(best.correct - at_cost(self.majority, best.mean))
        return best if gain.mean > max(gain.se, WORTH) else samples

    def voter(self, strategy: SpendingStrategy) -> Method:
        """Return the method of a strategy, fitted on the calibration questions."""
        pool = self.cal.first(strategy.n)
        if strategy.margin is None:
            return MajorityVote().fit(without_scores(pool))
        crossfit = self.crossfits[strategy.n]
        nothing, *_ = crossfit.replayed(0.0)
        asking, seen, _ = crossfit.replayed(strategy.margin)
        voter = fitted_copy(self.method, pool)
        voter.asking_ = crossfit.with_confidence(replace(asking, gain=nothing.loss), seen)
        return voter

    def asking_voter(self, strategy: SpendingStrategy) -> Method:
        """Return the same without its confidence, which is slow to fit."""
        if strategy.margin is None:
            return self.voter(strategy)
        voter = fitted_copy(self.method, self.cal.first(strategy.n))
        voter.asking_ = replace(self.crossfits[strategy.n].start, margin=strategy.margin)
        return voter


def sizes(n: int) -> list[int]:
    """Return the numbers of samples to try: up to three per octave, and n.

    >>> sizes(20)
    [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20]
    """
    steps = {part * 2**k for k in range(n.bit_length()) for part in STEPS}
    return sorted({*(int(size) for size in steps if size < n and size == int(size)), n})


def majority_strategy(pool: LabelledPool, n: int, prices: UnitPrices) -> SpendingStrategy:
    """Majority vote on the first n samples; no score breaks its ties."""
    seen = pool.first(n)
    correct = MajorityVote().predict(without_scores(seen).unlabelled()).correct(seen)
    return _measured_strategy(n, None, seen, np.zeros(seen.n_questions), correct, prices)


def vanilla_strategy(pool: LabelledPool, n: int, prices: UnitPrices) -> SpendingStrategy:
    """Vanilla weighted vote on the first n samples, with every text scored once."""
    seen = pool.first(n)
    return _measured_strategy(
        n, None, seen, texts_scored(seen), VanillaVote().predict(seen.unlabelled()).correct(seen), prices
    )


def measure_strategy(
    voter: Method, strategy: SpendingStrategy, pool: LabelledPool, prices: UnitPrices
) -> SpendingStrategy:
    """Measure a strategy on other questions."""
    if strategy.margin is None:
        return majority_strategy(pool, strategy.n, prices)
    seen = pool.first(strategy.n)
    scored = replay(asking_rule("expected"), voter, seen.unlabelled())
    return _measured_strategy(
        strategy.n, strategy.margin, seen, texts_scored(scored), voter.decide(scored).correct(seen), prices
    )


def at_cost(strategies: Sequence[SpendingStrategy], mean: float) -> Vector:
    """Return the share correct [Q] of the strategies mixed at random to this mean cost."""
    return random_mixture(mean, [(strategy.cost, strategy.correct) for strategy in strategies])[1]


def against_baselines(
    cases: Sequence[tuple[float, Vector, Vector, Sequence[Sequence[SpendingStrategy]]]], seed: int
) -> Iterator[list[Estimate]]:
    """Compare strategies, each a budget with cost and accuracy per question [Q], with two baselines.

    Yield the cost, the accuracy, that of the baselines at the same mean cost, the gains over them, and the accuracy of
    the baselines at the budget, all on the same bootstrap draws.
    """
    columns = []
    for budget, cost, correct, baselines in cases:
        mean = float(cost.mean())
        same_cost = [at_cost(baseline, mean) for baseline in baselines]
        at_budget = [at_cost(baseline, max(budget, mean)) for baseline in baselines]
        columns += [cost, correct, *same_cost, *(correct - baseline for baseline in same_cost), *at_budget]
    figures = iter(estimates(np.stack(columns, axis=1), seed=seed))
    return (list(islice(figures, 8)) for _ in cases)


def without_scores(pool: LabelledPool) -> LabelledPool:
    """Return the pool as it is without a verifier."""
    return replace(pool, scores=None, parts=None, scored=None, origin=replace(pool.origin, score=None, parts=()))


def _measured_strategy(
    n: int,
    margin: float | None,
    pool: LabelledPool,
    scores: NDArray[np.generic],
    correct: NDArray[np.bool_],
    prices: UnitPrices,
) -> SpendingStrategy:
    read = scores.astype(np.float64)
    return SpendingStrategy(
        n, margin, read, prices.sample * pool.sizes + prices.score * read, correct.astype(np.float64)
    )


def correct_verdicts(pool: LabelledPool, code: NDArray[np.int32]) -> Bools:
    """Return which verdicts [Q] are correct; a question without an answer is not."""
    correct: Bools = (code >= 0) & pool.answer_correct[pool.base + np.maximum(code, 0)]
    return correct


def fitted_copy(method: Method, pool: LabelledPool) -> Method:
    """Fit a copy of a method; many fits would repeat the same warnings about the same questions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteelyardWarning)
        return deepcopy(method).fit(pool)
