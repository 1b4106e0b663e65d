"""A budget for samples becomes a stopping rule: chosen on one part of the questions and measured on the other."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import polars as pl

from steelyard.evaluation.accuracy import need_labels
from steelyard.evaluation.accuracy_curves import default_sizes
from steelyard.evaluation.budget_plan import BudgetPlan, difference
from steelyard.evaluation.percentages import percent, points
from steelyard.evaluation.stopping_frontier import frontier_of, measured
from steelyard.evaluation.stopping_rule_choice import RuleSearch, check_aim
from steelyard.evaluation.trajectories import FEWEST, crossfit_trajectories, trajectories
from steelyard.foundation.errors import CalibrationError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Pool
from steelyard.voting.stopping.stopping_rule import Rule

RIVALS = {"gain": "fixed"}


def plan_stopping(
    pool: Pool,
    method: Method,
    *,
    samples: float | None = None,
    loss: float | None = None,
    calibrate: float = 0.5,
    refit: bool = True,
    price: float = 1.0,
    resamples: int | None = None,
    seed: int = 0,
) -> BudgetPlan:
    """Choose the stopping rule for a mean number of samples, or for a loss of accuracy against all of them.

    A part `calibrate` of the questions fits the method and chooses the rule, each question voted on by a fit on the
    others; the rest says what that is worth. With `refit=False` the method votes as it was fitted, on other questions
    than these. A rule that falls behind a fixed number of samples on the rest is not taken. `price` is that of a
    sample, for the costs in the table.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(200, 8))
    >>> plan_stopping(pool, sy.LogitVote(), samples=4, resamples=2).plan.stopping_.cap <= 8
    True
    """
    check_aim(samples, loss, pool.n)
    cal, test = need_labels(pool).split(calibrate, seed=seed)
    if test.n_questions < FEWEST:
        raise CalibrationError(
            f"{test.n_questions} questions left to test on are too few to say what a rule is worth: "
            f"leave {FEWEST} or more, with more questions or a smaller share to calibrate on"
        )
    options: dict[str, Any] = {"resamples": resamples, "seed": seed}
    search = RuleSearch(
        crossfit_trajectories(method, cal, **options) if refit else trajectories(method, cal, **options)
    )
    choice = search.choose(samples=samples, loss=loss)
    voter = deepcopy(method)
    voter.clear_budget()
    if refit:
        voter.fit(cal)
    seen = trajectories(voter, test, **options)
    budgets = sorted({*default_sizes(min(cal.n, test.n)), *([samples] if samples is not None else [])})
    table = frontier_of(search, seen, budgets, seed=seed)
    rule, refused, figures = choice.rule, None, measured([choice.rule], seen, seed=seed)[0]
    if figures["gain_high"] < 0 and "fixed" in choice.offers:
        rule, refused = choice.offers["fixed"], rule
        figures = measured([rule], seen, seed=seed)[0]
    voter.stopping_ = rule
    explanation = _explanation(rule, refused, figures, loss, test.n_questions)
    table = _with_plan(table, figures, samples)
    buys = pl.Series([_buys(row) for row in table.iter_rows(named=True)], dtype=pl.String)
    table = table.with_columns(budget=price * table["budget"], cost=price * table["samples"], buys=buys)
    figures = {**figures, "buys": _buys(figures), "cost": price * figures["samples"]}
    return BudgetPlan(voter, table, figures, RIVALS, explanation, cal.n_questions, test.n_questions)


def _with_plan(table: pl.DataFrame, figures: dict[str, Any], samples: float | None) -> pl.DataFrame:
    """Mark the row of the plan, and add one if the plan was not chosen for any of the budgets."""
    settings = [pl.col(name).eq_missing(figures[name]) for name in ("rule", "threshold", "least", "cap")]
    table = table.with_columns(chosen=pl.all_horizontal(pl.col("budget").eq_missing(samples), *settings))
    if table["chosen"].any():
        return table
    return pl.concat((table, pl.DataFrame([{"budget": samples, **figures, "chosen": True}], table.schema)))


def _buys(row: dict[str, Any]) -> str:
    """Describe a rule.

    >>> _buys({"rule": "beta", "threshold": 0.9, "least": 2, "cap": 8}), _buys({"rule": "fixed", "cap": 8})
    ('beta at 0.9: 2 to 8 samples', 'fixed: 8 samples')
    """
    if row["rule"] == "fixed":
        return f"fixed: {row['cap']} sample{'s' * (row['cap'] > 1)}"
    return f"{row['rule']} at {row['threshold']:g}: {row['least']} to {row['cap']} samples"


def _explanation(rule: Rule, refused: Rule | None, figures: dict[str, Any], loss: float | None, questions: int) -> str:
    """Return what to do, how certain that is, and what it costs."""
    correct = f"{percent(figures['accuracy'])} % ± {percent(figures['se'])} correct"
    where = f"on the {questions} other questions"
    if refused:
        text = f"Do not stop early: {refused.name} seemed worthwhile but fell behind {where}; "
        text += f"take {rule.cap} samples per question, {correct}."
    elif rule.name == "fixed":
        text = "Do not stop early: it does not pay on the calibration questions. "
        text += f"Take {rule.cap} samples per question: {correct} {where}."
    else:
        text = f"Stop by {rule.name} at {rule.threshold:g}, after {rule.least} to {rule.cap} "
        text += f"samples: {figures['samples']:.1f} per question {where}, {correct}; {difference(figures, 'gain')} "
        text += "against as many for each."
    if loss is not None:
        interval = f"{points(figures['loss_low'])} to {points(figures['loss_high'])}"
        text += f" It loses {points(figures['loss'])} points ({interval}) against all samples"
        text += ", more than allowed: label more questions." if figures["loss"] > loss else "."
    return text
