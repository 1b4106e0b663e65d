"""The result of planning a budget: a plan to follow, the alternatives it was compared with, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.percentages import points
from steelyard.voting.methods.base.method import Method

if TYPE_CHECKING:
    import polars as pl

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class BudgetPlan:
    """A plan for a budget, chosen on the calibration questions and measured on the test questions.

    >>> import steelyard as sy
    >>> result = sy.plan_budget(sy.read_labelled(sy.simulate(100, 4)), sy.VanillaVote(), budget=2)
    >>> result.plan.stopping_.cap <= 4, result.calibration_questions, result.test_questions
    (True, 50, 50)
    """

    plan: Method  # fitted; it knows when to stop, which sources to ask, or which responses to score
    table: pl.DataFrame  # one row per alternative: `buys`, `cost`, `accuracy`, its interval, and the `rivals`
    figures: dict[str, Any]  # of the plan, as in a row of the table
    rivals: Mapping[str, str]  # columns with differences in accuracy, and what each is a difference from
    explanation: str
    calibration_questions: int
    test_questions: int

    def explain(self) -> str:
        """Return what to buy, what it costs and how accurate it is, in a few sentences."""
        return self.explanation

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the plan for `ask`, `serve`, `score` and `vote`, which follow it."""
        self.plan.save(path, overwrite=overwrite)


def difference(row: Mapping[str, Any], name: str) -> str:
    """Return a difference in accuracy with its interval, in points.

    >>> difference({"gain": 0.05, "gain_low": 0.01, "gain_high": 0.08}, "gain")
    '+5.0 points (+1.0 to +8.0)'
    """
    return f"{points(row[name])} points ({points(row[f'{name}_low'])} to {points(row[f'{name}_high'])})"


def random_mixture(cost: float, policies: Sequence[tuple[Vector, Vector]]) -> tuple[Vector, Vector]:
    """Mix the two policies around a mean cost at random; return the expected cost and accuracy per question [Q].

    A policy is its cost and whether it is correct per question [Q]; they come from cheap to dear.
    """
    means = [float(paid.mean()) for paid, _ in policies]
    for (low_cost, low), (high_cost, high), a, b in zip(policies, policies[1:], means, means[1:], strict=False):
        if cost <= b and b > a:
            part = max(0.0, (cost - a) / (b - a))
            return (1 - part) * low_cost + part * high_cost, (1 - part) * low + part * high
    return policies[-1]
