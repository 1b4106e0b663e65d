"""Several scores made one without labels, by what they have in common."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.voting.fitting.covariance_mix import covariance_mix
from steelyard.voting.pools.scores import expit
from tests.running import steelyard

LOADINGS = np.array([0.9, 0.6, 0.3, 0.0])  # how much each score has of being correct, in units of its spread


def scored(questions: int = 400, seed: int = 0, loadings: np.ndarray = LOADINGS, missing: float = 0.0) -> pl.DataFrame:
    """Eight responses per question, 40 % of them correct, and independent verifiers."""
    rng = np.random.default_rng(seed)
    rows = questions * 8
    correct = rng.random(rows) < 0.4
    noise = rng.normal(size=(rows, len(loadings))) * np.sqrt(1 - loadings**2)
    scores = expit(1 + 2 * (np.where(correct, 1, -1)[:, None] * loadings + noise))
    scores[rng.random(scores.shape) < missing] = np.nan
    answer = np.where(correct, 0, 1 + rng.integers(0, 3, rows)).astype(str)
    columns = {f"v{i}": scores[:, i] for i in range(len(loadings))}
    ids = np.repeat(np.arange(questions), 8)
    return pl.DataFrame({"question": ids, "answer": answer, "correct": correct, **columns})


def pool(**options: object) -> sy.LabelledPool:
    return sy.read_labelled(scored(**options), score="v0+v1+v2+v3", answers="exact")  # type: ignore[arg-type]


def accuracy(vote: sy.Method, test: sy.LabelledPool) -> float:
    return float(vote.predict(test.unlabelled()).correct(test).mean())


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_loadings_are_found_without_labels(missing: float) -> None:
    mix = covariance_mix(pool(questions=2000, missing=missing).unlabelled())
    found = mix.coefficient / 2  # a / (1 - a^2)
    a = (np.sqrt(1 + 4 * found**2) - 1) / np.maximum(2 * found, 1e-9)
    assert a == pytest.approx(LOADINGS, abs=0.06)


def test_it_beats_the_mean_of_the_logits_and_reads_no_labels() -> None:
    test = pool()
    vote = sy.VanillaVote(mix="covariance").fit(test.unlabelled())
    assert accuracy(vote, test) > accuracy(sy.VanillaVote(), test) + 0.05
    labelled = sy.VanillaVote(mix="covariance").fit(test)
    assert vote.mix_ is not None
    assert labelled.mix_ is not None
    assert vote.mix_.coefficient.tolist() == labelled.mix_.coefficient.tolist()


def test_a_score_that_goes_against_the_others_is_left_out_and_a_flat_one_too() -> None:
    made = scored(loadings=np.array([0.8, 0.7, 0.6, -0.7])).with_columns(v2=0.5)
    made = made.with_columns(v4=pl.Series(scored(loadings=np.array([0.8, 0.7, 0.6]))["v2"]))
    read = sy.read_labelled(made, score="v0+v1+v2+v3+v4", answers="exact")
    coefficient = covariance_mix(read).coefficient
    assert (coefficient > 0).tolist() == [True, True, False, False, True]


def test_scores_with_nothing_in_common_count_the_same() -> None:
    rng = np.random.default_rng(0)
    u = rng.normal(size=(3, 4000))
    u -= u.mean(axis=1, keepdims=True)
    q = np.linalg.svd(u, full_matrices=False)[2] * 50  # three columns without any correlation
    parts = {f"v{i}": expit(q[i]) for i in range(3)}
    made = sy.Pool.from_arrays(question=np.arange(4000) // 4, answer=np.arange(4000) % 4).with_parts(parts)
    coefficient = covariance_mix(made).coefficient
    assert coefficient == pytest.approx(np.full(3, coefficient[0]), abs=0.1)


def test_two_scores_are_refused_in_one_line(tmp_path: Path) -> None:
    scored(60).write_parquet(tmp_path / "t.parquet")
    words = ("--method", "vanilla", "--set", "mix=covariance", "--score")
    done = steelyard("fit", tmp_path / "t.parquet", *words, "v0+v1")
    assert done.code == 2
    assert "needs 3 scores or more" in done.err
    assert steelyard("fit", tmp_path / "t.parquet", *words, "v0").code == 2
    wrong = steelyard("fit", tmp_path / "t.parquet", "--method", "vanilla", "--set", "mix=covarianc", "--score", "v0")
    assert (wrong.code, "did you mean 'covariance'" in wrong.err) == (2, True), wrong.err
    with pytest.raises(sy.errors.CalibrationError, match="fit it first"):
        sy.VanillaVote(mix="covariance").predict(pool(questions=20))


def test_a_plan_made_of_unlabelled_responses_votes_as_it_was_fitted(tmp_path: Path) -> None:
    made = scored(100)
    made.drop("correct").write_parquet(tmp_path / "t.parquet")
    words = ("--method", "vanilla", "--set", "mix=covariance", "--score", "v0+v1+v2+v3", "--answers", "exact")
    done = steelyard("fit", tmp_path / "t.parquet", *words, "-o", tmp_path / "p.json")
    assert done.code == 0, done.err
    stored = sy.vote(tmp_path / "t.parquet", tmp_path / "p.json", answers="exact")
    read = sy.read(made.drop("correct"), score="v0+v1+v2+v3", answers="exact")
    fitted = sy.VanillaVote(mix="covariance").fit(read).predict(read).to_polars()
    assert stored["answer"].to_list() == fitted["answer"].to_list()
