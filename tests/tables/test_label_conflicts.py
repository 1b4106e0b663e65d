"""The same answer labelled correct and incorrect: the label of most of its responses counts, or the file is refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard


def _noisy(questions: int = 60) -> pl.DataFrame:
    """Question q0 has the answer 7 labelled 2 to 1, q1 has 7 labelled 1 to 1, and the others agree."""
    rows = []
    for q in range(questions):
        labels = {0: [True, False, True, False], 1: [True, False, False, False]}.get(q, [True, True, True, False])
        answers = {1: ["7", "7", "8", "9"]}.get(q, ["7", "7", "7", "8"])
        for i, (answer, label) in enumerate(zip(answers, labels, strict=True)):
            score = 0.3 + 0.4 * label + 0.01 * ((q + i) % 7)
            rows.append({"question": f"q{q:02}", "answer": answer, "correct": label, "score": score})
    return pl.DataFrame(rows)


def test_an_answer_gets_the_label_of_most_of_its_responses_and_a_tie_is_incorrect() -> None:
    with pytest.warns(sy.SteelyardWarning, match="2 answers are labelled correct and incorrect") as caught:
        pool = sy.read_labelled(_noisy())
    assert len(caught) == 1
    assert "question 'q00', answer '7' (2 correct, 1 incorrect)" in str(caught[0].message)
    assert pool.correct[:4].tolist() == [True, True, True, False]
    assert pool.correct[4:8].tolist() == [False] * 4


def test_strict_labels_refuse_the_file() -> None:
    with pytest.raises(sy.errors.LabelError, match="'q00': the answer '7' is labelled correct and incorrect"):
        sy.read_labelled(_noisy(), labels="strict")
    with pytest.raises(sy.SettingError, match="strict"):
        sy.read_labelled(_noisy(), labels="strickt")
    assert sy.read_labelled(_noisy().tail(80), labels="strict").n_questions == 20


def test_spellings_of_one_answer_are_counted_together() -> None:
    rows = {"question": ["a"] * 4, "answer": ["1/2", "0.5", "0.5", "3"], "correct": [True, False, False, True]}
    with pytest.warns(sy.SteelyardWarning, match=r"1 answer is .* \(1 correct, 2 incorrect\)"):
        pool = sy.read_labelled(pl.DataFrame(rows), score="none")
    assert pool.correct.tolist() == [False, False, False, True]
    with pytest.raises(sy.errors.LabelError):
        sy.read_labelled(pl.DataFrame(rows), score="none", labels="strict")


def test_unreadable_answers_are_never_correct_and_no_conflict() -> None:
    rows = {"question": ["a"] * 3, "answer": [None, None, "3"], "correct": [True, False, True]}
    with warnings.catch_warnings():
        warnings.simplefilter("error", sy.SteelyardWarning)
        warnings.filterwarnings("ignore", message=".*no readable answer")
        pool = sy.read_labelled(pl.DataFrame(rows), score="none")
    assert pool.correct.tolist() == [False, False, True]


def test_batches_of_questions_are_reported_in_one_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("steelyard.tables.row_order.BATCH", 4)
    whole = sy.Pool.from_arrays(question=[0, 0, 0], answer=[1, 1, 1], correct=[True, True, True])
    assert isinstance(whole, sy.LabelledPool)
    _noisy().write_parquet(tmp_path / "noisy.parquet", row_group_size=4)
    with pytest.warns(sy.SteelyardWarning, match="2 answers are labelled") as caught:
        sy.read_labelled(tmp_path / "noisy.parquet")
    assert len([each for each in caught if "labelled correct and incorrect" in str(each.message)]) == 1


def test_arrays_follow_the_same_rule() -> None:
    arrays: dict[str, Any] = {"question": [0, 0, 0, 1, 1], "answer": [5, 5, 5, 2, 2], "correct": [1, 1, 0, 1, 0]}
    with pytest.warns(sy.SteelyardWarning, match=r"2 answers .* question '0', answer '5' \(2 correct, 1 incorrect\)"):
        pool = sy.Pool.from_arrays(**arrays)
    assert isinstance(pool, sy.LabelledPool)
    np.testing.assert_array_equal(pool.correct, [True, True, True, False, False])
    with pytest.raises(sy.errors.LabelError, match="labelled correct and incorrect"):
        sy.Pool.from_arrays(**arrays, labels="strict")


COMMANDS = {
    "fit": ("fit", "noisy.csv"),
    "evaluate": ("evaluate", "noisy.csv", "--calibrate", "0.5", "--method", "majority,logit"),
    "evaluate by an engine": ("evaluate", "noisy.csv", "--calibrate", "0.5", "--method", "majority", "--engine",
                              "processes:2"),
    "report": ("report", "noisy.csv", "--method", "majority", "--calibrate", "0.5"),
    "plan-budget": ("plan-budget", "noisy.csv", "--budget", "2", "--method", "majority"),
    "compare": ("compare", "noisy.csv", "--method", "majority,logit", "--calibrate", "0.5"),
}  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())
def test_every_verb_that_reads_labels_takes_noisy_ones_and_refuses_them_when_strict(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _noisy().write_csv("noisy.csv")
    done = steelyard(*words)
    assert done.code == 0, done.err
    assert done.err.count("labelled correct and incorrect") == 1, done.err
    assert "--labels strict refuses" in done.err
    refused = steelyard(*words, "--labels", "strict")
    assert refused.code == 2
    assert "the answer '7' is labelled correct and incorrect" in refused.err
    assert "--labels majority" in refused.err
