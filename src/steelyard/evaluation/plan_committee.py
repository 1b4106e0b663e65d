"""Plan the samples and scores of several sources for a budget: chosen on some questions, measured on the rest.

Every budget is compared with majority vote for the same cost: over all sources, and over the best single one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from steelyard.evaluation.accuracy import as_columns, need_labels
from steelyard.evaluation.budget_plan import BudgetPlan, difference
from steelyard.evaluation.committee_strategies import Strategy, StrategyChoice
from steelyard.evaluation.percentages import percent
from steelyard.evaluation.purchase import Purchase, levels_of
from steelyard.evaluation.source_prices import PricedPool, ScorePrice, paid, priced
from steelyard.evaluation.spending_strategies import SpendingStrategy, against_baselines, at_cost
from steelyard.evaluation.trajectories import FEWEST
from steelyard.foundation.errors import CalibrationError, SettingError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.committee import CommitteeVote
from steelyard.voting.methods.majority import MajorityVote
from steelyard.voting.pools.pool import Pool

RIVALS = {"gain": "majority", "over_single": "the best source"}
Ladder = list[SpendingStrategy]  # from cheap to dear


def plan_committee(
    pool: Pool,
    method: Method,
    prices: Mapping[str, float] | None = None,
    *,
    price_sample: float | None = None,
    price_score: ScorePrice | None,
    budget: float,
    budgets: Sequence[float] | None = None,
    calibrate: float = 0.5,
    seed: int = 0,
) -> BudgetPlan:
    """Choose how many samples of each source to draw and whose scores to ask for, for a mean cost per question.

    `prices` are per million tokens, one for every source (the pool is read with `tokens=True`); `price_sample` is one
    price of any sample instead; with neither, what the pool read is the cost itself (`tokens="cost"`). `price_score` is
    the price of one score, or one by source, and None if no scores are for sale. A text is read once where the pool
    knows texts (`read(texts=True)`). A part `calibrate` of the questions fits and chooses; the rest says what that is
    worth, for every one of `budgets`, beside majority vote with more samples of all sources, and of the best single
    one, for the same cost. The plan is that of `method`, a committee, or of `calibrated` where all that is bought is
    scored and that is better.

    >>> import steelyard as sy
    >>> rows = [(q, s) for q in range(60) for s in ("gpt", "phi")]
    >>> answer = [0 if q % 9 and s == "gpt" or q % 3 else 1 for q, s in rows]
    >>> question, source = zip(*rows)
    >>> arrays = {"question": question, "answer": answer, "source": source, "scores": [0.5 + a / 9 for a in answer]}
    >>> pool = sy.Pool.from_arrays(**arrays, correct=[a == 0 for a in answer])
    >>> dear = dict(price_sample=1, price_score={"gpt": 5, "phi": 9}, budget=2, budgets=[])
    >>> plan_committee(pool, sy.CommitteeVote(), **dear).figures["scored"]
    []
    """
    labelled = need_labels(pool)
    if not isinstance(method, CommitteeVote):
        raise SettingError(f"{method.name} does not learn what each source is worth: plan with the method committee")
    priced_pool = priced(labelled, prices, price_sample, price_score)
    if len(pool.sources) < 2:
        raise SettingError("a committee needs two sources or more, and these responses have one")
    cal, test = priced_pool.split(calibrate, seed)
    _check_enough(cal, test)
    return plan_from_split(cal, test, method, budget, budgets, seed=seed)


def plan_from_split(
    cal: PricedPool,
    test: PricedPool,
    method: CommitteeVote,
    budget: float,
    budgets: Sequence[float] | None = None,
    *,
    seed: int = 0,
) -> BudgetPlan:
    """Plan with calibration and test questions that are already split."""
    for amount in (budget, *(budgets or ())):
        cal.check_budget(amount)
    choice = StrategyChoice(method, cal, budget, budgets, seed=seed)
    chosen = {amount: choice.within(amount) for amount in choice.budgets}
    seen = {strategy.key: choice.strategies.measured(strategy, test) for strategy in chosen.values()}
    strategies = [(amount, strategy, seen[strategy.key]) for amount, strategy in chosen.items()]
    rows = _curve_rows(strategies, Baselines(cal, test), test.pool.sources, seed)
    for row in rows:
        row["chosen"] = row["budget"] == budget
    figures = next(row for row in rows if row["chosen"])
    curve = pl.DataFrame(rows, schema_overrides={"margin": pl.Float64, "scored": pl.List(pl.String)})
    voter = choice.strategies.voter(chosen[budget])
    voter.samples_ = {name: n for name, n in figures["samples"].items() if n}
    scores_for_sale = not np.isnan(cal.pool.known_scores).all()
    explanation = _explanation(figures, test.pool.n_questions, scores_for_sale=scores_for_sale)
    return BudgetPlan(voter, curve, figures, RIVALS, explanation, cal.pool.n_questions, test.pool.n_questions)


def _check_enough(cal: PricedPool, test: PricedPool) -> None:
    """Refuse too few questions, and a source that hardly answered any of them."""
    few = min(cal.pool.n_questions, test.pool.n_questions)
    if few < FEWEST:
        raise CalibrationError(f"{few} questions to choose or to test on are too few: bring {FEWEST} or more for each")
    for part in (cal.pool, test.pool):
        pairs = np.unique(np.stack((part.spread(np.arange(part.n_questions)), paid(part)[0])), axis=1)
        answered = np.bincount(pairs[1], minlength=len(part.sources))
        if answered.min() < max(FEWEST, part.n_questions / 2):
            name, count = part.sources[int(answered.argmin())], int(answered.min())
            raise CalibrationError(
                f"{name} answered {count} of {part.n_questions} questions, too few to plan with: leave its responses "
                "out, or have it answer the others"
            )


class Baselines:
    """Majority vote with more and more samples, on the test questions: of all sources, and of each source alone."""

    def __init__(self, cal: PricedPool, test: PricedPool) -> None:
        levels = levels_of(cal.pool)
        self.all_sources = _ladder(test, _of_all(cal, levels))
        alone = [[_samples({s: n}, len(levels)) for n in counts[1:]] for s, counts in enumerate(levels)]
        self._on_calibration = [_ladder(cal, purchases) for purchases in alone]
        self.alone = [_ladder(test, purchases) for purchases in alone]

    def best_source(self, mean: float) -> int:
        """Return the source with the best majority vote on the calibration questions at this mean cost."""
        able = [s for s, ladder in enumerate(self._on_calibration) if ladder[0].mean <= mean]
        if not able:
            return min(range(len(self._on_calibration)), key=lambda s: self._on_calibration[s][0].mean)
        return max(able, key=lambda s: float(at_cost(self._on_calibration[s], mean).mean()))


def _of_all(cal: PricedPool, levels: Sequence[Sequence[int]]) -> list[Purchase]:
    """Return one sample of the cheapest source, of the two cheapest, .., of all; then more samples of all."""
    by_price = np.argsort(cal.sample, kind="stable").tolist()
    most = [level[-1] for level in levels]
    first = [_samples(dict.fromkeys(by_price[:k], 1), len(levels)) for k in range(1, len(levels) + 1)]
    counts = sorted({n for level in levels for n in level if n > 1})
    return first + [_samples({s: min(n, m) for s, m in enumerate(most)}, len(levels)) for n in counts]


def _ladder(priced: PricedPool, rungs: Sequence[Purchase]) -> Ladder:
    """Majority vote on each purchase; no score breaks its ties."""
    ladder, size = [], priced.pool.n_questions
    for bought in rungs:
        part, where = bought.of(priced.pool)
        cost, correct = np.zeros(size), np.zeros(size)
        cost[where] = np.bincount(part.spread(np.arange(part.n_questions)), part.tokens, part.n_questions)
        correct[where] = MajorityVote().predict(part.unlabelled()).correct(part)
        ladder.append(SpendingStrategy(sum(bought.samples), None, np.zeros(size), cost, correct))
    return ladder


def _samples(counts: dict[int, int], sources: int) -> Purchase:
    return Purchase(tuple(counts.get(s, 0) for s in range(sources)), (False,) * sources)


def _curve_rows(
    strategies: Sequence[tuple[float, Strategy, Strategy]], baselines: Baselines, names: tuple[str, ...], seed: int
) -> list[dict[str, Any]]:
    """Return one row per budget: the purchase, its cost and accuracy, the baselines at that cost and at the budget."""
    singles = [baselines.best_source(learned.mean) for _, learned, _ in strategies]
    cases = [
        (budget, strategy.cost, strategy.correct, (baselines.all_sources, baselines.alone[single]))
        for (budget, _, strategy), single in zip(strategies, singles, strict=True)
    ]
    rows = []
    for (budget, _, strategy), single, figures in zip(strategies, singles, against_baselines(cases, seed), strict=True):
        cost, accuracy, majority, alone, gain, over, *whole_budget = figures
        row: dict[str, Any] = {"budget": float(budget), "buys": strategy.bought.described(names)}
        row |= {"method": strategy.method, "margin": strategy.margin}
        row |= {"samples": dict(zip(names, strategy.bought.samples, strict=True))}
        row |= {"scored": [name for name, flag in zip(names, strategy.bought.scored, strict=True) if flag]}
        row |= {"scores": dict(zip(names, strategy.scores.mean(axis=0).tolist(), strict=True))}
        row |= {"cost": float(cost), "cost_se": cost.se}
        row |= as_columns(accuracy, "accuracy", "")
        row |= {"majority": float(majority), "single": names[single], "single_accuracy": float(alone)}
        row |= as_columns(gain, "gain") | as_columns(over, "over_single")
        row |= {"majority_whole_budget": float(whole_budget[0]), "single_whole_budget": float(whole_budget[1])}
        rows.append(row)
    return rows


def _explanation(figures: dict[str, Any], questions: int, *, scores_for_sale: bool) -> str:
    """Return what to buy, what it costs and how accurate it is."""
    take = ", ".join(f"{n} of {name}" for name, n in figures["samples"].items() if n)
    text = f"Samples to take per question: {take}. "
    if figures["margin"] is None and scores_for_sale:
        text += "Do not ask the verifier: at this budget it does not pay on the calibration questions. "
    if figures["margin"] is not None:
        read = ", ".join(f"{figures['scores'][name]:.1f} of {name}" for name in figures["scored"])
        text += f"Scores to ask for, on average: {read}. "
    text += f"On the {questions} other questions: {percent(figures['accuracy'])} % ± {percent(figures['se'])} "
    text += f"correct at {figures['cost']:.4g} per question. Against majority over all sources with more samples for "
    text += f"the same cost: {difference(figures, 'gain')}; against {figures['single']} alone, the best single source: "
    text += f"{difference(figures, 'over_single')}."
    if figures["gain_high"] < 0 or figures["over_single_high"] < 0:
        text += " That is significantly less, so take what beats it instead, or label more questions."
    if figures["cost"] > figures["budget"]:
        text += f" It is more than the budget of {figures['budget']:.4g}, but within the sampling error."
    return text
