"""Plans with anything in them: one line on load, or a vote that works."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.voting.confidence.drift import MOST_REFERENCES, question_means, score_drift
from steelyard.voting.methods import configured, method_names
from steelyard.voting.stopping import rule_from
from tests.building import Labelled, labelled

NUMBERS = [1e308, -1e308, 9e14, -9e14, 5e-324, -5e-324, 1e-199, 0, -1, 0.5, 3, 10**18, -(10**18), 10**400, True, None]
LISTS: list[Any] = [[], [1.0] * 5000, [[1.0]], [[]], ["inf"], [None], [1e308] * 3, {}, "inf"]
TEXTS: list[Any] = ["", "x" * 100_000, "inf", "-inf", 7, [], None]
GONE = object()


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place of a plan; of a list its ends and its middle."""
    if at:
        yield at, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths(inner, (*at, name))
    elif isinstance(value, list) and value:
        for i in sorted({0, len(value) // 2, len(value) - 1}):
            yield from paths(value[i], (*at, i))


def damages(content: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place of a plan with everything that is put there."""
    for at, value in paths(content):
        texts = TEXTS if isinstance(value, str) else []
        lists = LISTS if isinstance(value, list | dict) else []
        for new in [*NUMBERS, *texts, *lists, *([GONE] if isinstance(at[-1], str) else [])]:
            yield at, new


def damaged(content: dict[str, Any], at: tuple[Any, ...], new: Any) -> dict[str, Any]:
    """A copy of a plan that differs in one place."""
    copy: dict[str, Any] = json.loads(json.dumps(content))
    inner: Any = copy
    for step in at[:-1]:
        inner = inner[step]
    if new is GONE:
        del inner[at[-1]]
    else:
        inner[at[-1]] = new
    return copy


def plans() -> dict[str, tuple[Any, dict[str, Any]]]:
    return {
        **{name: (name, {}) for name in method_names()},
        "platt, isotonic": ("platt", {"curve": "isotonic"}),
        "kde, fitted": ("kde", {"reliability": "fitted"}),
        "calibrated, mixed, reserved and stopping": ("calibrated", {"reserve": 0.3}),
    }


def _pool(seed: int, *, two: bool) -> Labelled:
    table = sy.simulate(40, 6, seed=seed)
    if not two:
        return labelled(table.with_columns(score=pl.when(pl.int_range(pl.len()) % 11 > 0).then("score")))
    mixed = table.with_columns(other=(pl.col("score") * 0.5 + 0.3), prm="score").drop("score")
    return labelled(mixed, score="prm+other")


@pytest.mark.parametrize("most", [20, pytest.param(10**9, marks=pytest.mark.long)])
@pytest.mark.parametrize("plan", plans())
def test_a_plan_with_anything_in_one_place_is_refused_in_one_line_or_votes(
    plan: str, most: int, tmp_path: Path
) -> None:
    name, settings = plans()[plan]
    two = "mixed" in plan
    cal, test = _pool(0, two=two), _pool(1, two=two)
    path = tmp_path / "plan.json"
    fitted = configured(name, settings).fit(cal)
    if "stopping" in plan:
        fitted.stopping_ = rule_from({"rule": "beta", "cap": 6, "least": 2, "threshold": 0.9})
    fitted.save(path)
    content = json.loads(path.read_text())
    voted, refused = 0, list[str]()
    every = list(damages(content))
    for at, new in random.Random(0).sample(every, min(most, len(every))):
        what = f"{at} = {'gone' if new is GONE else repr(new)[:30]}"
        path.write_text(json.dumps(damaged(content, at, new)))
        try:
            loaded = sy.load(path)
        except sy.PlanError as error:
            refused.append(str(error))
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                verdicts = loaded.predict(test)
                assert not hasattr(loaded, "weight") or np.isfinite([loaded.weight(0.3), loaded.weight(1.0)]).all()
                score_drift(
                    loaded.fitted_on_.reference_scores if loaded.fitted_on_ else (), question_means(loaded.mixed(test))
                )
                repr(loaded)
                json.dumps(loaded.summary(), allow_nan=False)
            except (sy.PlanError, sy.errors.CalibrationError):
                continue  # for another score, or fitted on nothing
            except Exception as error:
                raise AssertionError(f"{what}: {error!r}") from error
        sure = verdicts.weight_share if verdicts.p_correct is None else verdicts.p_correct
        assert ((sure >= 0) & (sure <= 1)).all(), what
        assert np.isfinite(verdicts.margin).all(), what
        voted += 1
    assert voted
    assert refused
    assert max(len(line) for line in refused) < 800
    assert not any("\n" in line for line in refused)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("fitted_on", "reference_scores"), [0.5] * (MOST_REFERENCES + 1)),
        (("fitted_on", "reference_scores"), [0.5] * 100_000),
        (("learned", "votes_"), 1e308),
        (("learned", "correctness_"), [1.0] * 100_000),
        (("learned", "gains_"), {f"g{i}": 1.0 for i in range(5000)}),
        (("fitted_on", "llm"), "m" * 1_000_000),
    ],
)
def test_a_plan_with_more_than_a_fit_can_make_is_refused_on_load(
    cal: Labelled, tmp_path: Path, place: tuple[str, str], value: Any
) -> None:
    path = tmp_path / "plan.json"
    sy.CalibratedVote().fit(cal).save(path)
    content = json.loads(path.read_text())
    assert len(content["fitted_on"]["reference_scores"]) <= MOST_REFERENCES
    content[place[0]][place[1]] = value
    path.write_text(json.dumps(content))
    with pytest.raises(sy.PlanError):
        sy.load(path)


@pytest.mark.parametrize("name", method_names())
@pytest.mark.parametrize(
    "score",
    [
        pl.lit(0.3),
        pl.lit(1.0),
        pl.col("correct").cast(pl.Float64),
        1 - pl.col("correct").cast(pl.Float64),
        pl.col("score") * 1e-12,
        0.7 + pl.col("score") * 1e-15,
        pl.when(pl.int_range(pl.len()) == 3).then("score"),
    ],
    ids=["constant", "ones", "perfect", "upside down", "tiny", "rounded", "nearly all missing"],
)
def test_what_a_fit_makes_of_odd_scores_is_within_the_bounds_of_a_plan(
    name: str, score: pl.Expr, tmp_path: Path
) -> None:
    pool = labelled(sy.simulate(40, 6, seed=0).with_columns(score=score))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = configured(name, {}).fit(pool)
    except (sy.errors.CalibrationError, sy.errors.ScoreError):
        return
    fitted.save(tmp_path / "plan.json")
    assert np.array_equal(sy.load(tmp_path / "plan.json").predict(pool).code, fitted.predict(pool).code)
