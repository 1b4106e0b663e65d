"""Plans: what is written, what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from tests.building import Labelled, labelled


@pytest.fixture
def plan(cal: Labelled, tmp_path: Path) -> Path:
    sy.LogitVote().fit(cal).save(tmp_path / "plan.json")
    return tmp_path / "plan.json"


def _edit(path: Path, **changes: Any) -> Path:
    content = json.loads(path.read_text())
    for key, value in changes.items():
        *parents, last = key.split("__")
        inner = content
        for parent in parents:
            inner = inner[parent]
        inner[last] = value
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "plan version 2, this Steelyard reads version 1: upgrade"),
        ({"version": None}, "plan version None"),
        ({"format": "pickle"}, "is not a Steelyard plan"),
        ({"method": "logti"}, "did you mean 'logit'"),
        ({"method": 5}, "unknown method '5'"),
        ({"settings": []}, "damaged plan"),
        ({"settings__rule": 7}, "rule is 7, which logit cannot use"),
        ({"settings__extra": 7}, "has the settings"),
        ({"settings": {}}, "has the settings"),
        ({"settings__rule": "exakt"}, "did you mean 'exact'"),
        ({"settings__clip": 0.7}, "clip must lie between"),
        ({"settings__clip": 10**400}, "damaged plan"),
        ({"learned__offset_": 10**400}, "damaged plan"),
        ({"learned__correct_": [1.0]}, "accuracy curve is damaged"),
        ({"learned__edges_": [[1.0]]}, "damaged plan"),
        ({"learned__edges_": [None]}, "damaged plan"),
        ({"learned__offsets_": {"a": 1.0}}, "not one for each rule"),
        ({"fitted_on__n": "many"}, "damaged plan"),
        ({"fitted_on__questions": 0}, "damaged plan"),
        ({"fitted_on__score": True}, "damaged plan"),
        ({"version": True}, "plan version True"),
        ({"settings__points": True}, "points is True"),
        ({"learned__offset_": "left"}, "damaged plan"),
        ({"learned__offset_": None}, "offset_ is None"),
        ({"learned__offset_": float("nan")}, "NaN"),
        ({"learned__offset_": [1.0]}, "offset_ is array"),
        ({"learned__edges_": 3.0}, "edges_ is 3.0"),
        ({"learned__more_": 3.0}, "fit it again"),
        ({"fitted_on": {}}, "damaged plan"),
        ({"fitted_on": 3}, "damaged plan"),
    ],
)
def test_a_damaged_plan_is_refused_with_a_reason(plan: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(sy.PlanError, match=message.replace("(", r"\(")):
        sy.load(_edit(plan, **changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learned__ratio_": []}, "densities are damaged"),
        ({"learned__ratio_": [7.0]}, "densities are damaged"),
        ({"learned__step_": 0.0}, "densities are damaged"),
        ({"learned__step_": "inf"}, "densities are damaged"),
        ({"learned__shares_": []}, "each of 10 bins"),
        ({"learned__shares_": [5.0] * 10}, "between 0 and 1"),
        ({"settings__reliability": "x"}, "unknown reliability"),
    ],
)
def test_a_damaged_kde_plan_is_refused(cal: Labelled, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    sy.paper.KDEVote().fit(cal).save(tmp_path / "plan.json")
    with pytest.raises(sy.PlanError, match=message):
        sy.load(_edit(tmp_path / "plan.json", **changes))


def test_numpy_settings_are_written_as_plain_numbers(cal: Labelled, tmp_path: Path) -> None:
    sy.LogitVote(clip=np.float32(0.0625), points=np.int64(11)).fit(cal).save(tmp_path / "plan.json")  # type: ignore[arg-type]
    assert sy.load(tmp_path / "plan.json").settings()["clip"] == 0.0625


def test_pipes_and_devices_are_no_plans(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(sy.PlanError, match="not a file"):
            sy.load(path)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "3", "[" * 100_000, '{"format": "steelyard-plan"}', "\x00"])
def test_what_is_no_plan_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(sy.PlanError):
        sy.load(tmp_path / "plan.json")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(sy.PlanError, match="is not a plan"):
        sy.load(tmp_path / "plan.json")


def test_a_number_beyond_all_bounds_is_refused(plan: Path) -> None:
    plan.write_text(plan.read_text().replace('"slope_": ', '"slope_": 1e999, "x": ', 1))
    with pytest.raises(sy.PlanError):
        sy.load(plan)


def test_a_plan_for_another_score_is_refused(plan: Path) -> None:
    table = sy.simulate(20, 4).rename({"score": "prm"})
    with pytest.raises(sy.PlanError, match="fitted on the score 'score', the table was read with 'prm'"):
        sy.load(plan).predict(sy.read(table, score="prm"))


def test_a_plan_votes_on_arrays_that_name_no_score(plan: Path) -> None:
    pool = sy.Pool.from_arrays(question=[0, 0], answer=[1, 2], scores=[0.9, 0.1])
    assert sy.load(plan).predict(pool).code.tolist() == [1]


def test_the_majority_limit_survives_json(tmp_path: Path) -> None:
    pool = labelled(sy.simulate(80, 8, seed=3, world=sy.testing.World(gap=-6.0, easy_share=1.0)))
    for method in (sy.LogitVote(rule="exact"), sy.paper.LinearVote(rule="exact")):
        method.fit(pool).save(tmp_path / "plan.json")
        loaded = sy.load(tmp_path / "plan.json")
        assert isinstance(loaded, type(method))
        assert loaded.offset_ == -np.inf
        assert np.array_equal(loaded.predict(pool).code, sy.MajorityVote().predict(pool).code)


def test_the_accuracy_curve_survives_json(cal: Labelled, plan: Path) -> None:
    vote, loaded = sy.LogitVote().fit(cal), sy.load(plan)
    assert isinstance(loaded, sy.LogitVote)
    assert np.array_equal(vote.curve_.edges, loaded.curve_.edges)
    assert vote.curve_.optimal == loaded.curve_.optimal


def test_an_unfitted_plan_can_be_saved_but_not_vote(tmp_path: Path, test: Labelled) -> None:
    sy.paper.KDEVote(bins=5).save(tmp_path / "plan.json")
    with pytest.raises(sy.errors.CalibrationError, match="is not fitted"):
        sy.load(tmp_path / "plan.json").predict(test)


def test_an_unfitted_vote_says_so_everywhere(test: Labelled) -> None:
    vote = sy.LogitVote()
    for ask in (lambda: vote.predict(test), lambda: vote.weight(0.5), lambda: vote.b, lambda: vote.curve_):
        with pytest.raises(sy.errors.CalibrationError, match="is not fitted"):
            ask()


def test_a_fitted_value_that_is_nan_is_never_written(cal: Labelled, tmp_path: Path) -> None:
    vote = sy.LogitVote().fit(cal)
    vote.prior_ = float("nan")
    with pytest.raises(sy.PlanError, match="NaN"):
        vote.save(tmp_path / "plan.json")
    assert list(tmp_path.iterdir()) == []
