"""What the charts show: negative weights are seen, lines have names, and a colour has one meaning."""

from __future__ import annotations

import json
from itertools import pairwise
from math import log1p
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.evaluation.reports import charts, score_charts
from steelyard.evaluation.reports.chart_data import Weights, seen
from steelyard.evaluation.reports.sentences import calibration_title
from steelyard.foundation.charts.chart_style import leaving_lines, line_names
from steelyard.voting.confidence.calibration_error import calibration_curve
from steelyard.voting.method_colours import colour


def weights(low: float, high: float) -> Weights:
    line = [{"score": i / 100, "weight": low + (high - low) * i / 100} for i in range(101)]
    histogram = [{"kind": kind, "begin": 0.0, "end": 1.0, "share": 1.0} for kind in ("correct", "wrong")]
    return Weights(line, [0.1], histogram, (0.0, 1.0), {"correct": 0.0, "wrong": 0.5})


def drawn_height(spec: dict[str, Any], low: float, high: float) -> float:
    """The part of the axis between zero and the lowest weight."""
    scale = next(
        layer["encoding"]["y"]["scale"] for layer in spec["layer"] if layer["encoding"].get("y", {}).get("scale")
    )
    assert scale["type"] == "symlog"
    bottom, top = (log1p(abs(end) / scale["constant"]) for end in scale["domain"])
    return log1p(abs(low) / scale["constant"]) / (bottom + top)


def test_a_small_negative_part_of_the_weight_is_seen() -> None:
    assert drawn_height(score_charts.weights(weights(-0.14, 11.8), "calibrated"), -0.14, 11.8) > 0.1


def test_a_large_negative_part_is_drawn_on_a_straight_axis_and_named() -> None:
    text = json.dumps(score_charts.weights(weights(-4.0, 6.0), "logit"), ensure_ascii=False)
    assert "symlog" not in text
    assert "against its answer ↓" in text


def test_the_weight_and_the_scores_have_no_colour_but_the_methods() -> None:
    methods = {colour(name) for name in sy.method_names()}
    for spec in (score_charts.weights(weights(-1.0, 2.0), "calibrated"), score_charts.scores(weights(-1.0, 2.0))):
        text = json.dumps(spec)
        assert {each for each in methods if each in text} <= {colour("calibrated")}


def test_lines_are_named_where_they_end_and_have_no_legend() -> None:
    rows = [
        {"method": name, "n": n, "accuracy": 0.4 + 0.01 * k * n, "low": 0.3, "high": 0.6}
        for k, name in enumerate(("majority", "best-of-n", "vanilla", "calibrated", "pass-at-n"))
        for n in (1, 8)
    ]
    spec = charts.curves(rows, "calibrated")
    assert "legend" not in {
        key for layer in spec["layer"] for key, value in layer["encoding"].get("color", {}).items() if value
    }
    named = [row["label"] for data in spec["datasets"].values() for row in data if "label" in row]
    assert set(named) == {"majority", "best-of-n", "vanilla", "calibrated"}
    leaving = [data for data in spec["datasets"].values() if {row.get("method") for row in data} == {"pass-at-n"}]
    assert [row["n"] for data in leaving for row in data] == [1]


def test_names_keep_their_distance_and_stay_in_the_frame() -> None:
    rows = [{"method": str(k), "n": 1, "accuracy": 0.59 + 0.0001 * k} for k in range(6)]
    places = [row["at"] for row in line_names(rows, [str(k) for k in range(6)], (0.4, 0.6), 0.1)]
    assert all(b - a >= 0.02 - 1e-9 for a, b in pairwise(places))
    assert max(places) <= 0.6 + 1e-9


def test_a_line_that_leaves_the_frame_is_named_where_it_does() -> None:
    rows = [{"method": "pass-at-n", "n": n, "accuracy": a} for n, a in ((1, 0.4), (2, 0.5), (4, 0.8))]
    assert [row["n"] for row in leaving_lines(rows, 0.6)] == [2]
    assert leaving_lines(rows, 0.9) == []


@pytest.mark.parametrize("name", ["calibrated", "logit"])
def test_the_scores_of_correct_and_wrong_responses_point_in_two_directions(name: str) -> None:
    rows = [row for data in score_charts.scores(weights(-1.0, 2.0))["datasets"].values() for row in data]
    assert {row["kind"]: row["height"] > 0 for row in rows if "share" in row} == {"correct": True, "wrong": False}, name


def test_equally_accurate_methods_do_not_hide_each_other_in_a_domain() -> None:
    row = {"domain": "ages", "questions": 9, "accuracy": 0.5, "low": 0.3, "high": 0.7}
    spec = charts.domains([row | {"method": name} for name in ("majority", "vanilla", "logit")], "logit")
    lanes = [layer["encoding"]["yOffset"] for layer in spec["layer"]]
    assert all(lane["field"] == "method" for lane in lanes)


@pytest.mark.parametrize(("low", "high", "frame"), [(0.0, 0.629, (0.0, 0.7)), (0.31, 0.48, (0.3, 0.5)), (0, 1, (0, 1))])
def test_only_scores_that_were_seen_are_drawn(low: float, high: float, frame: tuple[float, float]) -> None:
    scores = [low + (high - low) * i / 999 for i in range(1000)]
    pool = sy.Pool.from_arrays(question=[0] * 1000, answer=[0] * 1000, scores=scores, correct=[True] * 1000)
    assert isinstance(pool, sy.LabelledPool)
    assert seen(pool) == pytest.approx(frame)


@pytest.mark.parametrize(
    ("accuracy", "finding"),
    [
        ([0.5, 0.9], "0.0 points apart on average; no bin is off by more than chance explains"),
        ([0.5, 0.7], "10.0 points apart on average; the confidence is too high in 1 and too low in 0 of 2 bins"),
        ([0.8, 0.7], "25.0 points apart on average; the confidence is too high in 1 and too low in 1 of 2 bins"),
    ],
)
def test_the_finding_on_the_confidence_follows_from_the_bins(accuracy: list[float], finding: str) -> None:
    confidence = np.repeat([0.5, 0.9], 100)
    correct = np.concatenate([np.arange(100) < round(100 * share) for share in accuracy])
    assert calibration_title(calibration_curve(confidence, correct)) == f"Confidence and accuracy are {finding}"
