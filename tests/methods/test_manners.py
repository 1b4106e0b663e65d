"""Methods behave as scikit-learn expects of an estimator, though it is not needed."""

from __future__ import annotations

import copy
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from tests.building import Labelled

METHODS = [sy.method_class(name) for name in sy.method_names()]
every_method = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.name)
CLASSES: dict[str, Any] = {kind.__name__: kind for kind in METHODS}
OTHER: dict[str, Any] = {
    "rule": "exact", "points": 11, "seed": 7, "clip": 0.01, "bandwidth": 0.5, "bins": 5, "reliability": "fitted",
    "folds": 3, "errors": 2.0, "reserve": 0.5, "curve": "isotonic",
}  # fmt: skip


def cloned_as_scikit_learn_does(estimator: Any) -> Any:
    """What sklearn.base.clone does to an estimator, and what it insists on."""
    kind = estimator.__class__
    parameters = {name: copy.deepcopy(value) for name, value in estimator.get_params(deep=False).items()}
    new = kind(**parameters)
    kept = new.get_params(deep=False)
    for name, value in parameters.items():
        assert kept[name] is value, "the constructor only stores"
    return new


def changed(kind: type[sy.Method]) -> sy.Method:
    """A method with no setting at its default."""
    return kind(**{name: OTHER[name] for name in kind().get_params()})


@every_method
def test_parameters_are_the_settings_of_the_constructor(kind: type[sy.Method]) -> None:
    method = changed(kind)
    assert set(method.get_params()) == {field.name for field in fields(kind) if field.init}
    assert method.get_params() == method.get_params(deep=False) == method.settings()
    assert kind(**method.get_params()) == method
    method.check_settings()


@every_method
def test_parameters_can_be_set_and_an_unknown_one_is_one_line(kind: type[sy.Method]) -> None:
    method = kind()
    assert method.set_params(**changed(kind).get_params()) is method
    assert method == changed(kind)
    with pytest.raises(sy.SettingError, match=f"^{kind.name} has no setting 'depth': ") as told:
        method.set_params(depth=3)
    assert "\n" not in str(told.value)


@every_method
def test_the_text_of_a_method_is_an_expression_that_makes_it_anew(kind: type[sy.Method], cal: Labelled) -> None:
    assert repr(kind()) == f"{kind.__name__}()"
    for method in (kind(), changed(kind)):
        assert eval(repr(method), CLASSES) == method
        assert eval(repr(copy.deepcopy(method).fit(cal)), CLASSES) == method
    for name, value in changed(kind).get_params().items():
        assert repr(kind(**{name: value})) == f"{kind.__name__}({name}={value!r})"


def test_a_number_of_numpy_is_shown_as_one_of_python() -> None:
    assert repr(sy.LogitVote(clip=np.float64(0.25))) == "LogitVote(clip=0.25)"


@every_method
def test_it_says_whether_it_is_fitted(kind: type[sy.Method], cal: Labelled) -> None:
    method = kind()
    assert method.__sklearn_is_fitted__() is not kind.learns
    assert method.fit(cal).__sklearn_is_fitted__()


@every_method
@pytest.mark.parametrize("clone", [sy.clone, cloned_as_scikit_learn_does], ids=["sy.clone", "sklearn"])
def test_a_clone_has_the_settings_and_nothing_learned(kind: type[sy.Method], clone: Any, cal: Labelled) -> None:
    fitted = changed(kind).fit(cal)
    fresh = clone(fitted)
    assert type(fresh) is kind
    assert fresh == changed(kind)
    assert fresh.fitted_on_ is None
    assert fitted.fitted_on_ is not None
