"""Plan a cascade for prices: fitted on one part of the questions, measured on the other.

A `CascadePath` has one cascade per budget, from expensive to cheap. Whether a cascade stays within a loss is
cross-validated, the search included, so that a cascade that overfits is rejected before it is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from itertools import islice, takewhile
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import Paired, as_columns, estimates, need_labels
from steelyard.evaluation.budget_plan import BudgetPlan, difference, random_mixture
from steelyard.evaluation.cascade_fitting import FOLDS, CascadeFitter
from steelyard.evaluation.percentages import percent, points
from steelyard.evaluation.price_table import budget_share
from steelyard.evaluation.source_prices import source_costs, usual_samples
from steelyard.evaluation.trajectories import FEWEST
from steelyard.foundation.errors import CalibrationError, SettingError, need_numbers
from steelyard.voting.fitting.answer_odds import Panel, is_correct
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.stopping.cascade import Cascade, CascadeOrigin, Replayed, digests

RIVALS = {"gain": "the best source"}
ENOUGH = 2000  # questions to learn a cascade on
Vector = NDArray[np.float64]
BUDGETS = (3.0, 1.5, 1.0, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1)  # of the cost of the best single source
SURE = 0.95  # confidence that a loss is not exceeded
CLOSE = 1e-9


def plan_cascade(
    pool: Pool,
    method: Method,
    prices: Mapping[str, float] | None = None,
    *,
    budget: float | str | None = None,
    loss: float | None = None,
    calibrate: float = 0.5,
    refit: bool = True,
    seed: int = 0,
) -> BudgetPlan:
    """Learn whom to ask first, whom to skip and when to stop, for a mean cost per question or for a loss of accuracy.

    `prices` are per million tokens, one for every source; the pool is read with `tokens=True`. Without prices what it
    read is the cost itself (`tokens="cost"`). A budget is in the same money, or a share of what the best single source
    costs, as "65%"; a loss is against asking everyone. A part `calibrate` of the questions fits the method and learns
    the cascade; the rest says what it is worth.

    >>> import steelyard as sy
    >>> rows = [(q, s) for q in range(120) for s in ("gpt", "phi")]
    >>> answer = [0 if q % 9 and s == "gpt" or q % 3 else 1 for q, s in rows]
    >>> question, source = zip(*rows)
    >>> pool = sy.Pool.from_arrays(question=question, answer=answer, source=source, correct=[a == 0 for a in answer])
    >>> pool = replace(pool, tokens=np.full(240, 1000.0))
    >>> plan_cascade(pool, sy.CommitteeVote(), {"gpt": 10, "phi": 0.5}, budget="10%").plan.cascade_.described()
    'ask phi'
    """
    check_cascade_aim(budget_share(budget) if isinstance(budget, str) else budget, loss)
    labelled = need_labels(pool)
    cost = source_costs(labelled, prices)
    where = replace(labelled, questions=np.asarray(labelled.questions))
    cal, test = where.split(calibrate, seed=seed)
    for part, use in ((cal, "to learn a cascade on"), (test, "left to test on")):
        if part.n_questions < FEWEST:
            raise CalibrationError(f"{part.n_questions} questions {use} are too few: bring {FEWEST} or more for each")
    if len(pool.sources) < 2:
        raise SettingError("a cascade needs two sources or more: these responses have one")
    places = {str(name): i for i, name in enumerate(where.questions.tolist())}
    cal_cost, test_cost = (cost[[places[str(q)] for q in part.questions.tolist()]] for part in (cal, test))
    few = np.flatnonzero(fold_of(cal, -(-cal.n_questions // ENOUGH), seed) == 0)
    path = CascadePath(Panel.of(cal.take(few)), cal_cost[few], fold_of(cal.take(few), FOLDS, seed))
    best = path.search.best
    spend = budget_share(budget) * float(cal_cost[:, best].mean()) if isinstance(budget, str) else budget
    chosen = path.within_loss(loss, spend) if loss is not None else path.within_budget(spend or 0.0)
    voter = deepcopy(method)
    voter.clear_budget()
    if refit:
        voter.fit(cal)
    rates = {name: float(price) for name, price in (prices or {}).items()}
    origin = CascadeOrigin(rates, per_response=pool.tokens is None, questions=digests(cal.questions.tolist()))
    samples = {name: n or 1 for name, n in zip(cal.sources, usual_samples(cal), strict=True)}
    voter.cascade_ = replace(chosen, samples=samples, origin=origin)
    curve = _curve(path, chosen, voter, test, test_cost, seed)
    figures = next(row for row in curve if row["chosen"])
    best_single = next(row for row in curve if row["policy"] == "best single")
    explanation = _explanation(figures, best_single, spend, loss, test.n_questions)
    return BudgetPlan(voter, pl.DataFrame(curve), figures, RIVALS, explanation, cal.n_questions, test.n_questions)


def check_cascade_aim(budget: float | None, loss: float | None) -> None:
    """Refuse a missing or impossible budget or loss."""
    need_numbers(budget=budget, loss=loss)
    if budget is None and loss is None:
        raise SettingError("set a goal: budget=0.01 (mean cost per question) or loss=0.01 (one point)")
    if budget is not None and not 0 < budget < np.inf:
        raise SettingError(f"budget must be above 0, not {budget:g}: the mean cost per question, as 0.01")
    if loss is not None and not 0 <= loss < 1:
        raise SettingError(f"loss must lie between 0 and 1, not {loss:g}: 0.01 is one point of accuracy")


class CascadePath:
    """Cascades for falling budgets, fitted on calibration questions."""

    def __init__(self, panel: Panel, cost: NDArray[np.float64], fold: Ints) -> None:
        self.panel, self.cost, self.fold = panel, cost, fold
        self.search = CascadeFitter(panel, cost, fold)
        self.everyone = _everyone(self.search)
        self.cascades = _all_budgets(self.search)

    def within_budget(self, budget: float) -> Cascade:
        """The most accurate cascade within a mean cost per question."""
        cascade = self.search.fit(budget)
        spent = self._spent(cascade)
        if spent > budget * (1 + CLOSE):
            raise SettingError(
                f"a budget of {budget:.4g} per question is too small: the cheapest cascade on the "
                f"calibration questions costs {spent:.4g}"
            )
        return cascade

    def within_loss(self, loss: float, budget: float | None = None) -> Cascade:
        """The cheapest cascade that loses no more against everyone, with a certainty of 95 %.

        Cascades are tested from dear to cheap and only up to the first that fails, so luck has one chance.
        """
        seen = 1 / self.panel.questions
        if loss < seen:
            raise CalibrationError(
                f"a loss of {loss:g} is too small for {self.panel.questions} calibration questions, where one is "
                f"{seen:.2g}: allow more, or label more questions"
            )
        spare = NormalDist().inv_cdf(SURE)
        losses = zip(self.cascades, self._losses(), strict=True)
        held = takewhile(lambda pair: pair[1].mean + spare * pair[1].se <= loss + CLOSE, losses)
        cheapest = min((self.everyone, *(cascade for cascade, _ in held)), key=self._spent)
        if budget is not None and self._spent(cheapest) > budget * (1 + CLOSE):
            raise SettingError(
                f"to lose at most {loss:g} costs {self._spent(cheapest):.4g} per question on the calibration "
                "questions: allow as much, or a larger loss"
            )
        return cheapest

    def _losses(self) -> list[Paired]:
        """Return the loss of accuracy of each budget's cascade, on questions that it was not fitted on."""
        behind = np.zeros((len(BUDGETS), self.panel.questions))
        for k in range(FOLDS):
            seen, held = np.flatnonzero(self.fold != k), np.flatnonzero(self.fold == k)
            others = CascadeFitter(self.panel.take(seen), self.cost[seen], np.arange(len(seen)) % FOLDS)
            mine = self.panel.take(held)
            full = is_correct(mine, _everyone(others).replay(mine).row).astype(np.float64)
            for i, cascade in enumerate(_all_budgets(others)):
                behind[i, held] = full - is_correct(mine, cascade.replay(mine).row)
        return [Paired.of(losses) for losses in behind]

    def _spent(self, cascade: Cascade) -> float:
        return float(costs_of(cascade.replay(self.panel), self.cost).mean())


