"""How many samples a target accuracy needs: the same for every question, and with stopping.

For every budget the rule is chosen on calibration questions; on test questions its accuracy is followed over the
mean samples it takes until it first reaches the target, straight in log2 between budgets. The interval is a bootstrap
over test questions that draws the target, the accuracies and the samples together; never is infinitely many.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import LEVEL, bootstrapped, need_labels
from steelyard.evaluation.matching_compute import fine_sizes, first_reached
from steelyard.evaluation.rule_for_budget import RuleSearch
from steelyard.evaluation.subset_counts import answers_correctly
from steelyard.evaluation.trajectories import Trajectories, crossfit_trajectories, trajectories
from steelyard.voting.methods import default_method, method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.stopping.stopping_rule import Rule

if TYPE_CHECKING:
    import polars as pl


def samples_needed(
    cal: LabelledPool,
    test: LabelledPool,
    method: Method | None = None,
    *,
    target: Method | float | None = None,
    resamples: int | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Return one row a way to spend samples (fixed, each kind of rule, the chosen one): samples that reach the target.

    `target` is an accuracy, or a method with all samples (vanilla, unless told); `samples`, `low` and `high` are null
    for never, `share` is the part of all samples, `reached` the part of bootstraps that get there.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> table = sy.evaluation.samples_needed(cal, test, sy.MajorityVote(), target=0.4, resamples=2)
    >>> table["way"].to_list()[0], table["way"].to_list()[-1]
    ('beta', 'chosen')
    """
    import polars as pl

    voter = method or method_class(default_method(cal))()
    shelf = RuleSearch(crossfit_trajectories(voter, need_labels(cal), resamples=resamples, seed=seed))
    seen = trajectories(deepcopy(voter).fit(cal), need_labels(test), resamples=resamples, seed=seed)
    goal = np.full(test.n_questions, target) if isinstance(target, float | int) else _goal(target, cal, test)
    choices = [shelf.choose(samples=budget) for budget in fine_sizes(min(cal.n, test.n))]
    ways = {kind: [choice.offers[kind] for choice in choices if kind in choice.offers] for kind in shelf.rule_results}
    ways["chosen"] = [choice.rule for choice in choices]
    rows = [{"way": way, **_needed(rules, seen, goal, seed)} for way, rules in ways.items()]
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(("samples", "low", "high", "share"), pl.Float64))


def _goal(target: Method | None, cal: LabelledPool, test: LabelledPool) -> NDArray[np.float64]:
    return answers_correctly(deepcopy(target or method_class("vanilla")()).fit(cal), test).astype(np.float64)


def _needed(rules: list[Rule], seen: Trajectories, goal: NDArray[np.float64], seed: int) -> dict[str, Any]:
    found = [seen.under(rule) for rule in dict.fromkeys(rules)]
    found.sort(key=lambda pair: float(pair[0].mean()))
    values = np.stack([used for used, _ in found] + [hits for _, hits in found] + [goal], axis=1)
    point = _first(values.mean(axis=0))
    many = np.sort([_first(draw) for draw in bootstrapped(values, seed=seed)])
    tail = (1 - LEVEL) / 2
    low, high = many[math.floor(tail * (len(many) - 1))], many[math.ceil((1 - tail) * (len(many) - 1))]
    whole = float(seen.prefix_votes.sizes.mean())
    return {
        "target": float(goal.mean()),
        "samples": _known(point),
        "low": _known(low),
        "high": _known(high),
        "share": _known(point / whole),
        "reached": float(np.isfinite(many).mean()),
        "questions": len(goal),
    }


def _first(means: NDArray[np.float64]) -> float:
    """The samples at which the accuracies first reach the goal: means of samples, of accuracies, and the goal."""
    count = len(means) // 2
    order = np.argsort(means[:count], kind="stable")
    sizes, accuracy = means[:count][order], means[count:-1][order]
    return float(first_reached(sizes, accuracy[None], means[-1:])[0])


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
