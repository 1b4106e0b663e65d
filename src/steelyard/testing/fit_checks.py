"""Checks of fitting, and of the plan that stores a fitted method."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from steelyard.testing.pools import calibration_pool, require, visible, voting_pool
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.plan import read_plan
from steelyard.voting.methods.base.plan_loading import method_from_plan

ARRAYS = ("starts", "answer", "scores", "base", "width", "answer_correct")


def fits_the_same_twice(method: type[Method]) -> None:
    """Fitting again on the same pool learns the same."""
    cal = calibration_pool()
    with TemporaryDirectory() as folder:
        once, twice = Path(folder, "once.json"), Path(folder, "twice.json")
        method().fit(cal).save(once)
        method().fit(cal).fit(cal).save(twice)
        require(once.read_bytes() == twice.read_bytes(), "a second fit on the same pool learns something else")


def fit_changes_nothing_else(method: type[Method]) -> None:
    """`fit` changes neither the pool nor the settings."""
    pool = deepcopy(calibration_pool())
    fresh = method()
    settings = fresh.settings()
    fresh.fit(pool)
    require(fresh.settings() == settings, "fit changes a setting")
    for name in ARRAYS:
        before, after = getattr(calibration_pool(), name), getattr(pool, name)
        require(np.array_equal(before, after, equal_nan=name == "scores"), f"fit changes {name!r} of the pool")


def plan_votes_the_same(method: type[Method]) -> None:
    """A method that was saved as a plan and read back gives the same verdicts, bit for bit, and the same plan."""
    fitted, pool = method().fit(calibration_pool()), voting_pool()
    with TemporaryDirectory() as folder:
        plan, again = Path(folder, "plan.json"), Path(folder, "again.json")
        fitted.save(plan)
        loaded = method_from_plan(method, read_plan(plan))
        loaded.save(again)
        require(plan.read_bytes() == again.read_bytes(), "a plan that is read and saved again is another plan")
    before, after = (vote.predict(visible(vote, pool)) for vote in (fitted, loaded))
    for name in ("code", "total"):
        same = getattr(before, name).tobytes() == getattr(after, name).tobytes()
        require(same, f"{name!r} of the verdicts changes when the method is saved and read back")


def knows_whether_it_is_fitted(method: type[Method]) -> None:
    """A method that learns is fitted after `fit` and not before; one that learns nothing always is."""
    fresh = method()
    require(fresh.__sklearn_is_fitted__() is not method.learns, "an unfitted method reports the wrong state")
    require(fresh.fit(calibration_pool()).__sklearn_is_fitted__(), "a fitted method reports that it is not")


ALL = (fits_the_same_twice, fit_changes_nothing_else, plan_votes_the_same, knows_whether_it_is_fitted)
