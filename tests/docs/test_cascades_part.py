"""The part of docs/committees.md about cascades: made of the stored figures, and what measures them is sound."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from docs.committees import cascades as measuring
from docs.committees.__main__ import HERE
from docs.committees.cascade_page import GOALS, cascade_part, goals, headline, why
from docs.committees.cascade_picture import LINES, POINTS, cascade_picture
from tests.evaluation.test_cascades import PRICES, pool, table

STORED = HERE / "cascades.csv"


def stored() -> pl.DataFrame:
    return pl.read_csv(STORED, schema=measuring.SCHEMA)


@pytest.fixture(scope="module")
def measured() -> pl.DataFrame:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        for name, value in (("PRICES", PRICES), ("SPLITS", range(2)), ("BUDGETS", (0.65, 1.5)), ("USUAL", 100)):
            patch.setattr(measuring, name, value)
        return measuring.cascades("math", pool(table(200)))


def test_the_picture_shows_both_lines_and_names_every_point() -> None:
    for drawn in (cascade_picture(stored()), (HERE.parent / "cascades.svg").read_text()):
        assert all(words in drawn for words in (*LINES, *POINTS.values()))
    assert len(drawn) < 60_000


def test_the_goals_are_said_to_be_met_or_missed_by_the_row_of_their_budget() -> None:
    row = {"set": "math", "policy": "cascade", "llm": "", "accuracy": 0.9, "se": 0.01, "over_best_se": 0.004}
    dear, poor = {"budget": 1.5, "cost": 1.51, "over_best": 0.02}, {"budget": 0.65, "cost": 0.6, "over_best": -0.004}
    found = goals(pl.DataFrame([row | dear, row | poor], schema=measuring.SCHEMA))
    assert [said for _, _, said in found] == ["met", "**missed**"]
    assert found[0][1] == "-0.4 ± 0.4 points at 60 %"


def test_a_miss_is_explained_and_what_is_met_is_not() -> None:
    known = stored()
    assert "Hindsight misses it too" in why(known)
    better = known.with_columns(over_best=pl.lit(0.02), cost=pl.min_horizontal("cost", "budget"))
    assert [said for _, _, said in goals(better)] == ["met"] * len(GOALS)
    assert why(better) == ""


def test_by_the_stored_figures_a_cascade_is_as_good_as_everyone_at_a_sixth_of_the_cost() -> None:
    found = {(row["policy"], row["budget"]): row for row in stored().iter_rows(named=True)}
    everyone, best = found["everyone", 0.0], found["best single", 0.0]
    assert found["cascade", 1.5]["over_best"] >= 0.01
    assert found["cascade", 1.5]["cost"] <= 1.5
    assert found["cascade", 3.0]["accuracy"] >= everyone["accuracy"] - 0.002
    assert found["cascade", 3.0]["cost"] < everyone["cost"] / 5
    assert best["llm"] in cascade_part(stored())
    assert headline(stored()) in cascade_part(stored())


def test_a_simulated_committee_goes_through_the_measurement(measured: pl.DataFrame) -> None:
    found = {(row["policy"], row["budget"]): row for row in measured.iter_rows(named=True)}
    assert found["best single", 0.0]["llm"] == "wise"
    assert found["best single", 0.0]["cost"] == pytest.approx(1.0)
    assert found["everyone", 0.0]["cost"] == pytest.approx(sum(PRICES.values()) / PRICES["wise"])
    for budget in (0.65, 1.5):
        assert found["random routing", budget]["cost"] == pytest.approx(found["cascade", budget]["cost"])
    assert found["hindsight", 0.65]["cost"] <= 0.65
    gain = found["cascade", 0.65]["accuracy"] - found["best single", 0.0]["accuracy"]
    assert found["cascade", 0.65]["over_best"] == pytest.approx(gain)


def test_hindsight_is_never_behind_what_the_labels_find_with_one_threshold(measured: pl.DataFrame) -> None:
    rows = {row["budget"]: row["accuracy"] for row in measured.filter(policy="hindsight").iter_rows(named=True)}
    assert np.all(np.diff([rows[budget] for budget in sorted(rows)]) >= 0)


def test_a_set_that_does_not_know_its_tokens_has_no_rows() -> None:
    assert measuring.cascades("mmlu", replace(pool(table(60)), tokens=None)).is_empty()
