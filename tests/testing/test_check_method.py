"""The checks for methods of other packages fail those that break a rule, and say which."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy

Weights = NDArray[np.float64]


def scores(pool: sy.Pool) -> Weights:
    return np.nan_to_num(np.asarray(pool.known_scores, np.float64), nan=0.5)


class ScoreVote(sy.Method):
    """Keeps every rule."""

    def weigh(self, pool: sy.Pool) -> Weights:
        return scores(pool)


class LabelVote(ScoreVote):
    def weigh(self, pool: sy.Pool) -> Weights:
        return scores(pool) + (pool.correct if isinstance(pool, sy.LabelledPool) else 0.0)


class SilentVote(ScoreVote):
    def weigh(self, pool: sy.Pool) -> Weights:
        return np.asarray(pool.known_scores, np.float64)


class CodeVote(ScoreVote):
    def weigh(self, pool: sy.Pool) -> Weights:
        return np.where(pool.answer % 2 == 0, 5.0, 1.0) + scores(pool)


class FirstVote(ScoreVote):
    def weigh(self, pool: sy.Pool) -> Weights:
        weights = scores(pool)
        weights[pool.starts[:-1]] += 100.0
        return weights


class ShortVote(ScoreVote):
    def weigh(self, pool: sy.Pool) -> Weights:
        return scores(pool)[:-1]


class ShareVote(ScoreVote):
    def weigh(self, pool: sy.Pool) -> Weights:
        return scores(pool) / np.repeat(pool.sizes, pool.sizes)

    def by_response(self) -> bool:
        return True


class CarelessVote(ScoreVote):
    def _learn(self, pool: sy.Pool) -> None:
        pool.known_scores[:] = 0.5


class SortingVote(ScoreVote):
    """Its second fit changes nothing: only a pool that no earlier check has fitted it on shows the first."""

    def _learn(self, pool: sy.Pool) -> None:
        pool.answer.sort()


class ModifyingVote(ScoreVote):
    def weigh(self, pool: sy.Pool) -> Weights:
        pool.answer[:] = 0
        return scores(pool)


class GuessingOracle(ScoreVote):
    oracle: ClassVar[bool] = True

    def check_pool(self, pool: sy.Pool) -> None:
        pass


@dataclass(repr=False, eq=False)
class CountingVote(ScoreVote):
    fits_: int = field(default=0, init=False)

    def _learn(self, pool: sy.Pool) -> None:
        self.fits_ += 1


@dataclass(repr=False, eq=False)
class ForgetfulVote(ScoreVote):
    floor_: float = field(default=0.0, init=False)

    def _learn(self, pool: sy.Pool) -> None:
        self.hidden = float(np.nanmean(pool.known_scores))  # in no field, and so in no plan

    def weigh(self, pool: sy.Pool) -> Weights:
        return scores(pool) - getattr(self, "hidden", 0.0)


@dataclass(repr=False, eq=False)
class RoundingVote(ScoreVote):
    power: float = 2.0

    def __post_init__(self) -> None:
        self.power = round(self.power) + 0.25


@dataclass(repr=False, eq=False)
class StubbornVote(ScoreVote):
    power: float = 2.0

    def set_params(self, **params: Any) -> StubbornVote:
        return self


BROKEN: list[tuple[type[sy.Method], str]] = [
    (LabelVote, "ignores_labels"),
    (SilentVote, "handles_missing_scores"),
    (CodeVote, "ignores_answer_codes"),
    (CodeVote, "equal_scores_are_majority"),
    (FirstVote, "ignores_sample_order"),
    (ShortVote, "weighs_every_response"),
    (ShareVote, "by_response_holds"),
    (CarelessVote, "fit_changes_nothing_else"),
    (SortingVote, "fit_changes_nothing_else"),
    (ModifyingVote, "weighs_every_response"),
    (GuessingOracle, "requires_labels"),
    (CountingVote, "fits_the_same_twice"),
    (ForgetfulVote, "plan_votes_the_same"),
    (RoundingVote, "parameters_are_settings"),
    (StubbornVote, "parameters_can_be_set"),
]


@pytest.mark.parametrize(("method", "check"), BROKEN, ids=lambda value: getattr(value, "__name__", value))
def test_a_method_that_breaks_a_rule_fails_the_check_of_it(method: type[sy.Method], check: str) -> None:
    with pytest.raises(ExceptionGroup, match=rf"{method.__name__} fails \d+ of \d+ checks: .*{check}"):
        sy.testing.check_method(method)


def test_a_method_that_keeps_every_rule_passes_and_leaves_the_pools_of_later_checks_alone() -> None:
    sy.testing.check_method(ScoreVote)


def test_a_method_that_modified_its_pool_does_not_spoil_the_checks_of_the_next() -> None:
    for spoiler in (SortingVote, ModifyingVote):
        with pytest.raises(ExceptionGroup):
            sy.testing.check_method(spoiler)
        sy.testing.check_method(ScoreVote)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (ScoreVote(), "not an instance of ScoreVote: pass the class itself"),
        ("majority", "not 'majority': pass the class itself"),
        (int, "not <class 'int'>: pass the class itself"),
    ],
)
def test_what_is_no_class_of_a_method_is_refused_in_one_line(wrong: Any, message: str) -> None:
    for check in (sy.testing.check_method, sy.testing.method_checks):
        with pytest.raises(sy.SettingError, match=message):
            check(wrong)


def test_neither_pytest_nor_hypothesis_is_needed() -> None:
    code = (
        "import sys; sys.modules.update(pytest=None, hypothesis=None)\n"
        "import steelyard as sy; sy.testing.check_method(sy.MajorityVote); print('passed')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "passed", done.stderr
