"""`.plot()` and `sy.plot`: one picture of one thing, with the figures that the thing holds."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.voting.method_colours import colour
from tests.building import Labelled


def rows_of(chart: Any, column: str) -> list[dict[str, Any]]:
    """The rows of a chart that have a column."""
    return [row for data in chart.to_dict()["datasets"].values() for row in data if column in row]


@pytest.fixture(scope="module")
def table(cal: Labelled, test: Labelled) -> sy.evaluation.EvaluationTable:
    return sy.evaluate(["majority", "logit", "pass-at-n"], cal, test, n=[4, 16], resamples=2)


def test_curves_are_drawn_with_a_line_for_each_method_and_its_standard_error(cal: Labelled, test: Labelled) -> None:
    found = sy.evaluation.curves(["majority", "logit"], cal, test, n=[4, 16], resamples=2)
    values = rows_of(found.plot(), "accuracy")
    assert {(row["method"], row["n"]) for row in values} == {(m, n) for m in ("majority", "logit") for n in (4, 16)}
    last = next(row for row in values if row["method"] == "logit" and row["n"] == 16)
    assert last["accuracy"] == pytest.approx(found.accuracy[1, 1], abs=1e-5)
    assert last["high"] - last["low"] == pytest.approx(2 * found.se[1, 1], abs=3e-5)
    assert sy.plot(found).to_dict() == found.plot().to_dict()


def test_curves_at_one_n_show_their_errors_as_bars(cal: Labelled, test: Labelled) -> None:
    chart = sy.evaluation.curves(["majority"], cal, test, n=[8], resamples=2).plot().to_dict()
    assert chart["layer"][0]["mark"]["type"] == "rule"


def test_the_table_of_evaluate_draws_its_gains_at_the_largest_n(table: sy.evaluation.EvaluationTable) -> None:
    chart = table.plot()
    rows = {row["method"]: row for row in rows_of(chart, "se")}
    assert set(rows) == {"logit", "pass-at-n"}  # the baseline gains nothing over itself
    at16 = table.filter(pl.col("n") == 16, pl.col("method") == "logit").row(0, named=True)
    assert rows["logit"]["gain"] == pytest.approx(100 * at16["gain"], abs=1e-4)
    assert rows["logit"]["se"] == pytest.approx(100 * at16["gain_se"], abs=1e-4)
    assert [row["oracle"] for row in rows.values()] == [method == "pass-at-n" for method in rows]
    assert chart.to_dict()["title"]["text"] == "Gain in accuracy over majority"
    assert rows_of(table.plot(n=4), "se") != rows_of(chart, "se")
    with pytest.raises(sy.SettingError, match="n is 5, and the table has 4, 16: choose one of these"):
        table.plot(n=5)


def test_the_table_of_evaluate_is_still_a_frame_of_polars(table: sy.evaluation.EvaluationTable) -> None:
    assert isinstance(table, pl.DataFrame)
    assert type(table.plot.line(x="n", y="accuracy", color="method")).__name__ == "Chart"
    some = table.filter(pl.col("n") == 4)
    assert {row["method"] for row in rows_of(sy.plot(some), "se")} >= {"logit"}


def test_a_fitted_vote_draws_the_weight_of_a_score(cal: Labelled) -> None:
    vote = sy.LogitVote().fit(cal)
    line = rows_of(vote.plot(low=0.2, high=0.8), "weight")
    ends = [row for row in line if "score" in row]
    assert (ends[0]["score"], ends[-1]["score"]) == (0.2, 0.8)
    assert ends[-1]["weight"] == pytest.approx(vote.weight(0.8), abs=1e-4)
    assert colour("logit") in vote.plot().to_json()
    with pytest.raises(sy.SettingError, match="best-of-n has no weight by score alone: plot a Ballot"):
        sy.BestOfN().plot()
    with pytest.raises(sy.errors.CalibrationError, match="CalibratedVote is not fitted"):
        sy.CalibratedVote().plot()
    with pytest.raises(sy.SettingError, match="low must be below high"):
        vote.plot(low=0.8, high=0.2)


def test_verdicts_are_counted_by_share_or_confidence_and_by_label(cal: Labelled, test: Labelled) -> None:
    verdicts = sy.MajorityVote().predict(test)
    assert sum(row["questions"] for row in rows_of(verdicts.plot(), "questions")) == len(verdicts)
    assert "share of the readable responses" in verdicts.plot().to_json()
    sure = sy.CalibratedVote().fit(cal).predict(test)
    rows = rows_of(sure.plot(test), "questions")
    correct = sum(row["questions"] for row in rows if row["kind"] == "correct")
    assert correct == int(sure.correct(test).sum())
    assert "confidence of the verdict" in sure.plot().to_json()


def test_reliability_has_the_bins_of_the_report_and_refuses_verdicts_without_confidence(
    cal: Labelled, test: Labelled
) -> None:
    found = sy.evaluation.reliability(sy.CalibratedVote().fit(cal).predict(test), test)
    drawn = [row["questions"] for row in rows_of(found.plot(), "questions")]
    assert drawn == [one.questions for one in found.bins]
    assert "mean confidence" in found._repr_html_()
    with pytest.raises(sy.errors.CalibrationError, match="these verdicts have no confidence"):
        sy.evaluation.reliability(sy.MajorityVote().predict(test), test)


@pytest.mark.parametrize("kind", [sy.LogitVote, sy.paper.LinearVote])
def test_an_offset_vote_is_drawn_over_b_with_the_b_it_chose(kind: type[sy.LogitVote], cal: Labelled) -> None:
    vote = kind(rule="exact").fit(cal)
    steps = rows_of(sy.plot(vote), "b")
    assert max(row["accuracy"] for row in steps) == pytest.approx(vote.curve_.best / vote.curve_.questions, abs=1e-5)
    (chosen,) = (row for row in steps if "text" in row)
    assert chosen["b"] == pytest.approx(vote.b, abs=1e-5)


def test_what_has_no_picture_is_one_line() -> None:
    with pytest.raises(sy.SettingError, match="there is no picture of int: plot curves"):
        sy.plot(3)  # type: ignore[arg-type]
    with pytest.raises(sy.SettingError, match="there is no picture of this table: plot one of evaluate"):
        sy.plot(pl.DataFrame({"n": [1]}))
    with pytest.raises(sy.errors.CalibrationError, match="is not fitted"):
        sy.plot(sy.LogitVote())
