"""With the kind `exact` an empty text is an answer, and only a null is missing; other kinds read no answer in it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy

ROWS = pl.DataFrame(
    {
        "question": ["a"] * 4 + ["b"] * 3,
        "answer": ["", "", None, "x", "y", " ", "y"],
        "gold": [""] * 4 + ["y"] * 3,
    }
)


def _csv(table: pl.DataFrame, path: Path) -> None:
    table.write_csv(path)  # writes "" for the empty text and nothing for null


WRITERS = {
    "t.parquet": pl.DataFrame.write_parquet,
    "t.jsonl": pl.DataFrame.write_ndjson,
    "t.csv": _csv,
}


@pytest.mark.parametrize("name", WRITERS)
def test_an_empty_text_votes_and_can_be_correct(name: str, tmp_path: Path) -> None:
    WRITERS[name](ROWS, tmp_path / name)  # type: ignore[operator]
    pool = sy.read_labelled(tmp_path / name, score="none", answers="exact")
    assert pool.answer.tolist() == [0, 0, -1, 1, 0, 1, 0]
    assert pool.correct.tolist() == [True, True, False, False, True, False, True]
    verdicts = sy.vote(tmp_path / name, answers="exact")
    assert verdicts["answer"].to_list() == ["", "y"]


def test_labels_of_an_empty_text_count() -> None:
    table = ROWS.drop("gold").with_columns(correct=pl.Series([True, True, False, False, True, False, True]))
    pool = sy.read_labelled(table, score="none", answers="exact")
    assert pool.correct.tolist() == [True, True, False, False, True, False, True]


@pytest.mark.parametrize(
    ("golds", "correct"), [(["", "x"], [True, True]), ([""], [True, False]), (["x"], [False, True]), ([], [False] * 2)]
)
def test_a_list_of_golds_may_accept_the_empty_text(golds: list[str], correct: list[bool]) -> None:
    table = pl.DataFrame({"question": ["a", "a"], "answer": ["", "x"], "gold": [golds, golds]})
    assert sy.read_labelled(table, score="none", answers="exact").correct.tolist() == correct


@pytest.mark.parametrize("kind", ["math", "text", "choice", "number"])
def test_other_kinds_read_no_answer_in_an_empty_text(kind: str) -> None:
    pool = sy.read(ROWS.drop("gold"), score="none", answers=kind)
    assert pool.answer[:3].tolist() == [-1, -1, -1]


def test_an_unquoted_empty_field_of_a_csv_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('question,answer,gold\na,,""\na,"",""\na,x,""\n')
    pool = sy.read_labelled(tmp_path / "t.csv", score="none", answers="exact")
    assert pool.answer.tolist() == [-1, 0, 1]
    (tmp_path / "t.csv").write_text("question,answer,gold\na,x,\na,y,\n")
    with pytest.raises(sy.errors.LabelError, match='the empty text is written ""'):
        sy.read_labelled(tmp_path / "t.csv", score="none", answers="exact")


def test_read_answers_shows_the_empty_text_as_read() -> None:
    found = sy.read_answers(ROWS, answers="exact")
    assert found.unreadable == 1
    assert found.table["same_as"].to_list()[:4] == ["", "", None, "x"]
