"""Strategies to spend on a committee: the cost and accuracy of a purchase, with votes alone and with scores on demand.

    cost of a question = sum over its samples of what each cost + sum over texts read of the price of such a score

Without scores, the committee votes. With scores, the committee is tried and, where every source of the purchase is
scored, `calibrated` as well, which uses scores better but ignores sources. On calibration questions every verdict is by
a fit on the other folds; on other questions, by a fit on all calibration questions. A question that none of the
purchased sources answered costs nothing and is not correct.

For each budget, `PurchaseSearch` offers its best purchase, the best of a single source, and both with more samples. Of
the strategies within the budget, the most accurate is chosen, or the most expensive within noise of it; a strategy with
scores must beat the best without by more than a standard error and a fifth of a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import Paired
from steelyard.evaluation.crossfit_replay import FOLDS, CrossfitReplay
from steelyard.evaluation.purchase import Purchase
from steelyard.evaluation.purchase_search import PurchaseSearch
from steelyard.evaluation.source_prices import PricedPool, paid
from steelyard.evaluation.spending_strategies import MARGINS, correct_verdicts, fitted_copy
from steelyard.evaluation.stopping_rule_choice import CLOSE, NOISE, WORTH
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.calibrated import CalibratedVote
from steelyard.voting.methods.committee import CommitteeVote
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Strategy:
    """A purchase and the margin of scores to ask for (None: no scores), with cost and accuracy per question."""

    bought: Purchase
    method: str
    margin: float | None
    scores: Vector  # [Q, S] texts read of every source
    cost: Vector  # [Q]
    correct: Vector  # [Q]

    @property
    def mean(self) -> float:
        """The mean cost per question."""
        return float(self.cost.mean())

    @property
    def key(self) -> tuple[Purchase, str, float | None]:
        """The fields that identify a strategy."""
        return self.bought, self.method, self.margin


class StrategyChoice:
    """The candidate strategies for some budgets, each measured once, and the choice among them."""

    def __init__(
        self, method: CommitteeVote, cal: PricedPool, budget: float, budgets: Sequence[float] | None, *, seed: int = 0
    ) -> None:
        self.strategies = CommitteeStrategies(method, cal, seed=seed)
        search = PurchaseSearch(cal, seed)
        self.budgets = sorted({*(search.budgets if budgets is None else budgets), budget})
        self.votes = [self.strategies.votes_only(bought) for bought in search.offers(self.budgets, scores=False)]
        scored = search.offers(self.budgets, scores=True)
        self.scored = [strategy for bought in scored for strategy in self.strategies.with_scores(bought)]

    def within(self, budget: float) -> Strategy:
        """Choose the strategy for at most this mean cost per question."""
        votes = _best(self.votes, budget) or min(self.votes, key=lambda strategy: strategy.mean)
        scored = _best(self.scored, budget)
        if scored is None:
            return votes
        gain = Paired.of(scored.correct - votes.correct)
        return scored if gain.mean > max(gain.se, WORTH) else votes


def _best(strategies: Sequence[Strategy], budget: float) -> Strategy | None:
    """Return the most expensive strategy within a budget that is within noise of the most accurate."""
    among = [strategy for strategy in strategies if strategy.mean <= budget * (1 + CLOSE)]
    if not among:
        return None
    top = max(among, key=lambda strategy: (strategy.correct.mean(), -strategy.mean))
    behind = ((strategy, Paired.of(top.correct - strategy.correct)) for strategy in among if strategy.mean >= top.mean)
    close = (strategy for strategy, gap in behind if strategy is top or (gap.se and gap.mean <= NOISE * gap.se))
    return max(close, key=lambda strategy: (strategy.mean, strategy.correct.mean()))


class CommitteeStrategies:
    """Strategies of a committee method, fitted on calibration questions."""

    def __init__(self, method: CommitteeVote, cal: PricedPool, *, seed: int = 0) -> None:
        self.cal, self.seed = cal, seed
        self.committee, calibrated = method.name, CalibratedVote(seed=seed)
        self.methods: dict[str, Method] = {method.name: method, calibrated.name: calibrated}
        self.quick: dict[str, Method] = {**self.methods, method.name: method.without_confidence()}
        self._crossfits: dict[tuple[Purchase, str], CrossfitReplay] = {}

    def votes_only(self, bought: Purchase) -> Strategy:
        """Return the strategy of a purchase without scores."""
        part, where = bought.of(self.cal.pool)
        fold, code = fold_of(part, FOLDS, self.seed), np.full(part.n_questions, -1, np.int32)
        for k in range(FOLDS):
            voter = fitted_copy(self.quick[self.committee], part.take(np.flatnonzero(fold != k)))
            code[fold == k] = voter.decide(part.take(np.flatnonzero(fold == k)).unlabelled()).code
        nothing = np.zeros(part.n_responses, bool)
        return _strategy(bought, self.committee, None, self.cal, part, where, nothing, correct_verdicts(part, code))

    def with_scores(self, bought: Purchase) -> list[Strategy]:
        """Return a strategy per method and margin; none for a method whose fit ignores the scores."""
        part, where = bought.of(self.cal.pool)
        strategies = []
        for name in self.methods if bought == bought.all_scored else [self.committee]:
            visible = self._visible_to(name, part)
            voter = fitted_copy(self.quick[name], visible)
            if not voter.reads_scores():
                continue
            crossfit = self._crossfits[bought, name] = CrossfitReplay.of(voter, visible, seed=self.seed)
            for margin in MARGINS:
                _, seen, code = crossfit.replayed(margin)
                strategies.append(
                    _strategy(
                        bought,
                        name,
                        margin,
                        self.cal,
                        part,
                        where,
                        scored_responses(seen),
                        correct_verdicts(part, code),
                    )
                )
        return strategies

    def voter(self, strategy: Strategy) -> Method:
        """Return the method of a strategy, fitted on all calibration questions."""
        part = self._visible_to(strategy.method, strategy.bought.of(self.cal.pool)[0])
        voter = fitted_copy(self.methods[strategy.method], part)
        if strategy.margin is not None:
            crossfit = CrossfitReplay.of(voter, part, seed=self.seed)
            nothing, *_ = crossfit.replayed(0.0)
            asking, seen, _ = crossfit.replayed(strategy.margin)
            voter.asking_ = crossfit.with_confidence(replace(asking, gain=nothing.loss), seen)
        return voter

    def measured(self, strategy: Strategy, others: PricedPool) -> Strategy:
        """Measure a strategy on other questions."""
        part, where = strategy.bought.of(others.pool)
        voter = fitted_copy(
            self.quick[strategy.method], self._visible_to(strategy.method, strategy.bought.of(self.cal.pool)[0])
        )
        visible = self._visible_to(strategy.method, part).unlabelled()
        scored = np.zeros(part.n_responses, bool)
        if strategy.margin is not None:
            voter.asking_ = replace(self._crossfits[strategy.bought, strategy.method].start, margin=strategy.margin)
            visible = replay(asking_rule("expected"), voter, visible)
            scored = scored_responses(visible)
        correct = voter.decide(visible).correct(part)
        return _strategy(strategy.bought, strategy.method, strategy.margin, others, part, where, scored, correct)

    def _visible_to(self, name: str, part: LabelledPool) -> LabelledPool:
        """Hide the sources from every method but the committee."""
        if name == self.committee:
            return part
        return part.without_sources()


def _strategy(
    bought: Purchase,
    method: str,
    margin: float | None,
    priced: PricedPool,
    part: LabelledPool,
    where: Ints,
    scored: Bools,
    correct: Bools,
) -> Strategy:
    """Combine the figures of the questions that a purchase covers; all others cost nothing and are not correct."""
    size, sources = priced.pool.n_questions, priced.pool.sources
    has_score = np.array([bought.scored[sources.index(name)] for name in part.sources])[paid(part)[0]]
    scores, cost, right = np.zeros((size, len(sources))), np.zeros(size), np.zeros(size)
    scores[where] = texts_read(part, sources, scored & has_score)
    cost[where] = np.bincount(part.spread(np.arange(part.n_questions)), paid(part)[1], part.n_questions)
    right[where] = correct
    return Strategy(bought, method, margin, scores, cost + scores @ priced.score, right)


def texts_read(part: LabelledPool, sources: tuple[str, ...], scored: Bools) -> Vector:
    """Count the texts of each source that the verifier read [Q, S]; a shared text counts for the first source."""
    source = np.array([sources.index(name) for name in part.sources])[paid(part)[0]]
    question = part.spread(np.arange(part.n_questions))
    text = np.arange(part.n_responses) if part.text is None else part.text
    rows = np.flatnonzero(scored)
    _, first = np.unique(np.stack((question[rows], text[rows])), axis=1, return_index=True)
    key = question[rows[first]] * len(sources) + source[rows[first]]
    read = np.bincount(key, minlength=part.n_questions * len(sources)).astype(np.float64)
    return read.reshape(part.n_questions, len(sources))


def scored_responses(pool: Pool) -> Bools:
    """Return which responses the verifier was asked to score [R]."""
    return np.ones(pool.n_responses, bool) if pool.scored is None else pool.scored
