"""Labels that contradict the gold answers are refused where nearly all do, and reported where some do."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard


def _table(inverted: int, questions: int = 30) -> pl.DataFrame:
    """Four responses per question, three of them the gold answer; the labels of the first questions are inverted."""
    rows = [
        {
            "question": f"q{q:02}",
            "response": f"So the answer is {q + (i == 3)}.",
            "answer": str(q + (i == 3)),
            "gold": str(q),
            "correct": (i != 3) != (q < inverted),
            "score": 0.5,
        }
        for q in range(questions)
        for i in range(4)
    ]
    return pl.DataFrame(rows)


@pytest.mark.parametrize("dropped", ["response", "answer"])
def test_inverted_labels_are_refused_with_the_fix(dropped: str, tmp_path: Path) -> None:
    _table(30).drop(dropped).write_csv(tmp_path / "t.csv")
    refused = steelyard("evaluate", tmp_path / "t.csv", "--method", "majority")
    assert refused.code == 2
    assert "'correct' disagrees with 'gold': it is false in 100% of the rows" in refused.err
    assert "--rename correct=was_correct" in refused.err
    fixed = steelyard("evaluate", tmp_path / "t.csv", "--method", "majority", "--rename", "correct=was_correct")
    assert fixed.code == 0, fixed.err


def test_some_contradicting_labels_are_a_warning() -> None:
    with pytest.warns(sy.SteelyardWarning, match="false in 20% of the rows .* first in question 'q00', answer '0'"):
        pool = sy.read_labelled(_table(6))
    assert pool.correct[:4].tolist() == [False, False, False, True]


def test_labels_that_agree_and_a_judge_that_accepts_other_words_are_not_reported(
    recwarn: pytest.WarningsRecorder,
) -> None:
    sy.read_labelled(_table(0))
    words = _table(0).with_columns(gold="gold " + pl.col("gold"), correct=pl.lit(True))
    sy.read_labelled(words.drop("response"), answers="text")
    assert [str(each.message) for each in recwarn if "disagrees" in str(each.message)] == []
