"""What a vote reports about a file: scores it does not weigh, LLMs it pools, and questions with one response."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard

ROWS = pl.DataFrame(
    {"question": ["a"] * 3 + ["b"] * 3, "answer": ["1", "1", "2", "3", "4", "4"], "prm": [0.1, 0.2, 0.9, 0.5, 0.4, 0.3]}
)


def _notes(table: pl.DataFrame, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        sy.vote(table, **options)
    return [str(each.message) for each in records if issubclass(each.category, sy.SteelyardWarning)]


def test_a_majority_vote_by_default_names_the_scores_it_does_not_weigh(tmp_path: Path) -> None:
    ROWS.write_csv(tmp_path / "scored.csv")
    done = steelyard("vote", tmp_path / "scored.csv")
    assert done.code == 0
    lines = done.err.splitlines()
    assert len(lines) == 1, done.err
    assert "does not use the scores in 'prm'" in lines[0]
    assert "--method vanilla --score prm" in lines[0]
    assert steelyard("vote", tmp_path / "scored.csv", "--method", "majority").err == ""
    assert steelyard("vote", tmp_path / "scored.csv", "--method", "vanilla", "--score", "prm").err == ""


def test_no_score_is_named_where_there_is_none() -> None:
    assert _notes(ROWS.drop("prm").with_columns(latency=pl.lit(0.5))) == []


@pytest.mark.parametrize("column", ["llm", "model", "Model Name"])
def test_several_llms_that_vote_together_are_reported_with_the_option(column: str) -> None:
    table = ROWS.drop("prm").with_columns(pl.Series(column, ["x", "y", "y"] * 2))
    (note,) = _notes(table)
    assert "2 LLMs (x, y)" in note
    assert f"--source {column}" in note
    assert _notes(table.with_columns(pl.lit("x").alias(column))) == []
    assert _notes(table, method="consensus", source=column) == []


SINGLE = {
    "questions": (
        pl.DataFrame({"problem": ["1 + 1?", "2 + 2?"], "answer": ["2", "4"], "solution": ["2", "4"], "level": [1, 2]}),
        "it looks like a question file",
    ),
    "golds with their working": (
        pl.DataFrame(
            {"question": [f"{i} + 1?" for i in range(40)], "answer": [f"so\n#### {i + 1}" for i in range(40)]}
        ),
        "steelyard generate",
    ),
    "verdicts": (sy.vote(ROWS.drop("prm")), "steelyard compare"),
    "one sample each": (ROWS.unique("question", maintain_order=True), "sample several responses per question"),
}


@pytest.mark.parametrize("name", SINGLE)
def test_a_file_with_one_response_per_question_is_refused_with_what_it_looks_like(name: str, tmp_path: Path) -> None:
    table, fix = SINGLE[name]
    table.write_ndjson(tmp_path / "t.jsonl")
    refused = steelyard("vote", tmp_path / "t.jsonl", "-o", tmp_path / "verdicts.csv")
    assert refused.code == 2, refused.out
    last = refused.err.splitlines()[-1]
    assert "every question has one response, so there is nothing to vote on" in last
    assert fix in last
    assert not (tmp_path / "verdicts.csv").exists()


@pytest.mark.parametrize("verb", ["evaluate", "fit", "report", "compare"])
def test_a_question_file_is_neither_measured_nor_learned_from(verb: str, tmp_path: Path) -> None:
    rows = [{"problem": f"{i} + 1?", "answer": f"{i + 1}", "solution": f"{i + 1}"} for i in range(60)]
    pl.DataFrame(rows).write_ndjson(tmp_path / "math.jsonl")
    words = {
        "evaluate": ("--score", "none"),
        "fit": ("--method", "majority"),
        "compare": ("--method", "majority,platt"),
    }
    output = ("-o", tmp_path / "out.html", "--method", "majority", "--score", "none") if verb == "report" else ()
    refused = steelyard(verb, tmp_path / "math.jsonl", *words.get(verb, ()), *output, "--score", "none")
    assert refused.code == 2, refused.out
    assert "every question has one response, so there is nothing to vote on" in refused.err.splitlines()[-1]


def test_a_question_file_is_not_told_to_add_labels(tmp_path: Path) -> None:
    SINGLE["golds with their working"][0].write_ndjson(tmp_path / "gsm8k.jsonl")
    refused = steelyard("evaluate", tmp_path / "gsm8k.jsonl", "--score", "none")
    assert refused.code == 2
    assert "it looks like a question file" in refused.err


def test_one_response_of_each_llm_is_a_vote() -> None:
    table = ROWS.drop("prm").with_columns(llm=pl.Series(["x", "y", "z"] * 2))
    assert sy.vote(table, method="consensus", source="llm")["votes"].to_list() == [2, 2]


def test_a_plan_votes_on_one_response_per_question_with_a_warning() -> None:
    plan = sy.LogitVote().fit(sy.read_labelled(sy.simulate(60, 8, seed=1)), n=1)
    with pytest.warns(sy.SteelyardWarning, match="nothing to vote on"):
        verdicts = sy.vote(sy.simulate(5, 1, seed=2), plan)
    assert verdicts.height == 5


def test_parts_with_one_response_per_question_are_refused_only_if_all_are(tmp_path: Path) -> None:
    ROWS.write_csv(tmp_path / "several.csv")
    mixed = pl.concat((ROWS, pl.DataFrame({"question": [f"q{i}" for i in range(20)], "answer": "1", "prm": 0.5})))
    mixed.unique("question", maintain_order=True).write_csv(tmp_path / "single.csv")
    mixed.write_csv(tmp_path / "mixed.csv")
    for name, code in (("single", 2), ("mixed", 0)):
        assert steelyard("partition", tmp_path / f"{name}.csv", "-o", tmp_path / name, "--parts", 3).code == 0
        words = ("-o", tmp_path / f"{name}-verdicts", "--engine", "processes:1")
        done = steelyard("vote", tmp_path / name, *words)
        assert done.code == code, done.err
    assert "does not use the scores in 'prm'" in done.err
