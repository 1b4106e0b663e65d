"""Several scores mixed into one: reading, fitting, voting, and the plan that keeps the mix."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.evaluation.random_subsets import answers_correctly
from steelyard.voting.fitting.mixing import Mix
from steelyard.voting.fitting.within_question_logit import WithinQuestionLogit
from steelyard.voting.pools.scores import mean_score
from steelyard.voting.score_weights import clipped_logit
from tests.building import Labelled, labelled, pools

LEARNING = [sy.CalibratedVote, sy.LogitVote, sy.paper.LinearVote, sy.paper.KDEVote]
learning = pytest.mark.parametrize("kind", LEARNING, ids=lambda kind: kind.name)


def table(questions: int = 120, samples: int = 8, seed: int = 0, **more: Any) -> pl.DataFrame:
    """Responses with a good verifier, another one, and a list of steps that ends in the good one."""
    frame = sy.simulate(questions, samples, seed=seed).rename({"score": "good"})
    rng = np.random.default_rng(seed + 1)
    other = np.clip(0.3 + 0.2 * frame["correct"].to_numpy() + rng.normal(0, 0.2, frame.height), 0, 1)
    steps = [[0.5, float(o), float(g)] for o, g in zip(other, frame["good"], strict=True)]
    return frame.with_columns(other=other, steps=pl.Series(steps)).with_columns(**more)


def read(frame: pl.DataFrame | None = None, score: str = "good+other") -> Labelled:
    return labelled(table() if frame is None else frame, score=score)


def coefficients(pool: Labelled) -> dict[str, float]:
    mix = Mix.fit(pool)
    return dict(zip(mix.names, mix.coefficient.tolist(), strict=True))


def test_a_sum_of_columns_is_read_as_its_parts_and_their_mean() -> None:
    frame = table(10)
    pool = read(frame)
    assert pool.parts is not None
    assert pool.origin.parts == ("good", "other")
    assert np.array_equal(pool.parts, frame.select("good", "other").to_numpy())
    z = clipped_logit(pool.parts)
    assert np.allclose(clipped_logit(pool.known_scores), z.mean(axis=1))


def test_a_star_stands_for_every_reducer() -> None:
    pool = read(score="steps:* + good")
    assert pool.origin.score == "good+steps:last+steps:mean+steps:min+steps:prod"
    assert read(score="sigmoid(steps):*").origin.parts[0] == "sigmoid(steps):last"


def test_a_column_with_a_plus_in_its_name_is_that_column() -> None:
    frame = table(10).rename({"good": "a+b"})
    for score in ("a+b", "sigmoid(a+b)"):
        pool = labelled(frame, score=score)
        assert (pool.origin.score, pool.parts) == (score, None)


def test_the_parts_follow_their_responses_everywhere() -> None:
    pool = read()
    rng = np.random.default_rng(0)
    cal, rest = pool.split(0.3, seed=0)
    derived = (cal, rest, pool.first(3), pool.take([5, 2, 2]), pool.shuffled(2, rng), pool.with_shuffled_scores(1))
    for some in (*derived, pool.unlabelled().first(2)):
        assert some.parts is not None
        assert some.parts.shape == (some.n_responses, 2)
        assert np.array_equal(mean_score(some.parts), some.known_scores)


def test_batches_and_scattered_rows_read_the_same_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read()
    monkeypatch.setattr("steelyard.tables.row_order.BATCH", 50)
    for frame in (table(), table().sort("sample", maintain_order=True)):
        pool = read(frame)
        assert np.array_equal(pool.parts, whole.parts)  # type: ignore[arg-type]


def test_the_mix_is_the_optimum_of_its_definition() -> None:
    from scipy.optimize import minimize

    pool = read(table(40, 6))
    assert pool.parts is not None
    mix, keep = Mix.fit(pool), pool.readable
    z = clipped_logit(pool.parts)
    x = (z - z[keep].mean(axis=0)) / z[keep].std(axis=0)

    def loss(c: Any) -> float:
        total = (c**2).sum() / 2
        for q in range(pool.n_questions):
            rows = [i for i in range(pool.starts[q], pool.starts[q + 1]) if keep[i]]
            e = {i: np.exp(c @ x[i]) for i in rows}
            right_ones, wrong = [i for i in rows if pool.correct[i]], sum(e[i] for i in rows if not pool.correct[i])
            if right_ones and wrong:
                total -= np.mean([np.log(e[i] / (e[i] + wrong)) for i in right_ones])
        return float(total)

    best = minimize(loss, np.ones(2), tol=1e-10).x
    assert np.allclose(mix.shares, best / best.sum(), atol=1e-4)
    assert mix.apply(pool).known_scores[keep].mean() == pytest.approx(pool.correct[keep].mean(), abs=1e-4)


def test_a_score_that_only_knows_which_questions_are_hard_is_worth_nothing() -> None:
    frame = table()
    ease = pl.col("correct").mean().over("question").clip(0.05, 0.95)
    found = coefficients(read(frame.with_columns(ease=ease), "ease+good"))
    assert found["ease"] == pytest.approx(0, abs=1e-6)
    assert found["good"] > 0.3


def test_the_mix_orders_responses_also_where_questions_contradict_it() -> None:
    """Within questions `good` is higher for correct responses, but it is higher for the harder questions."""
    hard = 1 - pl.col("correct").mean().over("question")
    frame = table().with_columns(good=(0.05 + 0.6 * hard + 0.3 * pl.col("correct")).cast(pl.Float64))
    mix = Mix.fit(read(frame))
    assert mix.coefficient[0] > 0.01


@given(pools(missing=False), st.integers(0, 2**32 - 1))
def test_the_likelihood_within_questions_has_the_slope_it_says(pool: Labelled, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rivals = WithinQuestionLogit.of(
        pool.spread(np.arange(pool.n_questions)), rng.normal(0, 1, (pool.n_responses, 3)), pool.correct
    )
    if not len(rivals.starts):
        return
    c = rng.normal(0, 1, 3)
    _, slope, bend = rivals.likelihood(c)
    for v, step in enumerate(1e-5 * np.eye(3)):
        up, down = rivals.likelihood(c + step), rivals.likelihood(c - step)
        assert slope[v] == pytest.approx((up[0] - down[0]) / 2e-5, abs=1e-5)
        assert np.allclose(-bend[v], (up[1] - down[1]) / 2e-5, atol=1e-5)


@learning
def test_a_method_votes_by_the_mixed_probability(kind: Any) -> None:
    pool = read()
    vote = kind().fit(pool)
    plain = replace(Mix.fit(pool).apply(pool), origin=sy.Pool.from_arrays(question=[0], answer=[0]).origin)
    alone = kind().fit(replace(Mix.fit(pool).crossfit_scores(pool), origin=plain.origin))
    assert np.array_equal(vote.weights(pool), alone.weights(plain))
    assert np.array_equal(vote.predict(pool).code, alone.predict(plain).code)
    assert vote.fitted_on_.accuracy == float(sy.accuracy(alone.predict(plain), plain))


@pytest.mark.parametrize("kind", [sy.VanillaVote, sy.BestOfN, sy.MajorityVote, sy.paper.OptimalVote])
def test_a_method_that_learns_nothing_reads_the_mean(kind: Any) -> None:
    pool = read()
    mean = replace(pool, parts=None)
    vote = kind().fit(pool)
    assert vote.mix_ is None
    assert np.array_equal(vote.predict(pool).code, kind().predict(mean).code)


@learning
def test_the_order_of_the_parts_does_not_matter(kind: Any) -> None:
    one, two = (kind().fit(read(score=score)).predict(read(score=score)) for score in ("good+other", "other + good"))
    assert one.total.tobytes() == two.total.tobytes()


@learning
def test_the_order_of_the_rows_changes_no_bit_of_the_mix(kind: Any) -> None:
    frame = table()
    straight, mixed = read(frame), read(frame.sample(fraction=1, shuffle=True, seed=1))
    one, two = Mix.fit(straight), Mix.fit(mixed)
    assert one.coefficient.tobytes() == two.coefficient.tobytes()
    by_id = np.argsort(np.asarray(mixed.questions))
    first, second = kind().fit(straight).predict(straight), kind().fit(mixed).predict(mixed)
    assert np.array_equal(first.correct(straight), second.correct(mixed)[by_id])


@given(pools(), st.integers(0, 2**32 - 1))
def test_mixing_a_part_of_the_rows_mixes_them_alike(pool: Labelled, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = rng.random((3, pool.n_responses))
    parts[rng.random(parts.shape) < 0.2] = np.nan
    full = pool.with_parts(dict(zip("abc", parts, strict=True)))
    mix = Mix(("a", "b", "c"), rng.random(3), rng.normal(0, 1, 3), rng.random(3) + 0.1, 0.3)
    question = int(rng.integers(pool.n_questions))
    rows = slice(pool.starts[question], pool.starts[question + 1])
    alone = mix.apply(full.take([question])).known_scores
    assert alone.tobytes() == mix.apply(full).known_scores[rows].tobytes()
    assert np.array_equal(np.isnan(mix.apply(full).known_scores), np.isnan(parts).all(axis=0))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.floats(0, 1))
def test_a_higher_score_never_lowers_the_mix(values: list[float], other: float) -> None:
    mix = Mix(("a", "b"), np.array([0.7, 0.2]), np.zeros(2), np.ones(2), -0.5)
    pool = sy.Pool.from_arrays(question=[0] * len(values), answer=range(len(values)))
    mixed = mix.apply(pool.with_parts({"a": sorted(values), "b": [other] * len(values)}))
    assert (np.diff(mixed.known_scores) >= 0).all()


@learning
def test_beside_constant_scores_one_part_ranks_as_it_does_alone(kind: Any) -> None:
    pool = read(table(flat=pl.lit(0.7)), "flat+good")
    vote = kind().fit(pool)
    mixed, alone = vote.mixed(pool).known_scores, read(score="good").known_scores
    inside = (alone > 2**-9) & (alone < 1 - 2**-9)
    assert np.array_equal(np.argsort(mixed[inside], kind="stable"), np.argsort(alone[inside], kind="stable"))
    assert vote.mix_.notes()[0] == "the same for every response"
    assert vote.mix_.shares.tolist() == [0.0, 1.0]


def test_one_part_alone_is_the_plain_score() -> None:
    assert labelled(table(), score="good").parts is None
    with pytest.raises(sy.errors.ScoreError, match="nothing to mix"):
        read().with_parts({"good": read().known_scores})


def test_equal_columns_share_what_one_of_them_contributes() -> None:
    found = coefficients(read(table(twin=pl.col("good")), "good+twin+other"))
    assert found["good"] == pytest.approx(found["twin"])
    assert found["good"] + found["twin"] == pytest.approx(coefficients(read())["good"], rel=0.1)


def test_a_part_upside_down_is_left_out_and_named() -> None:
    pool = read(table(against=1 - pl.col("good")), "against+other")
    with pytest.warns(sy.SteelyardWarning, match="'against' is higher where responses are wrong"):
        found = coefficients(pool)
    assert found["against"] == 0
    assert found["other"] > 0


def test_noise_is_not_called_upside_down() -> None:
    noise = pl.Series("noise", np.random.default_rng(3).random(960))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = coefficients(read(table(noise=noise), "good+noise"))
    assert found["noise"] < 0.1 * found["good"]


def test_where_no_part_tells_right_from_wrong_the_vote_is_the_majority() -> None:
    pool = read(table(against=1 - pl.col("good"), flat=pl.lit(0.5)), "against+flat")
    with pytest.warns(sy.SteelyardWarning, match="upside down"):
        vote = sy.CalibratedVote().fit(pool)
    assert vote.mix_ is not None
    assert not vote.mix_.shares.any()
    majority = sy.MajorityVote().predict(vote.mixed(pool))
    assert np.array_equal(vote.predict(pool).code, majority.code)


@learning
def test_missing_parts_are_mixed_from_what_is_known(kind: Any) -> None:
    some = pl.when(pl.row_index() % 3 > 0).then("good").alias("good")
    both = [pl.when(pl.row_index() % 6 > 0).then(name).alias(name) for name in ("good", "other")]
    for frame in (table().with_columns(some), table().with_columns(*both)):
        pool = read(frame)
        vote = kind().fit(pool)
        assert np.array_equal(
            np.isnan(vote.mixed(pool).known_scores), frame["good"].is_null() & frame["other"].is_null()
        )
        assert np.isfinite(vote.predict(pool.unlabelled()).total).all()


def test_a_part_that_is_missing_everywhere_is_an_error_that_names_it() -> None:
    pool = read(table(gone=pl.lit(None, pl.Float64)), "gone+good")
    assert sy.VanillaVote().predict(pool).code.shape == (120,)
    with pytest.raises(
        sy.errors.ScoreError, match=r"every score of 'gone' is missing: leave it out of score='gone\+good'"
    ):
        sy.LogitVote().fit(pool)


def test_scores_of_different_length_are_refused() -> None:
    with pytest.raises(sy.errors.ColumnError, match=r"b has shape \(2,\): give one entry for each of 960 responses"):
        read().with_parts({"a": read().known_scores, "b": [0.1, 0.2]})


@learning
def test_a_plan_keeps_the_mix_bit_for_bit(kind: Any, tmp_path: Path) -> None:
    pool = read()
    vote = kind().fit(pool)
    vote.save(tmp_path / "plan.json")
    loaded = sy.load(tmp_path / "plan.json")
    assert vote.predict(pool).total.tobytes() == loaded.predict(pool).total.tobytes()
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "plan.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    stored = json.loads((tmp_path / "plan.json").read_text())
    assert stored["mix"]["parts"] == ["good", "other"]
    assert sum(stored["mix"]["share"]) == pytest.approx(1)
    assert stored["fitted_on"]["verifier"] == "good+other"
    assert loaded.summary()["mix"] == vote.summary()["mix"]


@pytest.mark.parametrize(
    "change",
    [
        {"parts": ["good"]},
        {"parts": "go"},
        {"parts": [1, 2]},
        {"parts": None},
        {"coefficient": [1.0]},
        {"coefficient": [-1.0, 1.0]},
        {"spread": [-1.0, 1.0]},
        {"mean": ["inf", 0.0]},
        {"mean": {"a": 1}},
        {"intercept": None},
        {"intercept": []},
    ],
)
def test_a_damaged_mix_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    sy.LogitVote().fit(read()).save(tmp_path / "plan.json")
    content = json.loads((tmp_path / "plan.json").read_text())
    content["mix"] |= change
    (tmp_path / "plan.json").write_text(json.dumps(content))
    with pytest.raises(sy.PlanError, match="mix of scores is damaged"):
        sy.load(tmp_path / "plan.json")


def test_a_plan_for_other_columns_is_refused_with_both_named() -> None:
    vote = sy.LogitVote().fit(read())
    with pytest.raises(sy.PlanError, match=r"fitted on the score 'good\+other', the table was read with 'good'"):
        vote.predict(labelled(table(), score="good"))
    with pytest.raises(sy.PlanError, match=r"mixes 'good\+other', the pool has one score"):
        vote.predict(sy.Pool.from_arrays(question=[0], answer=[0], scores=[0.5]))
    with pytest.raises(sy.PlanError, match=r"fitted on the score 'good', the table was read with 'good\+other'"):
        sy.LogitVote().fit(labelled(table(), score="good")).predict(read())


def test_plans_for_one_score_hold_no_mix_and_fitting_again_forgets_one(tmp_path: Path) -> None:
    vote = sy.LogitVote().fit(read()).fit(labelled(table(), score="good"))
    vote.save(tmp_path / "plan.json")
    assert "mix" not in json.loads((tmp_path / "plan.json").read_text())


def test_curves_of_a_mix_are_those_of_its_verdicts() -> None:
    cal, test = read().split(0.5, seed=0)
    found = sy.evaluation.curves(["majority", "logit", "calibrated"], cal, test, n=[4, 8], resamples=3)
    for k, kind in enumerate((sy.LogitVote, sy.CalibratedVote), 1):
        assert np.array_equal(found.correct[:, 1, k], answers_correctly(kind().fit(cal, n=8), test))
    assert np.isfinite(found.correct).all()


def test_a_score_that_one_question_alone_has_is_mixed_all_the_same() -> None:
    pool = labelled(sy.simulate(60, 8, seed=1))
    rare = np.where(pool.spread(np.arange(60)) == 3, pool.known_scores, np.nan)
    vote = sy.CalibratedVote().fit(pool.with_parts({"good": pool.known_scores, "rare": rare}))
    assert vote.mix_ is not None
    assert vote.mix_.coefficient[0] > 0
