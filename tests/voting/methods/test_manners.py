"""Methods behave as scikit-learn expects of an estimator; `test_checks.py` has the checks that all of them pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.testing.shared import other_settings
from tests.building import Labelled


def test_a_changed_setting_is_shown_in_the_text_of_a_method() -> None:
    """Every setting can be changed by what is known of it, but those that need several scores or closed answers."""
    unchanged = set()
    for kind in map(sy.method_class, sy.method_names()):
        for name, value in other_settings(kind).items():
            if value == kind().settings()[name]:
                unchanged.add((kind.name, name))
            else:
                assert repr(kind(**{name: value})) == f"{kind.__name__}({name}={value!r})"
    assert unchanged == {("vanilla", "mix"), ("consensus", "rule")}


def test_a_number_of_numpy_is_shown_as_one_of_python() -> None:
    assert repr(sy.LogitVote(clip=np.float64(0.25))) == "LogitVote(clip=0.25)"


def test_a_constructor_of_ones_own_is_refused_where_its_settings_would_be_lost() -> None:
    class PowerVote(sy.Method):
        def __init__(self, power: float = 2.0) -> None:
            self.power = power

        def weigh(self, pool: sy.Pool) -> NDArray[np.float64]:
            return np.asarray(pool.known_scores**self.power)

    with pytest.raises(sy.SettingError, match="make it a dataclass"):
        sy.clone(PowerVote(9.0))


def test_settings_and_learned_values_of_a_class_that_is_no_dataclass_are_refused_not_lost(cal: Labelled) -> None:
    class PowerVote(sy.VanillaVote):
        kind: ClassVar[str] = "power"
        power: float = 2.0
        mean_: float | None = None

    method = PowerVote()
    method.power = 3.0
    for use in (method.get_params, lambda: sy.clone(method), lambda: method.fit(cal)):
        with pytest.raises(
            sy.SettingError, match=r"not a dataclass, so power, mean_ .* decorate the class with @dataclass"
        ):
            use()
    decorated: Any = dataclass(repr=False, eq=False)(PowerVote)
    assert sy.clone(decorated(power=3.0).fit(cal)).power == 3.0


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
    with pytest.raises(sy.errors.CalibrationError, match="leaves 4 of 20 questions"):
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
