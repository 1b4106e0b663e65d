"""docs/free.md: the page and its picture are made of the stored figures, and these reach their goals."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from docs.free.__main__ import HERE
from docs.free.example import FILE, lines
from docs.free.measuring import LABELS, cut, questions_pool, split
from docs.free.page import picture, stored, text
from tests.docs.example_files import graded


def test_the_page_is_made_of_the_stored_figures() -> None:
    assert (HERE.parent / "free.md").read_text() == text()


def test_the_picture_names_every_line() -> None:
    for drawn in (picture(stored("labels")), (HERE.parent / "free.svg").read_text()):
        assert all(
            words in drawn for words in ("committee", "consensus, no labels", "best single LLM", "majority of all")
        )


def test_by_the_stored_figures_the_vote_beats_the_single_llm_with_few_labels_and_with_none() -> None:
    at = {(row["labels"], row["way"]): row["accuracy"] for row in stored("labels").iter_rows(named=True)}
    assert at[200, "committee"] >= 0.825
    assert at[50, "committee"] >= 0.82
    assert at[20, "few-label"] >= 0.81
    assert at[200, "consensus"] >= 0.805
    assert stored("confidence")["ece of all splits"].max() <= 0.05  # type: ignore[operator]


def test_by_the_stored_figures_partial_credit_for_tool_calls_is_not_below_equality() -> None:
    tools = stored("tools").pivot(on="answers", index=["category", "way", "best in hindsight"], values="accuracy")
    voted = tools.filter(pl.col("way").is_in(["majority", "consensus", "committee"]))
    assert (voted["free:json"] >= voted["json"] - 1e-9).all()
    assert (voted["free:json"] >= voted["best in hindsight"]).all()


def test_no_label_is_taken_from_a_test_question(tmp_path: Path) -> None:
    graded(tmp_path)
    pool = questions_pool(tmp_path / "graded.jsonl")
    for labels in LABELS:
        few, test = split(pool, 0, labels)
        assert not set(few.questions) & set(pool.questions[test])
    hard = cut(pool)
    assert hard.similarity is not None
    assert set(hard.similarity.values.tolist()) == {0.0, 1.0}


def test_the_example_file_is_made_by_its_script() -> None:
    assert FILE.read_text() == lines()
