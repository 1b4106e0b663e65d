"""Labels that are written as words are read as labels, and answers that are such words are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard

QUESTIONS = [f"q{i}" for i in range(12)]
WORDS = [
    ("correct", "incorrect"), ("Right", "Wrong"), ("true", "false"), ("yes", "no"), ("Y", "N"), ("C", "I"),
    ("pass", "fail"), ("1", "0"), ("1.0", "0.0"), (" TRUE ", "False"),
]  # fmt: skip


def labelled(name: str, true: str, false: str) -> list[dict[str, Any]]:
    """Two responses per question; the first is correct."""
    return [{"question": q, "answer": a, name: w} for q in QUESTIONS for a, w in (("4", true), ("5", false))]


@pytest.mark.parametrize("name", ["correct", "is_correct"])
@pytest.mark.parametrize("words", WORDS, ids="/".join)
def test_words_are_labels(tmp_path: Path, words: tuple[str, str], name: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in labelled(name, *words)))
    assert sy.read_labelled(path, score="none").correct.tolist() == [True, False] * len(QUESTIONS)


def test_a_label_that_judges_is_no_gold_and_one_that_answers_is(tmp_path: Path) -> None:
    judged = sy.read_labelled(pl.DataFrame(labelled("label", "correct", "incorrect")), score="none")
    assert judged.correct.tolist() == [True, False] * len(QUESTIONS)
    rows = [{"question": q, "answer": a, "label": "yes"} for q in QUESTIONS for a in ("yes", "no")]
    assert sy.read_labelled(pl.DataFrame(rows), score="none", answers="text").correct.tolist() == [True, False] * 12


@pytest.mark.parametrize("text", ["answer", "response"])
def test_a_correct_that_holds_the_correct_answer_is_refused_with_fixes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    rows = [{"question": q, text: a, "correct": "yes"} for q in QUESTIONS for a in ("yes", "no")]
    pl.DataFrame(rows).write_csv(path)
    done = steelyard("evaluate", path, "--score", "none", "--answers", "text")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "'correct' is the same for different" in done.err
    assert sy.read_labelled(path, rename={"correct": "gold"}, score="none", answers="text").correct.mean() == 0.5


def test_another_word_among_labels_is_refused() -> None:
    rows = labelled("correct", "correct", "maybe")
    with pytest.raises(sy.errors.LabelError, match="12 responses have no label that is true or false"):
        sy.read(pl.DataFrame(rows), score="none")
