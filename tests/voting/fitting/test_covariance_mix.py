"""Several scores made one without labels, by what they have in common."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.errors import SteelyardNote
from steelyard.voting.fitting.covariance_mix import covariance_mix, loadings
from steelyard.voting.fitting.mixing import Columns, several_scores
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
def test_the_loadings_are_estimated_without_labels(missing: float) -> None:
    table = pool(questions=2000, missing=missing).unlabelled()
    columns = Columns.of(several_scores(table), ranked=False)
    a, _ = loadings(columns.x, table.spread(np.arange(table.n_questions)))
    assert a == pytest.approx(LOADINGS, abs=0.06 if not missing else 0.08)


def test_no_total_is_so_steep_that_scores_tie() -> None:
    """Twenty verifiers that agree would have log-odds beyond what a score can express."""
    rng = np.random.default_rng(0)
    quality = rng.normal(size=4000)
    parts = {f"v{i:02}": expit(2 * (quality + 0.3 * rng.normal(size=4000))) for i in range(20)}
    made = sy.Pool.from_arrays(question=np.arange(4000) // 8, answer=np.arange(4000) % 8).with_parts(parts)
    mixed = covariance_mix(made).apply(made).known_scores
    assert len(np.unique(mixed)) > 3990
    assert 0.85 < np.mean(mixed < 0.5) < 0.95


def test_reducers_of_one_verifier_count_as_one() -> None:
    rng = np.random.default_rng(0)
    values = scored(300).select("v0", "v1", "v2").to_numpy()
    steps = {f"prm:{name}": np.clip(values[:, 0] + rng.normal(0, 1e-6, len(values)), 0, 1) for name in ("last", "min")}
    ids = np.repeat(np.arange(300), 8)
    plain = sy.Pool.from_arrays(question=ids, answer=np.arange(2400) % 8)
    once = covariance_mix(plain.with_parts({"prm:last": values[:, 0], "v1": values[:, 1], "v2": values[:, 2]}))
    twice = covariance_mix(plain.with_parts({**steps, "v1": values[:, 1], "v2": values[:, 2]}))
    assert twice.coefficient[:2].sum() == pytest.approx(once.coefficient[0], rel=0.01)
    assert twice.coefficient[2:] == pytest.approx(once.coefficient[1:], rel=0.01)


def test_fit_says_in_one_line_how_much_the_verifiers_agree() -> None:
    with pytest.warns(
        SteelyardNote, match=r"two halves of the scores choose the same answer for \d+% of the questions"
    ):
        sy.VanillaVote(mix="covariance").fit(pool().unlabelled())


@pytest.mark.parametrize("mix", ["mean", "covariance"])
def test_any_increasing_transformation_changes_nothing_in_a_plan_of_ranks(mix: str, tmp_path: Path) -> None:
    base = scored(100).with_columns(v0=20 * pl.col("v0") - 5)
    other = base.with_columns(v0=pl.col("v0").exp(), v1=pl.col("v1") ** 3 - 4, v3=pl.col("v3").log())
    totals = []
    for table in (base, other):
        read = sy.read(table.drop("correct"), score="v0+v1+v2+v3", answers="exact")
        sy.VanillaVote(mix=mix).fit(read).save(tmp_path / "plan.json", overwrite=True)
        totals.append(sy.load(tmp_path / "plan.json").predict(read).total.tobytes())
    assert totals[0] == totals[1]


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
