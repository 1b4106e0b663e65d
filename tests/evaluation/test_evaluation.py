"""Accuracy and its uncertainty; evaluation over methods and n."""

from __future__ import annotations

import copy
import math
import pickle
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import steelyard as sy
from steelyard.evaluation.accuracy import CACHED, estimate, estimates
from steelyard.voting.fitting.score_quality import auroc, auroc_within
from tests.building import Labelled, labelled, make, pools, without_sources


def test_accuracy_is_a_number_with_standard_error_and_interval(test: Labelled) -> None:
    verdicts = sy.MajorityVote().predict(test)
    is_correct = verdicts.correct(test)
    accuracy = sy.accuracy(verdicts, test)
    assert accuracy == is_correct.mean()
    assert accuracy.se == pytest.approx(is_correct.std(ddof=1) / math.sqrt(len(is_correct)))
    assert accuracy.low < accuracy < accuracy.high
    assert accuracy.high - accuracy.low == pytest.approx(2 * 1.96 * accuracy.se, rel=0.1)
    assert "150 questions" in str(accuracy)


def test_a_bootstrap_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = [e.low <= 0.6 <= e.high for e in (estimate(rng.random(200) < 0.6) for _ in range(300))]
    assert 0.9 < np.mean(covered) < 0.985


def test_the_bootstrap_draws_the_same_questions_in_batches_and_for_every_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(0).random((CACHED + 1, 2))
    whole = estimates(values)[1]
    monkeypatch.setattr("steelyard.evaluation.accuracy.A_BATCH", 700 * len(values))
    assert estimates(values)[1].low == pytest.approx(whole.low)
    assert estimate(values[:, 1]).low == pytest.approx(whole.low)


def test_one_question_has_no_standard_error() -> None:
    assert math.isnan(estimate(np.array([1.0])).se)


def test_paired_differences_are_paired(cal: Labelled, test: Labelled) -> None:
    a, b = sy.LogitVote().fit(cal).predict(test), sy.VanillaVote().fit(cal).predict(test)
    difference = sy.evaluation.paired_difference(a, b, test)
    assert difference == pytest.approx(sy.accuracy(a, test) - sy.accuracy(b, test))
    unpaired = math.hypot(sy.accuracy(a, test).se, sy.accuracy(b, test).se)
    assert 0 < difference.se < unpaired
    assert float(sy.evaluation.paired_difference(a, a, test)) == 0.0


def test_evaluate_is_tidy_and_the_first_n_are_the_first_n(cal: Labelled, test: Labelled) -> None:
    table = sy.evaluate(["majority", "logit"], cal, test, n=[4, 16], resamples=0)
    assert table.select("method", "n").rows() == [("majority", 4), ("logit", 4), ("majority", 16), ("logit", 16)]
    logit = sy.LogitVote().fit(cal, n=4)
    expected = sy.accuracy(logit.predict(test.first(4)), test.first(4))
    row = table.filter(method="logit", n=4).row(0, named=True)
    assert [row[key] for key in ("se", "low", "high")] == pytest.approx([expected.se, expected.low, expected.high])
    assert row["accuracy"] == expected
    majority = sy.MajorityVote().predict(test.first(4))
    assert row["gain"] == pytest.approx(
        sy.evaluation.paired_difference(logit.predict(test.first(4)), majority, test.first(4))
    )
    assert set(table.filter(method="majority")["gain"]) == {0.0}


def test_random_subsets_average_to_the_mean_over_all_subsets() -> None:
    pool = make([(0, 0, 0.9, True), (0, 1, 0.6, False), (0, 1, 0.5, False), (0, 2, 0.1, False)])
    every = [pool.take([0])._rows(np.array(rows), np.array([2])) for rows in combinations(range(4), 2)]
    mean = np.mean([sy.VanillaVote().predict(p).correct(p)[0] for p in every])
    other = labelled(sy.simulate(60, 4, seed=0))
    table = sy.evaluate(["vanilla"], other, pool, n=[2], resamples=4000)
    assert table["accuracy"][0] == pytest.approx(mean, abs=0.03)


def test_random_subsets_are_seeded_and_methods_are_left_alone(cal: Labelled, test: Labelled) -> None:
    method = sy.LogitVote()
    one = sy.evaluate([method], cal, test, n=[2, 8], resamples=5, seed=1)
    assert method.offset_ is None
    assert one.equals(sy.evaluate([method], cal, test, n=[2, 8], resamples=5, seed=1))
    assert not one.equals(sy.evaluate([method], cal, test, n=[2, 8], resamples=5, seed=2))


def test_every_method_and_the_powers_of_two_by_default(cal: Labelled, test: Labelled) -> None:
    told: list[float] = []
    table = sy.evaluate(None, cal, test, resamples=2, progress=told.append)
    assert set(table["method"]) == set(without_sources())
    assert sorted(set(table["n"])) == [1, 2, 4, 8, 16]
    assert told == sorted(told)
    assert told[-1] == 1.0
    one = table.filter(n=1)["accuracy"]
    assert one.max() == one.min()  # with one sample there is nothing to choose
    last = table.filter(n=16)
    assert last.filter(method="pass-at-n")["accuracy"][0] == last["accuracy"].max()


def test_two_settings_of_one_method_are_told_apart(cal: Labelled, test: Labelled) -> None:
    table = sy.evaluate([sy.LogitVote(), sy.LogitVote(rule="grid")], cal, test, n=[16])
    assert table["method"].to_list() == ["logit", "logit-2"]


