"""Plan the samples and scores of one model for a budget: chosen on one part of the questions, measured on the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from steelyard.evaluation.accuracy import as_columns, need_labels
from steelyard.evaluation.budget_plan import BudgetPlan, difference
from steelyard.evaluation.percentages import percent
from steelyard.evaluation.price_table import UnitPrices
from steelyard.evaluation.spending_strategies import (
    SpendingStrategies,
    SpendingStrategy,
    against_baselines,
    majority_strategy,
    measure_strategy,
    vanilla_strategy,
)
from steelyard.evaluation.trajectories import FEWEST
from steelyard.foundation.errors import CalibrationError, ScoreError, SettingError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool, Pool

RIVALS = {"gain": "majority", "over_vanilla": "vanilla"}


def plan_samples_and_scores(
    pool: Pool,
    method: Method,
    *,
    price_sample: float,
    price_score: float,
    budget: float,
    budgets: Sequence[float] | None = None,
    calibrate: float = 0.5,
    seed: int = 0,
) -> BudgetPlan:
    """Choose how many samples to draw and how many scores to ask for, for a mean cost per question.

    Prices are of one sample and of one score, in any money; either may be 0. A text is read once where the pool knows
    texts (`read(texts=True)`). A part `calibrate` of the questions fits the method and chooses; the rest says what that
    is worth, for every one of `budgets`, beside majority vote with more samples and vanilla with all scores at the same
    cost. Where asking does not pay the plan is majority vote.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(200, 4)).with_shuffled_scores(0)
    >>> plan_samples_and_scores(pool, sy.VanillaVote(), price_sample=1, price_score=1, budget=4).plan.name
    'majority'
    """
    prices = UnitPrices(price_sample, price_score)
    for amount in (budget, *(budgets or ())):
        prices.check_budget(amount)
    labelled = need_labels(pool)
    if labelled.scores is None:
        raise ScoreError("there are no scores to buy: add some with 'steelyard score', or plan for samples alone")
    if method.weighs_sources:
        raise SettingError(
            f"{method.name} weighs sources, and these responses are of one: use a method such as calibrated"
        )
    cal, test = labelled.split(calibrate, seed=seed)
    if min(cal.n_questions, test.n_questions) < FEWEST:
        few = min(cal.n_questions, test.n_questions)
        raise CalibrationError(f"{few} questions to choose or to test on are too few: bring {FEWEST} or more for each")
    return plan_from_split(cal, test, method, prices, budget, budgets, seed=seed)


def plan_from_split(
    cal: LabelledPool,
    test: LabelledPool,
    method: Method,
    prices: UnitPrices,
    budget: float,
    budgets: Sequence[float] | None = None,
    *,
    seed: int = 0,
) -> BudgetPlan:
    """Plan with calibration and test questions that are already split."""
    search = SpendingStrategies(method, cal, prices, seed=seed)
    tried = sorted({*(budgets if budgets is not None else _budgets(prices, cal.n)), budget})
    chosen = {amount: search.within(amount) for amount in tried}
    seen = {
        _key(strategy): measure_strategy(search.asking_voter(strategy), strategy, test, prices)
        for strategy in chosen.values()
    }
    sizes = [n for n in search.sizes if n <= test.n]
    baselines = [[measure(test, n, prices) for n in sizes] for measure in (majority_strategy, vanilla_strategy)]
    rows = _measured([(amount, seen[_key(strategy)]) for amount, strategy in chosen.items()], baselines, seed)
    figures = next(row for row in rows if row["budget"] == budget)
    strategy, refused = chosen[budget], False
    if strategy.margin is not None and figures["gain_high"] < 0:
        refused = True
        strategy = max((m for m in search.majority if m.mean <= budget), key=lambda m: m.n)
        figures = _measured(
            [(budget, measure_strategy(search.asking_voter(strategy), strategy, test, prices))], baselines, seed
        )[0]
    for row in rows:
        row["chosen"] = row["budget"] == budget and not refused
    if refused:
        rows.append(figures | {"chosen": True})
    curve = pl.DataFrame(rows, schema_overrides={"margin": pl.Float64})
    voter = search.voter(strategy)
    voter.samples_ = {"": strategy.n}
    explanation = _explanation(figures, test.n_questions, refused=refused)
    return BudgetPlan(voter, curve, figures, RIVALS, explanation, cal.n_questions, test.n_questions)


def _explanation(figures: dict[str, Any], questions: int, *, refused: bool) -> str:
    """Return what to buy, what it costs and how accurate it is."""
    correct = f"{percent(figures['accuracy'])} % ± {percent(figures['se'])} correct "
    correct += f"at {figures['cost']:.4g} per question"
    where = f"on the {questions} other questions"
    if figures["margin"] is None:
        seemed = f"it seemed worthwhile but fell behind majority {where}"
        why = seemed if refused else "at this budget it does not pay on the calibration questions"
        return f"Do not ask the verifier: {why}. Take {figures['n']} samples and count them: {correct} {where}."
    text = f"Take {figures['n']} samples per question and ask for {figures['scores']:.1f} scores on average: "
    text += f"{correct} {where}. Against majority with more samples for the same cost: {difference(figures, 'gain')}"
    text += f"; against vanilla, all scored, for the same cost: {difference(figures, 'over_vanilla')}."
    if figures["cost"] > figures["budget"]:
        text += f" That is more than the budget of {figures['budget']:.4g}, but within the sampling error."
    return text


def _measured(
    strategies: Sequence[tuple[float, SpendingStrategy]], baselines: Sequence[Sequence[SpendingStrategy]], seed: int
) -> list[dict[str, Any]]:
    """Return one row per budget: cost and accuracy, and the baselines at that cost and at the budget."""
    cases = [(budget, strategy.cost, strategy.correct, baselines) for budget, strategy in strategies]
    rows = []
    for (budget, strategy), figures in zip(strategies, against_baselines(cases, seed), strict=True):
        cost, accuracy, majority, vanilla, gain, over, *whole_budget = figures
        row: dict[str, Any] = {"budget": float(budget), "n": strategy.n, "margin": strategy.margin}
        read = float(strategy.scores.mean())
        scores = "" if strategy.margin is None else f" + {read:.1f} scores"
        row |= {"buys": f"{strategy.n} samples{scores}", "scores": read, "cost": float(cost), "cost_se": cost.se}
        row |= as_columns(accuracy, "accuracy", "")
        row |= {"majority": float(majority), "vanilla": float(vanilla)}
        row |= as_columns(gain, "gain") | as_columns(over, "over_vanilla")
        row |= {"majority_whole_budget": float(whole_budget[0]), "vanilla_whole_budget": float(whole_budget[1])}
        rows.append(row)
    return rows


def _budgets(prices: UnitPrices, n: int) -> list[float]:
    """Return budgets from twice the price of a sample (or score), doubled up to the cost of everything."""
    unit, highest = prices.sample or prices.score, n * (prices.sample + prices.score)
    return [*(unit * 2**k for k in range(1, 60) if unit * 2**k < highest), highest]


def _key(strategy: SpendingStrategy) -> tuple[int, float | None]:
    return strategy.n, strategy.margin
