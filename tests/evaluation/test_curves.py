"""Scaling curves, and the share of the samples with which one reaches another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.evaluation.matching_compute import first_reached
from tests.building import Labelled, labelled


def drawn(
    curve: list[float], base: float, *, questions: int = 400, seed: int = 0, ids: Any = None
) -> sy.evaluation.Curves:
    """Curves whose accuracy is `curve` over n = 1, 2, 4, .., and a baseline that stands at `base`."""
    rng = np.random.default_rng(seed)
    correct = np.zeros((questions, len(curve), 2))
    for t, accuracy in enumerate(curve):
        correct[: round(accuracy * questions), t, 0] = 1
    correct[: round(base * questions), :, 1] = 1
    correct = correct[rng.permutation(questions)]
    sizes = tuple(2**t for t in range(len(curve)))
    names = np.arange(questions) if ids is None else ids
    return sy.evaluation.Curves(("logit", "vanilla"), sizes, correct, np.zeros((len(curve), 2)), names, 100 * sizes[-1])


def test_curves_hold_every_question_and_their_means_are_the_table(cal: Labelled, test: Labelled) -> None:
    found = sy.evaluation.curves(["majority", "logit"], cal, test, n=[8, 2, 16], resamples=50)
    table = sy.evaluate(["majority", "logit"], cal, test, n=[8, 2, 16], resamples=50)
    assert (found.sizes, found.methods) == ((2, 8, 16), ("majority", "logit"))
    assert found.correct.shape == (150, 3, 2)
    assert table["n"].to_list() == [8, 8, 2, 2, 16, 16]
    by_n = table.sort("n", maintain_order=True)
    assert found.accuracy.ravel() == pytest.approx(by_n["accuracy"].to_list())
    assert found.se.ravel() == pytest.approx(by_n["se"].to_list())
    assert found.resample_sd.ravel() == pytest.approx(by_n["resample_sd"].to_list())
    assert found.of("logit").shape == (150, 3)
    assert np.isnan(sy.evaluation.curves(["majority"], cal, test.take([0]), n=[2], resamples=5).se).all()
    assert "majority, logit; n = 2, 8, 16; 150 questions" in str(found)


def test_the_sd_over_resamples_is_null_where_nothing_was_resampled(cal: Labelled, test: Labelled) -> None:
    table = sy.evaluate(["majority"], cal, test, n=[4, 16], resamples=0)
    assert table["resample_sd"].to_list() == [None, 0.0]


def test_calibrating_at_full_n_only_is_one_fit_for_all_sizes(cal: Labelled, test: Labelled) -> None:
    full = sy.evaluation.curves(["logit"], cal, test, n=[4, 16], resamples=30, recalibrate="full")
    each = sy.evaluation.curves(["logit"], cal, test, n=[4, 16], resamples=30)
    fitted = sy.LogitVote().fit(cal)

    class Ready(sy.LogitVote):
        def fit(self, labelled: sy.Pool, *, n: int | None = None) -> Any:
            return fitted

    assert np.array_equal(full.correct, sy.evaluation.curves([Ready()], cal, test, n=[4, 16], resamples=30).correct)
    assert not np.array_equal(full.correct[:, 0], each.correct[:, 0])
    assert np.array_equal(full.correct[:, 1], each.correct[:, 1])
    with pytest.raises(sy.SettingError, match="did you mean 'each'"):
        sy.evaluate(["logit"], cal, test, recalibrate="eahc")


def test_a_method_without_a_curve_is_refused() -> None:
    with pytest.raises(sy.SettingError, match="did you mean 'logit'"):
        sy.evaluation.compute_to_match(drawn([0.2, 0.4], 0.3), "logti")


def test_a_constructed_curve_reaches_its_target_where_it_was_built_to() -> None:
    found = sy.evaluation.compute_to_match(drawn([0.2, 0.3, 0.4, 0.5, 0.6], 0.45), "logit", "vanilla")
    assert found.samples == pytest.approx(2**2.5)
    assert found.fraction == pytest.approx(2**2.5 / 16)
    assert (found.n, found.target, found.questions, found.pairs) == (16, 0.45, 400, 1)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 2**2.5 < found.high
    assert found.fraction_low == found.low / 16
    assert found.reached == 1.0
    assert found.break_even(1600) == pytest.approx(1600 / (16 - 2**2.5))
    assert "reaches vanilla's 45.0 % at n = 16 with 35.4 % of the samples (95% interval" in str(found)


def test_a_target_that_is_met_at_a_size_needs_that_size_exactly() -> None:
    sizes = np.array([1, 2, 4, 8])
    curve = np.array([0.1, 0.2, 0.3, 0.4])
    for n, target in zip(sizes, curve, strict=True):
        assert first_reached(sizes, curve[None], np.array([target]))[0] == n
    assert first_reached(sizes, curve[None], np.array([0.05]))[0] == 1


def test_a_curve_that_falls_again_has_reached_its_target_once() -> None:
    sizes = np.array([1, 2, 4, 8])
    assert first_reached(sizes, np.array([[0.1, 0.5, 0.2, 0.6]]), np.array([0.5]))[0] == 2


def test_a_size_that_was_not_measured_reaches_nothing() -> None:
    sizes = np.array([1, 2, 4, 8])
    gaps = np.array([[np.nan, np.nan, 0.5, 0.6], [np.nan] * 4])
    assert first_reached(sizes, gaps, np.array([0.5, 0.5])).tolist() == [4, np.inf]


def test_never_reached_is_a_result() -> None:
    found = sy.evaluation.compute_to_match(drawn([0.2, 0.3, 0.4], 0.8))
    assert (found.samples, found.fraction, found.low, found.high) == (None, None, None, None)
    assert found.reached == 0.0
    assert found.break_even(1000) is None
    assert str(found) == "logit never reaches vanilla's 80.0 % at n = 4 (95% interval never to never)"


def test_an_interval_is_open_above_where_some_draws_never_get_there() -> None:
    rng = np.random.default_rng(0)
    curves = drawn([0.2, 0.3, 0.4, 0.5], 0.49)
    curves = replace(curves, correct=np.stack([curves.correct[rng.permutation(400), :, k] for k in (0, 1)], axis=2))
    found = sy.evaluation.compute_to_match(curves)
    assert found.fraction is not None
    assert found.low is not None
    assert found.high is None
    assert 0.3 < found.reached < 0.975


def test_a_method_equals_itself_at_full_n() -> None:
    found = sy.evaluation.compute_to_match(drawn([0.2, 0.3, 0.4], 0.8), "logit", "logit")
    assert (found.samples, found.fraction) == (4.0, 1.0)
    assert found.high == 4.0
    assert found.break_even(1000) is None


def test_several_pairs_are_averaged_before_the_crossing_is_sought() -> None:
    low, high = drawn([0.1, 0.2, 0.3, 0.4], 0.4, seed=1), drawn([0.3, 0.4, 0.5, 0.6], 0.4, seed=2)
    found = sy.evaluation.compute_to_match([low, high])
    assert found.samples == pytest.approx(4.0)  # the mean curve is 0.2, 0.3, 0.4, 0.5
    assert (found.questions, found.pairs) == (400, 2)


def test_pairs_on_the_same_questions_share_their_draws_and_others_average_out() -> None:
    one = drawn([0.2, 0.3, 0.4, 0.5, 0.6], 0.45)
    other = replace(one, questions=np.arange(1000, 1400))
    alone, same, apart = (sy.evaluation.compute_to_match(curves) for curves in (one, [one, one], [one, other]))
    assert (same.low, same.high, same.questions) == (alone.low, alone.high, 400)
    assert apart.samples == pytest.approx(alone.samples)
    assert apart.questions == 800
    assert apart.high is not None
    assert alone.high is not None
    assert apart.high < alone.high


def test_curves_that_cannot_be_averaged_are_refused() -> None:
    with pytest.raises(sy.SettingError, match=r"different n, 1, 2 and 1, 2, 4, 8 \.\. 16"):
        sy.evaluation.compute_to_match([drawn([0.2, 0.3], 0.3), drawn([0.2] * 5, 0.3)])
    with pytest.raises(sy.SettingError, match="no curves"):
        sy.evaluation.compute_to_match([])


def test_the_papers_calibration_set_pays_back_after_127_queries() -> None:
    queries = sy.evaluation.break_even(100 * 64, 0.213 * 64, 64)
    assert queries is not None
    assert round(queries) == 127


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 64, 100, 128])
def test_fine_sizes_rise_to_n_in_steps_that_interpolation_can_bridge(n: int) -> None:
    sizes = np.array(sy.evaluation.fine_sizes(n))
    assert (sizes[0], sizes[-1]) == (1, n)
    assert (np.diff(sizes) > 0).all()
    beyond = sizes[sizes >= 16]
    assert (beyond[1:] / beyond[:-1] < 1.125).all()


def test_interpolating_between_fine_sizes_is_measuring_every_size() -> None:
    pool = labelled(sy.simulate(400, 48, seed=3))
    cal, test = pool.split(0.3, seed=0)
    options: Any = {"resamples": 200, "recalibrate": "full"}
    fine = sy.evaluation.curves(["logit", "vanilla"], cal, test, n=sy.evaluation.fine_sizes(48), **options)
    every = sy.evaluation.curves(["logit", "vanilla"], cal, test, n=range(1, 49), **options)
    one, two = sy.evaluation.compute_to_match(fine), sy.evaluation.compute_to_match(every)
    assert one.samples is not None
    assert two.samples is not None
    assert one.samples < 48
    assert abs(one.samples - two.samples) < 1.0
    assert one.break_even(fine.calibration_samples) == pytest.approx(120 * 48 / (48 - one.samples))