def test_a_baseline_outside_the_list_is_measured_but_not_listed(cal: Labelled, test: Labelled) -> None:
    table = sy.evaluate(["logit"], cal, test, n=[16], baseline="vanilla")
    a, b = sy.LogitVote().fit(cal).predict(test), sy.VanillaVote().fit(cal).predict(test)
    assert table["method"].to_list() == ["logit"]
    assert table["gain"][0] == pytest.approx(float(sy.evaluation.paired_difference(a, b, test)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": [17]}, "between 1 and 16"),
        ({"n": [0]}, "between 1 and 16"),
        ({"resamples": -1}, "resamples"),
        ({"methods": ["logti"]}, "did you mean 'logit'"),
        ({"baseline": "mjority"}, "did you mean 'majority'"),
    ],
)
def test_impossible_wishes_are_refused(cal: Labelled, test: Labelled, options: dict[str, object], message: str) -> None:
    with pytest.raises(sy.SettingError, match=message):
        sy.evaluate(**({"methods": ["logit"], "cal": cal, "test": test} | options))  # type: ignore[call-overload]


def test_evaluate_needs_labels(cal: Labelled, test: Labelled) -> None:
    with pytest.raises(sy.errors.LabelError):
        sy.evaluate(["logit"], cal, test.unlabelled())  # type: ignore[call-overload]


def test_calibrated_votes_beat_majority_where_the_verifier_is_good() -> None:
    pool = labelled(sy.simulate(800, 32, seed=5))
    cal, test = pool.split(0.3, seed=0)
    table = sy.evaluate(["linear", "logit", "vanilla"], cal, test, n=[32])
    assert (table["gain_low"] > 0).all()
    assert table.filter(method="logit")["accuracy"][0] > table.filter(method="vanilla")["accuracy"][0]


def test_calibrated_votes_cost_little_where_the_scores_are_noise() -> None:
    pool = labelled(sy.simulate(1500, 16, seed=5)).with_shuffled_scores(seed=1)
    cal, test = pool.split(0.3, seed=0)
    table = sy.evaluate(["linear", "logit"], cal, test, n=[16])
    assert (table["gain"] > -0.03).all()


def test_a_perfect_score_is_not_certain() -> None:
    pool = make([(q, 0, 0.5, True) for q in range(28)])
    perfect = sy.accuracy(sy.MajorityVote().predict(pool), pool)
    assert perfect == 1.0
    assert perfect.low == pytest.approx(0.025 ** (1 / 28))
    wrong = make([(q, 0, 0.5, False) for q in range(28)])
    assert sy.accuracy(sy.MajorityVote().predict(wrong), wrong).high == pytest.approx(1 - 0.025 ** (1 / 28))


def test_an_estimate_survives_pickle_and_copy() -> None:
    estimate_ = estimate(np.array([0.0, 1.0, 1.0]))
    again = pickle.loads(pickle.dumps(copy.deepcopy(estimate_)))
    assert (again, again.se, again.questions) == (estimate_, estimate_.se, 3)


def test_where_the_first_samples_teach_nothing_it_is_the_majority_vote_and_the_rest_is_there() -> None:
    pool = labelled(
        sy.simulate(150, 16, seed=1, world=sy.testing.World(easy=(60.0, 1.0), easy_share=1.0, unreadable=0.0))
    )
    cal, test = pool.split(0.3, seed=2)
    with pytest.warns(sy.SteelyardWarning, match="every scored response to the 4. calibration questions is correct"):
        table = sy.evaluate(["logit"], cal.take(np.flatnonzero(cal.correct[cal.starts[:-1]])), test, n=[1, 16])
    assert table.filter(n=1)["accuracy"].to_list() == [pytest.approx(test.correct.mean())]
    assert table.filter(n=16)["accuracy"][0] > 0.9


def test_calibration_questions_in_the_test_set_are_told(cal: Labelled) -> None:
    with pytest.warns(sy.SteelyardWarning, match="120 test questions are calibration questions too"):
        sy.evaluate(["vanilla"], cal, cal, n=[16])


def test_unequal_numbers_of_samples_are_told(cal: Labelled) -> None:
    table = sy.simulate(60, 8, seed=9).filter((pl.col("sample") < 4) | (pl.col("question") > "q30"))
    with pytest.warns(sy.SteelyardWarning, match="fewer than 8 samples"):
        sy.evaluate(["vanilla"], cal, labelled(table.with_columns(question="t" + pl.col("question"))), n=[8])


@given(pools())
def test_auroc_is_the_share_of_pairs_in_order(pool: sy.LabelledPool) -> None:
    def share(scores: np.ndarray, correct: np.ndarray) -> float:
        is_correct, wrong = scores[correct][:, None], scores[~correct][None]
        return (
            float(((is_correct > wrong) + (is_correct == wrong) / 2).mean())
            if is_correct.size and wrong.size
            else float("nan")
        )

    known = ~np.isnan(pool.known_scores)
    scores, correct = pool.known_scores[known], pool.correct[known]
    question = pool.spread(np.arange(pool.n_questions))[known]
    np.testing.assert_allclose(auroc(pool), share(scores, correct))
    each = [share(scores[question == q], correct[question == q]) for q in range(pool.n_questions)]
    mixed = [value for value in each if value == value]
    np.testing.assert_allclose(auroc_within(pool), np.mean(mixed) if mixed else np.nan)
