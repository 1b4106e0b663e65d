"""Our names are known in any letter case, where that leaves no doubt."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard

ROWS = "a,4,0.75,4\na,5,0.25,4\nb,4,0.5,4\n"


@pytest.mark.parametrize(
    "header", ["Question,Answer,Score,Gold", "QUESTION,ANSWER,SCORE,GOLD", " question , answer, score, gold"]
)
def test_any_case_is_read(tmp_path: Path, header: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\n{ROWS}")
    pool = sy.read_labelled(path)
    assert (pool.n_questions, pool.n_responses, pool.correct.tolist()) == (2, 3, [True, False, True])
    assert pool.scores is not None


def test_lists_per_question_are_read_in_any_case() -> None:
    rows = [{"Question": q, "Completions": ["It is 4", "It is 5"], "Scores": [0.5, 0.25], "Gold": "4"} for q in "ab"]
    pool = sy.read_labelled(pl.DataFrame(rows))
    assert (list(pool.questions), pool.correct.tolist()) == (["a", "b"], [True, False] * 2)


def test_the_name_as_it_is_goes_before_others_and_two_others_are_refused(tmp_path: Path) -> None:
    table = pl.DataFrame({"Question": ["x", "y"], "question": ["a", "a"], "answer": ["4", "5"]})
    assert list(sy.read(table, score="none").questions) == ["a"]
    path = tmp_path / "t.csv"
    table.rename({"question": "QUESTION"}).write_csv(path)
    done = steelyard("vote", path)
    assert (done.code, "several columns could be 'question': Question, QUESTION" in done.err) == (2, True)
    assert list(sy.read(path, rename={"QUESTION": "question"}, score="none").questions) == ["a"]


def test_options_still_name_columns_as_the_file_does() -> None:
    table = pl.DataFrame({"Question": ["a"] * 4, "Answer": list("4454"), "LLM": list("mnmn"), "Score": [0.5] * 4})
    assert sy.read(table, source="LLM", score="Score").sources == ("m", "n")
    assert sy.read(table, score="Score").origin.llms == ("m", "n")
    assert sy.read(table.with_columns(Sample=pl.lit("first")), score="Score").n_responses == 4
