"""Scores as people write them: ratings, percent, log-probabilities, two of them in a run; too few labels to split."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard

QUESTIONS = [f"q{i}" for i in range(20)]


def table(**columns: Any) -> pl.DataFrame:
    """Three responses per question, with the same scores in each."""
    rows = [
        {"question": q, "answer": a, **{name: values[i] for name, values in columns.items()}}
        for q in QUESTIONS
        for i, a in enumerate("445")
    ]
    return pl.DataFrame(rows)


def scores(source: Any, **options: Any) -> list[float]:
    found = sy.read(source, **options).scores
    assert found is not None
    return np.round(found[:3], 6).tolist()  # type: ignore[no-any-return]


def test_an_integer_rating_is_refused_with_the_expressions_that_read_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    table(rating=[5, 2, 1], latency=[0.5, 0.25, 0.125]).write_csv(path)
    done = steelyard("vote", path, "--method", "vanilla")
    assert done.code == 2
    assert "--score rating/5; if a rating from 1 to 5, with --score '(rating-1)/4'" in done.err
    assert scores(path, score="rating/5") == [1.0, 0.4, 0.2]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_percentages_are_read_as_shares_and_this_is_noted(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    written = table(score=["87 %", "12.5%", None])
    written.write_csv(path) if suffix == "csv" else written.write_ndjson(path)
    with pytest.warns(sy.errors.SteelyardNote, match="'score' read as percent"):
        found = sy.read(path).scores
    assert found is not None
    assert np.allclose(found[:3], [0.87, 0.125, np.nan], equal_nan=True)


def test_a_percentage_column_with_other_text_later_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    many = pl.concat([table(score=["87 %", "12.5%", "5 %"])] * 20 + [table(score=["87 %", "good", "5 %"])])
    many.with_columns(question=pl.int_range(pl.len()) // 3).write_csv(path)
    done = steelyard("vote", path, "--method", "vanilla")
    assert (done.code, done.err.count("error: ")) == (2, 1)
    assert "good" in done.err


def test_a_score_of_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    table(score=["4/5", "1/5", "2/5"]).write_csv(path)
    done = steelyard("vote", path, "--method", "vanilla")
    assert (done.code, "the column 'score' contains text, not numbers" in done.err) == (2, True)


def test_log_probabilities_are_read_with_exp(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    table(logprob=[0.0, -1.0, -2.5]).write_csv(path)
    done = steelyard("vote", path, "--method", "vanilla")
    assert done.code == 2
    assert "if log-probabilities, read them with --score 'exp(logprob)'" in done.err
    assert scores(path, score="exp(logprob)") == [1.0, 0.367879, 0.082085]
    steps = table(logprob=[[-1.0, 0.0], [-1.0], [-2.5]])
    assert scores(steps, score="exp(logprob):min") == [0.367879, 0.367879, 0.082085]
    assert sy.read(steps, score="exp(logprob):min").origin.score == "exp(logprob):min"


def test_exp_of_other_numbers_is_refused() -> None:
    with pytest.raises(sy.errors.ScoreError, match=r"exp\(score\) runs from .* only log-probabilities"):
        sy.read(table(score=[0.5, 1.5, 2.0]), score="exp(score)")


@pytest.mark.parametrize("verifier", ["logprob", "p-true", "math-shepherd"])
def test_the_score_of_a_run_is_the_verifiers(verifier: str) -> None:
    recorded = table(**{"self_logprob": [0.5, 0.25, 0.125], verifier: [[0.75], [0.5], [0.25]]})
    with pytest.warns(sy.errors.SteelyardNote, match=f"the score is '{verifier}', from the verifier; 'self_logprob'"):
        assert scores(recorded) == [0.75, 0.5, 0.25]
    with pytest.raises(sy.errors.ScoreError, match="several columns could be the score"):
        sy.read(recorded.with_columns(prm=0.5))


def test_two_columns_that_are_called_as_scores_are_not_chosen_from() -> None:
    with pytest.raises(sy.errors.ScoreError, match=r"several columns could be the score.* prm, rm"):
        sy.read(table(prm=[0.5, 0.5, 0.5], rm=[0.25, 0.5, 0.75]))


def test_twenty_labelled_questions_are_offered_a_larger_share(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    table(score=[0.75, 0.5, 0.25], correct=[True, True, False]).write_ndjson(path)
    done = steelyard("evaluate", path)
    assert (done.code, "--calibrate 0.5" in done.err) == (2, True)
    assert "6 calibration questions of 20 are too few" in done.err
    assert steelyard("evaluate", path, "--calibrate", "0.5", "--json").code == 0


def test_few_questions_are_offered_no_share_that_would_not_do(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows = table(score=[0.75, 0.5, 0.25], correct=[True, True, False]).head(3 * 12).to_dicts()
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = steelyard("evaluate", path)
    assert (done.code, "--calibrate" in done.err, "label at least 10" in done.err) == (2, False, True)
