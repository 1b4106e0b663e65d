"""Cascades from dear to cheap, and which of them holds a loss.

Each of some budgets gives one cascade. Whether a loss is held is cross-validated as a whole, the search included: a
cascade that was fitted to luck shows here, before it is chosen.
"""

from __future__ import annotations

from itertools import takewhile
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.cascade_search import FOLDS, CascadeSearch
from steelyard.evaluation.rule_search import Paired
from steelyard.foundation.errors import CalibrationError, SettingError, need_numbers
from steelyard.voting.fitting.answer_odds import Panel, is_correct
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.stopping.cascade import Cascade, Replayed

BUDGETS = (3.0, 1.5, 1.0, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1)  # of the cost of the best single source
SURE = 0.95  # that a loss is held
CLOSE = 1e-9


class CascadePath:
    """The cascades of some calibration questions."""

    def __init__(self, panel: Panel, cost: NDArray[np.float64], fold: Ints) -> None:
        self.panel, self.cost, self.fold = panel, cost, fold
        self.search = CascadeSearch(panel, cost, fold)
        self.everyone = _everyone(self.search)
        self.cascades = _along(self.search)

    def within(self, budget: float) -> Cascade:
        """The most accurate cascade within a mean cost per question."""
        found = self.search.find(budget)
        spent = self._spent(found)
        if spent > budget * (1 + CLOSE):
            raise SettingError(
                f"a budget of {budget:.4g} per question is too small: the least that any cascade costs on the "
                f"calibration questions is {spent:.4g}"
            )
        return found

    def holding(self, loss: float, budget: float | None = None) -> Cascade:
        """The cheapest cascade that loses no more against everyone, with a certainty of 95 %.

        Cascades are tested from dear to cheap and only up to the first that fails, so luck has one chance.
        """
        seen = 1 / self.panel.questions
        if loss < seen:
            raise CalibrationError(
                f"a loss of {loss:g} cannot be seen on {self.panel.questions} calibration questions, where one is "
                f"{seen:.2g}: allow more, or label more questions"
            )
        spare = NormalDist().inv_cdf(SURE)
        losses = zip(self.cascades, self._losses(), strict=True)
        held = takewhile(lambda each: each[1].mean + spare * each[1].se <= loss + CLOSE, losses)
        found = min((self.everyone, *(cascade for cascade, _ in held)), key=self._spent)
        if budget is not None and self._spent(found) > budget * (1 + CLOSE):
            raise SettingError(
                f"to lose at most {loss:g} costs {self._spent(found):.4g} per question on the calibration questions: "
                "allow as much, or a larger loss"
            )
        return found

    def _losses(self) -> list[Paired]:
        """What learning the cascade of each budget loses on questions that it was not learned on."""
        behind = np.zeros((len(BUDGETS), self.panel.questions))
        for k in range(FOLDS):
            seen, held = np.flatnonzero(self.fold != k), np.flatnonzero(self.fold == k)
            others = CascadeSearch(self.panel.take(seen), self.cost[seen], np.arange(len(seen)) % FOLDS)
            mine = self.panel.take(held)
            full = is_correct(mine, _everyone(others).replay(mine).row).astype(np.float64)
            for i, cascade in enumerate(_along(others)):
                behind[i, held] = full - is_correct(mine, cascade.replay(mine).row)
        return [Paired.of(each) for each in behind]

    def _spent(self, cascade: Cascade) -> float:
        return float(costs_of(cascade.replay(self.panel), self.cost).mean())


def _along(search: CascadeSearch) -> list[Cascade]:
    return [search.find(budget * search.unit) for budget in BUDGETS]


def costs_of(found: Replayed, cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """What was spent on every question [Q]."""
    spent: NDArray[np.float64] = np.where(found.asked[:, : cost.shape[1]], cost, 0.0).sum(axis=1)
    return spent


def check_cascade_aim(budget: float | None, loss: float | None) -> None:
    """Refuse a budget or a loss that cannot be."""
    need_numbers(budget=budget, loss=loss)
    if budget is None and loss is None:
        raise SettingError("say what to aim for: budget=0.01 (mean cost per question) or loss=0.01 (one point)")
    if budget is not None and not 0 < budget < np.inf:
        raise SettingError(f"budget must be above 0, not {budget:g}: the mean cost per question, as 0.01")
    if loss is not None and not 0 <= loss < 1:
        raise SettingError(f"loss must lie between 0 and 1, not {loss:g}: 0.01 is one point of accuracy")


def _everyone(search: CascadeSearch) -> Cascade:
    return search.cascade(((tuple(range(len(search.panel.names))), 0.0, 1.0),))
