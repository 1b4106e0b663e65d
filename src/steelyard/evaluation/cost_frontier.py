"""Accuracy against mean samples: what stopping early buys on questions that nothing was chosen on."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.evaluation.accuracy import Estimate, estimates, need_labels
from steelyard.evaluation.accuracy_curves import default_sizes
from steelyard.evaluation.rule_for_budget import RuleSearch
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
    """Return one row a budget (mean samples per question) and kind of rule: samples used and accuracy on the test set.

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
    voter = method or method_class(default_method(cal))()
    shelf = RuleSearch(crossfit_trajectories(voter, need_labels(cal), resamples=resamples, seed=seed))
    seen = trajectories(deepcopy(voter).fit(cal), need_labels(test), resamples=resamples, seed=seed)
    return frontier_of(shelf, seen, budgets or default_sizes(min(cal.n, test.n)), seed=seed)


def frontier_of(shelf: RuleSearch, seen: Trajectories, budgets: Sequence[float], *, seed: int = 0) -> pl.DataFrame:
    """Choose the rules for each budget and measure them on other questions."""
    import polars as pl

    choices = [(float(budget), shelf.choose(samples=budget)) for budget in budgets]
    rules = [(budget, rule, rule is choice.rule) for budget, choice in choices for rule in choice.offers.values()]
    figures = measured([rule for _, rule, _ in rules], seen, seed=seed)
    rows = [
        {"budget": budget, **row, "chosen": chosen} for (budget, _, chosen), row in zip(rules, figures, strict=True)
    ]
    return pl.DataFrame(rows)


def measured(rules: Sequence[Rule], seen: Trajectories, *, seed: int = 0) -> list[dict[str, Any]]:
    """Return what each rule costs and gives, with its uncertainty over questions, all on the same bootstrap draws.

    `gain` is against fixed at the same mean samples, `loss` against all samples there are.
    """
    full = seen.fixed(float(seen.prefix_votes.sizes.mean()))
    columns = []
    for rule in rules:
        used, correct = seen.under(rule)
        columns += [used, correct, correct - seen.fixed(float(used.mean())), full - correct]
    found = iter(estimates(np.stack(columns, axis=1), seed=seed))
    return [_row(rule, *islice(found, 4)) for rule in rules]


def _row(rule: Rule, samples: Estimate, accuracy: Estimate, gain: Estimate, loss: Estimate) -> dict[str, Any]:
    row: dict[str, Any] = {"rule": rule.name, "threshold": rule.threshold if rule.thresholds else None}
    row |= {"least": rule.least, "cap": rule.cap, "samples": float(samples), "samples_se": samples.se}
    row |= {"accuracy": float(accuracy), "se": accuracy.se, "low": accuracy.low, "high": accuracy.high}
    for name, each in (("gain", gain), ("loss", loss)):
        row |= {name: float(each), f"{name}_se": each.se, f"{name}_low": each.low, f"{name}_high": each.high}
    return row
