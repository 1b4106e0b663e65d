"""Checks of fitting, of the plan that stores a fitted method, and of settings, which behave as scikit-learn expects."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from steelyard.foundation.errors import SettingError
from steelyard.testing.shared import calibration_pool, other_settings, require, visible, voting_pool
from steelyard.voting.methods.base.configured import clone
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


def parameters_are_settings(method: type[Method]) -> None:
    """`get_params` returns the arguments of the constructor, which only stores them."""
    params = other_settings(method)
    configured = method(**params)
    names = {field.name for field in fields(method) if field.init}
    require(set(configured.get_params()) == names, "get_params must return every argument of the constructor")
    for name, value in configured.get_params(deep=False).items():
        require(value is params[name], f"the constructor must store {name!r} as it is")
    configured.check_settings()


def parameters_can_be_set(method: type[Method]) -> None:
    """`set_params` changes settings and refuses an unknown one in one line."""
    fresh, params = method(), other_settings(method)
    require(fresh.set_params(**params) is fresh, "set_params must return the method itself")
    require(_same(fresh, method(**params)), "set_params does not give the method that the constructor gives")
    unknown = "no_such_setting"
    try:
        fresh.set_params(**{unknown: 3})
    except SettingError as error:
        require(unknown in str(error) and "\n" not in str(error), "the error must name the unknown setting in one line")
    else:
        raise AssertionError("set_params must raise a SettingError for an unknown setting")


def repr_makes_it_again(method: type[Method]) -> None:
    """The repr is an expression that makes the unfitted method again, with the settings that are not the default."""
    name = method.__name__
    require(repr(method()) == f"{name}()", f"the repr of an unchanged method must be {name}()")
    for configured in (method(), method(**other_settings(method))):
        for shown in (repr(configured), repr(deepcopy(configured).fit(calibration_pool()))):
            again = eval(shown, {name: method})  # noqa: S307 - the repr of a class that the caller trusts
            require(_same(again, configured), f"{shown} does not make the method again")


def clone_is_not_fitted(method: type[Method]) -> None:
    """A clone, ours or scikit-learn's, has the settings of a fitted method and nothing that it learned."""
    params = other_settings(method)
    fitted = method(**params).fit(calibration_pool())
    for copied in (clone(fitted), _sklearn_clone(fitted)):
        require(_same(copied, method(**params)), "a clone does not have the settings of the method")
    require(fitted.fitted_on_ is not None, "cloning a fitted method must leave it fitted")


def _same(one: Method, other: Method) -> bool:
    """Whether both are unfitted methods of one class with the same settings."""
    return (
        type(one) is type(other)
        and one.settings() == other.settings()
        and one.fitted_on_ is None
        and other.fitted_on_ is None
    )


def _sklearn_clone(method: Any) -> Any:
    """Clone a method as `sklearn.base.clone` does, with the check that it makes."""
    params = {name: deepcopy(value) for name, value in method.get_params(deep=False).items()}
    copied = type(method)(**params)
    for name, value in copied.get_params(deep=False).items():
        require(value is params[name], f"the constructor must store {name!r} as it is")
    return copied


ALL = (
    fits_the_same_twice, fit_changes_nothing_else, plan_votes_the_same, knows_whether_it_is_fitted,
    parameters_are_settings, parameters_can_be_set, repr_makes_it_again, clone_is_not_fitted,
)  # fmt: skip
