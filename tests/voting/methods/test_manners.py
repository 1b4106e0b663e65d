"""Methods behave as scikit-learn expects of an estimator, though it is not needed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from tests.building import Labelled

METHODS = [sy.method_class(name) for name in sy.method_names()]
every_method = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.name)
CLASSES: dict[str, Any] = {kind.__name__: kind for kind in METHODS}
OTHER: dict[str, Any] = {
    "rule": "exact", "points": 11, "seed": 7, "clip": 0.01, "bandwidth": 0.5, "bins": 5, "reliability": "fitted",
    "folds": 3, "se_tolerance": 2.0, "reserve": 0.5, "curve": "isotonic", "guard": True
}  # fmt: skip


def alike(a: sy.Method, b: sy.Method) -> bool:
    """Whether both are unfitted methods of one kind with the same settings."""
    return type(a) is type(b) and a.settings() == b.settings() and a.fitted_on_ is None is b.fitted_on_


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
    """A method with no setting at its default, but for those that need several scores or a closed set of answers."""
    usual = kind().get_params()
    kept = {"mix", "rule"} if kind is sy.ConsensusVote else {"mix"}
    return kind(**{name: value if name in kept else OTHER[name] for name, value in usual.items()})


@every_method
def test_parameters_are_the_settings_of_the_constructor(kind: type[sy.Method]) -> None:
    method = changed(kind)
    assert set(method.get_params()) == {field.name for field in fields(kind) if field.init}
    assert method.get_params() == method.get_params(deep=False) == method.settings()
    assert alike(kind(**method.get_params()), method)
    method.check_settings()


@every_method
def test_parameters_can_be_set_and_an_unknown_one_is_one_line(kind: type[sy.Method]) -> None:
    method = kind()
    assert method.set_params(**changed(kind).get_params()) is method
    assert alike(method, changed(kind))
    with pytest.raises(sy.SettingError, match=f"^{kind.name} has no setting 'depth': ") as told:
        method.set_params(depth=3)
    assert "\n" not in str(told.value)


@every_method
def test_the_text_of_a_method_is_an_expression_that_makes_it_anew(kind: type[sy.Method], cal: Labelled) -> None:
    assert repr(kind()) == f"{kind.__name__}()"
    for method in (kind(), changed(kind)):
        assert alike(eval(repr(method), CLASSES), method)
        assert alike(eval(repr(copy.deepcopy(method).fit(cal)), CLASSES), method)
    for name, value in changed(kind).get_params().items():
        if value != kind().get_params()[name]:
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
    assert alike(fresh, changed(kind))
    assert fresh.fitted_on_ is None
    assert fitted.fitted_on_ is not None


def test_a_constructor_of_ones_own_is_refused_where_its_settings_would_be_lost() -> None:
    class PowerVote(sy.Method):
        def __init__(self, power: float = 2.0) -> None:
            self.power = power

        def weigh(self, pool: sy.Pool) -> NDArray[np.float64]:
            return np.asarray(pool.known_scores**self.power)

    with pytest.raises(sy.SettingError, match="make it a dataclass"):
        sy.clone(PowerVote(9.0))


def test_settings_changed_after_a_fit_leave_nothing_learned_with_others(cal: Labelled) -> None:
    vote = sy.LogitVote().fit(cal)
    assert vote.set_params(rule="bagged").__sklearn_is_fitted__()  # the same
    with pytest.raises(sy.SettingError, match="no setting 'rul'"):
        vote.set_params(rule="grid", rul="x")
    assert vote.rule == "bagged"
    assert not vote.set_params(rule="grid").__sklearn_is_fitted__()


def test_a_fit_that_fails_leaves_the_method_as_it_was(cal: Labelled, test: Labelled) -> None:
    two = cal.with_parts({"a": cal.known_scores, "b": 1 - cal.known_scores})
    seen = test.with_parts({"a": test.known_scores, "b": 1 - test.known_scores})
    vote = sy.CalibratedVote(reserve=0.8).fit(two)
    before = vote.weigh(seen)
    with pytest.raises(sy.CalibrationError, match="leaves 4 of 20 questions"):
        vote.fit(two.take(np.arange(20)))
    assert np.array_equal(vote.weigh(seen), before)


def test_a_method_is_assessed_at_the_number_of_samples_it_was_fitted_at(cal: Labelled) -> None:
    gains = [sy.CalibratedVote().fit(cal, n=4).assess(pool).gains_ for pool in (cal, cal.first(4))]
    assert gains[0] == gains[1]
    assert sy.CalibratedVote().explain() == "Not fitted."


def test_a_plan_of_a_class_that_has_the_name_of_another_method_is_refused(cal: Labelled, tmp_path: Path) -> None:
    class Majority(sy.Method):
        def weigh(self, pool: sy.Pool) -> NDArray[np.float64]:
            return -np.ones(pool.n_responses)

    Majority().fit(cal).save(tmp_path / "plan.json")
    with pytest.raises(sy.PlanError, match="register your class by an entry point"):
        sy.load(tmp_path / "plan.json")


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda cal: sy.CalibratedVote().set_params(folds=4.5).fit(cal), "folds is 4.5"),
        (lambda cal: sy.LogitVote().set_params(seed=None).fit(cal), "seed is None"),
        (lambda cal: sy.LogitVote().fit(cast(Any, "table.parquet")), "fit takes a pool, not a str"),
        (lambda cal: sy.MajorityVote().predict(cast(Any, {})), "takes a pool, not a dict"),
    ],
)
def test_what_is_of_another_type_is_refused_in_one_line(
    mistake: Callable[[Labelled], Any], words: str, cal: Labelled
) -> None:
    with pytest.raises(sy.SettingError, match=words):
        mistake(cal)


def test_fitted_methods_can_be_compared_and_kept_in_a_set(cal: Labelled) -> None:
    vote, other = sy.LogitVote().fit(cal), sy.LogitVote().fit(cal)
    assert vote == vote
    assert len({vote, other}) == 2
