"""Checks of settings: they behave as scikit-learn expects of an estimator, though it is not needed."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields
from typing import Any

from steelyard.foundation.errors import SettingError
from steelyard.testing.other_settings import other_settings
from steelyard.testing.pools import calibration_pool, require
from steelyard.voting.methods.base.configured import clone
from steelyard.voting.methods.base.method import Method


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


ALL = (parameters_are_settings, parameters_can_be_set, repr_makes_it_again, clone_is_not_fitted)
