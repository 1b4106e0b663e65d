"""`auto` reads graded sentences as free text, and nothing else."""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard
from tests.tables.graded_answers import graded_answers

GRADED = pl.DataFrame(graded_answers())
REASON = "answers are read as free: only 0 of 84 pairs of correct responses give the same answer as text"


def kind(table: pl.DataFrame) -> str | None:
    """The kind that `auto` chooses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sy.read_answers(table).kind


@pytest.mark.parametrize("gold", [False, True])
@pytest.mark.parametrize("order", ["grouped", "scattered"])
def test_graded_sentences_are_free_text(order: str, gold: bool) -> None:
    table = GRADED if order == "grouped" else GRADED.sample(fraction=1.0, shuffle=True, seed=3)
    table = table.with_columns(gold=pl.lit("the person in the record")) if gold else table
    with pytest.warns(sy.errors.SteelyardNote, match=REASON):
        pool = sy.read_labelled(table)
    assert pool.origin.answers == "free"
    assert kind(table) == "free"


def test_labels_are_needed_to_choose_free_text() -> None:
    assert kind(GRADED.drop("grade")) == "text"


@pytest.mark.parametrize(
    "response",
    [
        "We add the numbers and find that the result is \\boxed{{{}}}.",
        "After some thought, the answer is {}.",
        "{}",
        "I compared all options, one by one, and I choose ({letter}).",
    ],
)
def test_responses_with_exact_answers_are_not_free_text(response: str) -> None:
    """Correct responses agree on an answer under their kind, however different their texts are."""
    rows = [
        {"question": f"q{i}", "response": f"{start} {response.format(100 + i, letter='ABCD'[i % 4])}", "correct": True}
        for i in range(20)
        for start in ("", "Let me see.", "First things first, and slowly.")
    ]
    assert kind(pl.DataFrame(rows)) != "free"


def test_a_kind_whose_answers_match_the_golds_is_not_replaced() -> None:
    """Several answers are accepted, so correct responses differ."""
    names = ["Rome", "Oslo", "Bern", "Lima"]
    rows = [
        {"question": f"q{i}", "response": f"My final answer is: {name}", "correct": True, "gold": names}
        for i in range(20)
        for name in names
    ]
    assert kind(pl.DataFrame(rows)) == "text"


def test_a_few_pairs_decide_nothing() -> None:
    assert kind(GRADED.filter(pl.col("question") < "q06")) == "text"


def test_one_command_evaluates_a_file_of_graded_chat_answers(tmp_path: Path) -> None:
    file = tmp_path / "chat.csv"
    GRADED.select("prompt", "response", "grade").write_csv(file)
    done = steelyard("evaluate", file)
    assert (done.code, REASON in done.err) == (0, True), done.err
    assert "only majority, pass-at-n can be measured" in done.err
    assert "majority" in done.out
    voted = steelyard("vote", file)
    assert voted.code == 0, voted.err


def test_the_note_names_the_column_of_the_llms(tmp_path: Path) -> None:
    file = tmp_path / "chat.parquet"
    GRADED.with_columns(llm=pl.Series(["a", "b", "c", "d", "e"] * 30)).write_parquet(file)
    done = steelyard("evaluate", file)
    assert (done.code, "and --source llm weights each LLM" in done.err) == (0, True), done.err
    assert "committee" in steelyard("evaluate", file, "--source", "llm", "--resamples", "1", "--calibrate", "0.5").out
