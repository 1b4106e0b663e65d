"""What stopping early buys on test questions: accuracy against mean samples, and the samples that a target needs.

Rules are chosen on calibration questions, for every budget. The samples needed are where the accuracy over the mean
samples first reaches the target, linear in log2 between budgets. Their interval is a bootstrap over test questions that
draws the target, the accuracies and the samples together; a target that is never reached needs infinitely many.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import Estimate, as_columns, bootstrapped, estimates, need_labels
from steelyard.evaluation.accuracy_curves import default_sizes
from steelyard.evaluation.matching_compute import fine_sizes, first_reached, samples_interval
from steelyard.evaluation.random_subsets import answers_correctly
from steelyard.evaluation.stopping_rule_choice import RuleSearch
from steelyard.evaluation.trajectories import Trajectories, crossfit_trajectories, trajectories
from steelyard.voting.methods import default_method, method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.stopping.stopping_rule import Rule

if TYPE_CHECKING:
    import polars as pl


def frontier(
    cal: LabelledPool,
    test: LabelledPool,
    method: Method | None = None,
    *,
    budgets: Sequence[float] | None = None,
    resamples: int | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Return samples used and accuracy on the test set, one row per budget (mean samples) and kind of rule.

    Rules are chosen on the calibration questions, each voted on by a copy of the method fitted on the others; the test
    questions are voted on by the method fitted on all of them. `gain` is paired, against as many samples for
    every question as the rule takes on average; `chosen` marks what the calibration questions recommend. Budgets
    default to the powers of two; `resamples` is the number of random orders of each question's samples, 0 as they are.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> table = sy.evaluation.frontier(cal, test, sy.MajorityVote(), budgets=[4], resamples=2)
    >>> table["budget"].unique().to_list(), int(table["chosen"].sum())
    ([4.0], 1)
    """
    search, seen = _searched(cal, test, method, resamples, seed)
    return frontier_of(search, seen, budgets or default_sizes(min(cal.n, test.n)), seed=seed)


def _searched(
    cal: LabelledPool, test: LabelledPool, method: Method | None, resamples: int | None, seed: int
) -> tuple[RuleSearch, Trajectories]:
    """Return the rules to choose from, and the votes on the test questions."""
    voter = method or method_class(default_method(cal))()
    search = RuleSearch(crossfit_trajectories(voter, need_labels(cal), resamples=resamples, seed=seed))
    return search, trajectories(deepcopy(voter).fit(cal), need_labels(test), resamples=resamples, seed=seed)


def frontier_of(search: RuleSearch, seen: Trajectories, budgets: Sequence[float], *, seed: int = 0) -> pl.DataFrame:
    """Choose the rules for each budget and measure them on other questions."""
    import polars as pl

    choices = [(float(budget), search.choose(samples=budget)) for budget in budgets]
    rules = [(budget, rule, rule is choice.rule) for budget, choice in choices for rule in choice.offers.values()]
    figures = measured([rule for _, rule, _ in rules], seen, seed=seed)
    rows = [
        {"budget": budget, **row, "chosen": chosen} for (budget, _, chosen), row in zip(rules, figures, strict=True)
    ]
    return pl.DataFrame(rows)


def measured(rules: Sequence[Rule], seen: Trajectories, *, seed: int = 0) -> list[dict[str, Any]]:
    """Return the cost and accuracy of each rule, with its uncertainty over questions, all on the same bootstrap draws.

    `gain` is against fixed at the same mean samples, `loss` against all samples there are.
    """
    full = seen.fixed(float(seen.prefix_votes.sizes.mean()))
    columns = []
    for rule in rules:
        used, correct = seen.under(rule)
        columns += [used, correct, correct - seen.fixed(float(used.mean())), full - correct]
    figures = iter(estimates(np.stack(columns, axis=1), seed=seed))
    return [_row(rule, *islice(figures, 4)) for rule in rules]


def _row(rule: Rule, samples: Estimate, accuracy: Estimate, gain: Estimate, loss: Estimate) -> dict[str, Any]:
    row: dict[str, Any] = {"rule": rule.name, "threshold": rule.threshold if rule.thresholds else None}
    row |= {"least": rule.least, "cap": rule.cap, "samples": float(samples), "samples_se": samples.se}
    return row | as_columns(accuracy, "accuracy", "") | as_columns(gain, "gain") | as_columns(loss, "loss")


def samples_needed(
    cal: LabelledPool,
    test: LabelledPool,
    method: Method | None = None,
    *,
    target: Method | float | None = None,
    resamples: int | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Return the samples that reach a target, one row per strategy: fixed, each kind of rule, and the chosen one.

    `target` is an accuracy, or a method with all samples (by default vanilla); `samples`, `low` and `high` are null
    for never, `share` is the part of all samples, `reached` the part of bootstraps that get there.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> table = sy.evaluation.samples_needed(cal, test, sy.MajorityVote(), target=0.4, resamples=2)
    >>> table["way"].to_list()[0], table["way"].to_list()[-1]
    ('bayes-factor', 'chosen')
    """
    import polars as pl

    search, seen = _searched(cal, test, method, resamples, seed)
    if isinstance(target, float | int):
        goal = np.full(test.n_questions, target)
    else:
        goal = answers_correctly(deepcopy(target or method_class("vanilla")()).fit(cal), test).astype(np.float64)
    choices = [search.choose(samples=budget) for budget in fine_sizes(min(cal.n, test.n))]
    strategies = {
        kind: [choice.offers[kind] for choice in choices if kind in choice.offers] for kind in search.rule_results
    }
    strategies["chosen"] = [choice.rule for choice in choices]
    rows = [{"way": kind, **_needed(rules, seen, goal, seed)} for kind, rules in strategies.items()]
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(("samples", "low", "high", "share"), pl.Float64))


def _needed(rules: list[Rule], seen: Trajectories, goal: NDArray[np.float64], seed: int) -> dict[str, Any]:
    outcomes = [seen.under(rule) for rule in dict.fromkeys(rules)]
    outcomes.sort(key=lambda pair: float(pair[0].mean()))
    values = np.stack([used for used, _ in outcomes] + [hits for _, hits in outcomes] + [goal], axis=1)
    draws = np.array([_first(draw) for draw in bootstrapped(values, seed=seed)])
    samples, low, high, reached = samples_interval(_first(values.mean(axis=0)), draws)
    share = None if samples is None else samples / float(seen.prefix_votes.sizes.mean())
    row = {"target": float(goal.mean()), "samples": samples, "low": low, "high": high}
    return row | {"share": share, "reached": reached, "questions": len(goal)}


def _first(means: NDArray[np.float64]) -> float:
    """Return the samples at which accuracy first reaches the goal, from the means of samples, accuracies and goal."""
    count = len(means) // 2
    order = np.argsort(means[:count], kind="stable")
    sizes, accuracy = means[:count][order], means[count:-1][order]
    return float(first_reached(sizes, accuracy[None], means[-1:])[0])
