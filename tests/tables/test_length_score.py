"""The score `length`: from token counts, texts or a column that the user names, on every verb that reads a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.tables.score_columns import same_scores
from steelyard.voting.pools.relative_scores import relative_scores
from tests.running import make_plan, steelyard

QUESTIONS = 80


def table(seed: int = 0, better: str = "short", **more: Any) -> pl.DataFrame:
    """Six responses per question; the correct ones are shorter or longer by half, in tokens and in characters."""
    rng = np.random.default_rng(seed)
    rows = []
    for q in range(QUESTIONS):
        for sample in range(6):
            correct = rng.random() < 0.45
            half = correct == (better == "short")
            tokens = int(rng.lognormal(5 - 0.8 * half, 0.3)) + 5
            answer = 7 if correct else int(rng.integers(8, 10))
            text = "x " * tokens + f"The answer is {answer}."
            row = {"question": f"q{q}", "sample": sample, "response": text, "tokens": tokens, "gold": "7"}
            rows.append(row | more)
    return pl.DataFrame(rows)


def expected(lengths: pl.Series) -> np.ndarray[Any, Any]:
    return relative_scores(np.log1p(lengths.to_numpy().astype(float)), np.arange(len(lengths)) // 6)


def test_tokens_are_read_where_they_are_stored_else_characters() -> None:
    rows = table()
    by_tokens, by_text = sy.read(rows, score="length"), sy.read(rows.drop("tokens"), score="length")
    assert (by_tokens.origin.score, by_text.origin.score) == ("length(tokens)", "length(response)")
    assert np.allclose(by_tokens.known_scores, expected(rows["tokens"]))
    assert np.allclose(by_text.known_scores, expected(rows["response"].str.len_chars()))
    assert by_tokens.known_scores.min() > 0
    assert by_tokens.known_scores.max() < 1


def test_token_counts_that_are_all_missing_are_not_used() -> None:
    rows = table().with_columns(pl.lit(None, pl.Int64).alias("tokens"))
    assert sy.read(rows, score="length").origin.score == "length(response)"


def test_a_column_can_be_named_and_turned_around() -> None:
    rows = table().rename({"tokens": "words"})
    assert np.allclose(sy.read(rows, score="length(words)").known_scores, expected(rows["words"]))
    assert np.allclose(sy.read(rows, score="1-length(words)").known_scores, 1 - expected(rows["words"]))
    assert sy.read(rows, score="1-length").origin.score == "1-length(response)"


def test_a_column_called_length_is_read_as_it_is_and_the_message_names_the_other_meaning() -> None:
    counts = table().rename({"tokens": "length"})
    with pytest.raises(sy.errors.ScoreError, match=r"if lengths, compute .* with score='length\(length\)'"):
        sy.read(counts, score="length")
    assert np.allclose(sy.read(counts, score="length(length)").known_scores, expected(counts["length"]))
    shares = counts.with_columns(pl.col("length") / pl.col("length").max())
    with pytest.warns(sy.errors.SteelyardNote, match=r"the column 'length' as it is; score='length\(length\)'"):
        assert np.allclose(sy.read(shares, score="length").known_scores, shares["length"])


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("length", "there is nothing to compute the score 'length' from: add a column 'tokens' or 'response'"),
        ("length(words)", "no column 'words' to compute 'length' from"),
        ("length(flag)", "contains Boolean, but 'length' is computed from token counts, other lengths or texts"),
        ("length(size):min", "'length' is one number per response: leave out ':min'"),
        ("length(size)", "of a response to question 'a' cannot be computed: its length is negative"),
    ],
)
def test_what_is_no_length_is_refused_in_one_line(score: str, message: str) -> None:
    rows = pl.DataFrame({"question": ["a"] * 3, "answer": ["1", "1", "2"], "flag": [True] * 3, "size": [4, 5, -3]})
    with pytest.raises(sy.errors.SteelyardError) as error:
        sy.read(rows, score=score)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_responses_of_several_sources_are_compared_with_their_own() -> None:
    rows = table().with_columns((pl.col("sample") % 2).cast(pl.String).alias("llm"))
    longer = pl.when(pl.col("llm") == "1").then(20).otherwise(1)
    rows = rows.with_columns(pl.col("tokens") * longer)
    pool = sy.read(rows, score="length", source="llm")
    group = np.arange(len(rows)) // 6 * 2 + (rows["sample"] % 2).to_numpy()
    assert np.allclose(pool.known_scores, relative_scores(np.log1p(rows["tokens"].to_numpy()), group))


def test_a_subset_is_evaluated_without_the_samples_outside_it() -> None:
    pool = sy.read_labelled(table(), score="length")
    few = sy.read_labelled(table().filter(pl.col("sample") < 3), score="length")
    assert np.allclose(pool.first(3).known_scores, few.known_scores)
    vote = sy.paper.PlattVote().fit(pool)
    accuracy = sy.evaluation.curves([vote], pool, pool, n=[3, 6], resamples=50, recalibrate="full").accuracy
    assert 0.3 < accuracy[0, 0] < accuracy[1, 0]


def test_names_of_the_same_length_score_are_equal_without_a_table() -> None:
    assert same_scores("length", "1-length(tokens)")
    assert same_scores("length(tokens)+prm", "prm:last+1-length(tokens)")
    assert same_scores("1-length", "1-length(tokens)")
    assert not same_scores("1-length", "length(tokens)")
    assert not same_scores("length(response)", "length(tokens)")
    assert not same_scores("length", "prm")


@pytest.mark.parametrize("better", ["short", "long"])
def test_fit_and_vote_learn_which_direction_helps(tmp_path: Path, better: str) -> None:
    table(0, better).write_parquet(tmp_path / "labelled.parquet")
    table(1, better).drop("gold").write_parquet(tmp_path / "new.parquet")
    plan, new = tmp_path / "plan.json", tmp_path / "new.parquet"
    assert make_plan(tmp_path / "labelled.parquet", "--score", "length", "-o", plan).code == 0
    learned = "1-length(tokens)" if better == "short" else "length(tokens)"
    assert json.loads(plan.read_text())["fitted_on"]["score"] == learned
    voted = [steelyard("vote", new, "--plan", plan, *more, "--json") for more in ([], ["--score", "length"])]
    assert [done.code for done in voted] == [0, 0]
    assert voted[0].out == voted[1].out
    assert "takes more for better" not in voted[0].err + voted[1].err


def test_a_vote_without_labels_warns_in_one_line_with_the_fix(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "t.parquet")
    blind = steelyard("vote", tmp_path / "t.parquet", "--method", "vanilla", "--score", "length")
    assert blind.code == 0
    assert "if less is, use --score '1-length(tokens)'" in blind.err
    named = steelyard("vote", tmp_path / "t.parquet", "--method", "vanilla", "--score", "1-length")
    assert "depends on the LLM" not in named.err


def test_a_plan_for_tokens_is_not_used_on_characters(tmp_path: Path) -> None:
    plan = sy.CalibratedVote().fit(sy.read_labelled(table(), score="length"))
    with pytest.raises(sy.errors.SteelyardError, match="tokens"):
        sy.vote(table(1).drop("tokens"), plan)
    with pytest.raises(sy.errors.PlanError, match=r"length\(response\)"):
        sy.vote(table(1).drop("tokens"), plan, score="length")


@pytest.mark.long
def test_evaluate_compare_and_report_take_the_score(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table().write_parquet(path)
    measured = steelyard("evaluate", path, "--score", "length", "-n", "2,6", "--resamples", "5", "--json")
    assert measured.code == 0
    assert json.loads(measured.out)["score"] == "length(tokens)"
    assert measured.err.count("depends on the LLM") == 1
    compared = steelyard("compare", path, "--method", "calibrated,majority", "--score", "length")
    assert compared.code == 0
    page = steelyard("report", path, "--score", "length", "-o", tmp_path / "page.html")
    assert page.code == 0, page.err
    assert "length(tokens)" in (tmp_path / "page.html").read_text()


def test_a_plan_for_lengths_is_refused_while_asking(tmp_path: Path) -> None:
    sy.CalibratedVote().fit(sy.read_labelled(table(), score="length")).save(tmp_path / "plan.json")
    upstream = ("--upstream", "http://127.0.0.1:9", "--model", "m")
    done = steelyard("ask", "2+2?", *upstream, "--plan", tmp_path / "plan.json")
    assert done.code == 2
    assert "weighs by the score '1-length(tokens)', which is not available while asking" in done.err
    assert done.err.count("\n") == 1
