"""Prices become a cascade in a plan: learned on one part of the questions, measured on the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import estimates, need_labels
from steelyard.evaluation.budget_plan import BudgetPlan, difference
from steelyard.evaluation.cascade_path import CascadePath, check_cascade_aim, costs_of
from steelyard.evaluation.percentages import percent, points
from steelyard.evaluation.source_costs import source_costs
from steelyard.evaluation.trajectories import FEWEST, FOLDS
from steelyard.foundation.errors import CalibrationError, SettingError
from steelyard.voting.fitting.answer_odds import Panel, is_correct
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.stopping.cascade import Cascade, CascadeOrigin, digests

RIVALS = {"gain": "the best source"}
ENOUGH = 2000  # questions to learn a cascade on
Vector = NDArray[np.float64]


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
    check_cascade_aim(_share(budget) if isinstance(budget, str) else budget, loss)
    labelled = need_labels(pool)
    cost = source_costs(labelled, prices)
    where = replace(labelled, questions=np.asarray(labelled.questions))
    cal, test = where.split(calibrate, seed=seed)
    for part, what in ((cal, "to learn a cascade on"), (test, "left to test on")):
        if part.n_questions < FEWEST:
            raise CalibrationError(f"{part.n_questions} questions {what} are too few: bring {FEWEST} or more for each")
    if len(pool.sources) < 2:
        raise SettingError("a cascade needs two sources or more: these responses have one")
    places = {str(name): i for i, name in enumerate(where.questions.tolist())}
    cal_cost, test_cost = (cost[[places[str(q)] for q in part.questions.tolist()]] for part in (cal, test))
    few = np.flatnonzero(fold_of(cal, -(-cal.n_questions // ENOUGH), seed) == 0)
    path = CascadePath(Panel.of(cal.take(few)), cal_cost[few], fold_of(cal.take(few), FOLDS, seed))
    best = path.search.best
    spend = _share(budget) * float(cal_cost[:, best].mean()) if isinstance(budget, str) else budget
    chosen = path.holding(loss, spend) if loss is not None else path.within(spend or 0.0)
    voter = deepcopy(method)
    voter.clear_budget()
    if refit:
        voter.fit(cal)
    origin = CascadeOrigin(_rates(prices), per_response=pool.tokens is None, questions=digests(cal.questions.tolist()))
    voter.cascade_ = replace(chosen, samples=_samples(cal), origin=origin)
    curve = _curve(path, chosen, voter, test, test_cost, seed)
    figures = next(row for row in curve if row["chosen"])
    best_single = next(row for row in curve if row["policy"] == "best single")
    explanation = _explanation(figures, best_single, spend, loss, test.n_questions)
    return BudgetPlan(voter, pl.DataFrame(curve), figures, RIVALS, explanation, cal.n_questions, test.n_questions)


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
        text += f" That is more than the budget of {budget:.4g}: within what the calibration questions could tell."
    if loss is not None:
        interval = f"{points(figures['loss_low'])} to {points(figures['loss_high'])}"
        text += f" It loses {points(figures['loss'])} points ({interval}) against everyone"
        text += ", more than allowed: label more questions." if figures["loss"] > loss else "."
    return text


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
    for name, cascade in {each.described(): each for each in (chosen, *path.cascades)}.items():
        found = cascade.replay(panel)
        rows.append(("cascade", name, costs_of(found, cost), is_correct(panel, found.row).astype(float)))
    rows.sort(key=lambda row: -row[2].mean())
    mean = next(row[2] for row in rows if row[1] == chosen.described())
    whole = (cost.sum(axis=1), everyone)
    ends = [(cost[:, cheapest], single[cheapest]), (cost[:, best], single[best]), whole]
    rows += [
        ("cheapest single", names[cheapest], *ends[0]),
        ("best single", names[best], *ends[1]),
        ("everyone", f"all {len(names)} sources", *whole),
        ("random routing", "by lot, at the cost of the cascade", *by_lot(float(mean.mean()), ends)),
    ]
    columns = [
        column for _, _, paid, correct in rows for column in (paid, correct, correct - single[best], everyone - correct)
    ]
    found_figures = iter(estimates(np.stack(columns, axis=1), seed=seed))
    table = []
    for policy, asks, _, _ in rows:
        price, accuracy, gain, lost = islice(found_figures, 4)
        row: dict[str, Any] = {"policy": policy, "buys": asks, "cost": float(price), "cost_se": price.se}
        row |= {"accuracy": float(accuracy), "se": accuracy.se, "low": accuracy.low, "high": accuracy.high}
        for name, each in (("gain", gain), ("loss", lost)):
            row |= {name: float(each), f"{name}_se": each.se, f"{name}_low": each.low, f"{name}_high": each.high}
        table.append(row | {"chosen": policy == "cascade" and asks == chosen.described()})
    return table


def by_lot(mean: float, ends: Sequence[tuple[Vector, Vector]]) -> tuple[Vector, Vector]:
    """Cost and accuracy of drawing, per question, one of two of these such that the mean cost is this one."""
    means = [float(paid.mean()) for paid, _ in ends]
    for (low, right), (high, righter), a, b in zip(ends, ends[1:], means, means[1:], strict=False):
        if mean <= b and b > a:
            part = max(0.0, (mean - a) / (b - a))
            return (1 - part) * low + part * high, (1 - part) * right + part * righter
    return ends[-1]


def _samples(pool: LabelledPool) -> dict[str, int]:
    """How many samples each source usually gave."""
    question = pool.spread(np.arange(pool.n_questions))
    place = question * len(pool.sources) + pool.source
    counts = np.bincount(place, minlength=pool.n_questions * len(pool.sources)).reshape(pool.n_questions, -1)
    return {
        name: int(np.median(each[each > 0])) if each.any() else 1
        for name, each in zip(pool.sources, counts.T, strict=True)
    }


def _rates(prices: Mapping[str, float] | None) -> dict[str, float]:
    return {name: float(price) for name, price in (prices or {}).items()}


def _share(text: str) -> float:
    """Read a share as 65%."""
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not text.endswith("%") or not 0 < share < np.inf:
        raise SettingError(
            f"cannot read the budget {text!r:.40}: give the mean cost per question, as 0.01, or 65% of the best"
        )
    return share