def _all_budgets(search: CascadeFitter) -> list[Cascade]:
    return [search.fit(budget * search.unit) for budget in BUDGETS]


def _everyone(search: CascadeFitter) -> Cascade:
    return search.cascade(((tuple(range(len(search.panel.names))), 0.0, 1.0),))


def costs_of(replayed: Replayed, cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cost per question [Q]."""
    spent: NDArray[np.float64] = np.where(replayed.sampled[:, : cost.shape[1]], cost, 0.0).sum(axis=1)
    return spent


def _curve(
    path: CascadePath, chosen: Cascade, voter: Method, test: LabelledPool, cost: Vector, seed: int
) -> list[dict[str, Any]]:
    """Every cascade and what it is compared with, on the test questions, all on the same bootstrap draws."""
    panel, best = Panel.of(test), path.search.best
    cheapest = int(cost.mean(axis=0).argmin())
    single = {s: is_correct(panel, path.search.single(s).replay(panel).row).astype(float) for s in {cheapest, best}}
    everyone = voter.predict(test.unlabelled()).correct(test).astype(float)
    names = panel.names
    rows: list[tuple[str, str, Vector, Vector]] = []
    for name, cascade in {candidate.described(): candidate for candidate in (chosen, *path.cascades)}.items():
        replayed = cascade.replay(panel)
        rows.append(("cascade", name, costs_of(replayed, cost), is_correct(panel, replayed.row).astype(float)))
    rows.sort(key=lambda row: -row[2].mean())
    mean = next(row[2] for row in rows if row[1] == chosen.described())
    whole = (cost.sum(axis=1), everyone)
    ends = [(cost[:, cheapest], single[cheapest]), (cost[:, best], single[best]), whole]
    rows += [
        ("cheapest single", names[cheapest], *ends[0]),
        ("best single", names[best], *ends[1]),
        ("everyone", f"all {len(names)} sources", *whole),
        ("random routing", "at random, at the cost of the cascade", *random_mixture(float(mean.mean()), ends)),
    ]
    columns = [
        column for _, _, paid, correct in rows for column in (paid, correct, correct - single[best], everyone - correct)
    ]
    measured = iter(estimates(np.stack(columns, axis=1), seed=seed))
    table = []
    for policy, asks, _, _ in rows:
        price, accuracy, gain, lost = islice(measured, 4)
        row: dict[str, Any] = {"policy": policy, "buys": asks, "cost": float(price), "cost_se": price.se}
        row |= as_columns(accuracy, "accuracy", "") | as_columns(gain, "gain") | as_columns(lost, "loss")
        table.append(row | {"chosen": policy == "cascade" and asks == chosen.described()})
    return table


def _explanation(
    figures: dict[str, Any], best: dict[str, Any], budget: float | None, loss: float | None, questions: int
) -> str:
    """Return whom to ask, what that costs and how accurate it is."""
    text = f"{figures['buys'][0].upper()}{figures['buys'][1:]}. On the {questions} other questions: "
    text += (
        f"{percent(figures['accuracy'])} % ± {percent(figures['se'])} correct at {figures['cost']:.4g} per question, "
    )
    share = f"{figures['cost'] / best['cost']:.0%} of what {best['buys']} alone costs" if best["cost"] else "all free"
    text += f"{share}; {difference(figures, 'gain')} against it."
    if budget is not None and figures["cost"] > budget:
        text += f" That is more than the budget of {budget:.4g}, but within the sampling error of the choice."
    if loss is not None:
        interval = f"{points(figures['loss_low'])} to {points(figures['loss_high'])}"
        text += f" It loses {points(figures['loss'])} points ({interval}) against everyone"
        text += ", more than allowed: label more questions." if figures["loss"] > loss else "."
    return text
