"""Files of free text that are named or graded otherwise than expected: one line says what to write instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.errors import ColumnError, SettingError, SteelyardNote, SteelyardWarning
from tests.running import steelyard

CHINESE = ["首都是奥斯陆，位于该国南部。", "奥斯陆是挪威的首都，众所周知。", "我认为是罗马，在意大利的中部。"]
ENGLISH = ["The capital is Oslo, in the south.", "As everybody knows, it must be Oslo.", "That would be Rome, I think."]


def responses(texts: list[str], questions: int = 8, **columns: Any) -> pl.DataFrame:
    rows = pl.DataFrame({"question": [f"q{i}" for i in range(questions) for _ in texts]})
    repeated = {name: list(values) * questions for name, values in {"response": texts, **columns}.items()}
    return rows.with_columns(**{name: pl.Series(values) for name, values in repeated.items()})


@pytest.mark.parametrize(
    ("kind", "messages"),
    [
        ("free:outputs", ["unknown similarity 'outputs': write free:column:outputs", "there are: characters"]),
        ("free:charakters", ["did you mean free:characters?", "free:column:charakters"]),
        ("free:colum:outputs", ["did you mean free:column:outputs?"]),
        ("free:cosin", ["did you mean free:cosine:NAME?"]),
    ],
)
def test_a_misspelt_similarity_may_be_a_column(kind: str, messages: list[str]) -> None:
    with pytest.raises(SettingError) as refused:
        sy.read(responses(ENGLISH, outputs=["1", "1", "2"]), answers=kind, score="none")
    assert all(message in str(refused.value) for message in messages)
    assert "\n" not in str(refused.value)


def test_prose_compared_as_json_is_reported_with_the_fix() -> None:
    with pytest.warns(SteelyardWarning, match="none of the first 24 responses is JSON.*answers='free'"):
        sy.read(responses(ENGLISH), answers="free:json", score="none")


def test_one_response_in_json_is_enough(recwarn: pytest.WarningsRecorder) -> None:
    sy.read(responses([*ENGLISH, '```json\n{"a": 1}\n```']), answers="free:json", score="none")
    assert not recwarn


def test_texts_are_no_vectors() -> None:
    table = responses(ENGLISH, embedding=["north", "north", "south"])
    with pytest.raises(ColumnError, match="'embedding' contains texts such as 'north', not vectors: write each vector"):
        sy.read(table, answers="free:cosine:embedding", score="none")
    written = table.with_columns(embedding=pl.lit("[1.0, 0.5]"))
    assert sy.read(written, answers="free:cosine:embedding", score="none").n_questions == 8


def test_sentences_without_labels_get_the_option_to_compare_them() -> None:
    with pytest.warns(SteelyardNote, match="read as text.*to compare whole sentences, add answers='free'$"):
        sy.read(responses(ENGLISH), score="none")
    with pytest.warns(SteelyardNote, match="read as text.*add answers='free:characters'$"):
        sy.read(responses(CHINESE), score="none")


def test_numbers_in_sentences_get_the_option_too() -> None:
    with pytest.warns(SteelyardNote, match="the last number of the text.*add answers='free'$"):
        sy.read(responses([f"{text} See page {i}." for i, text in enumerate(ENGLISH)]), score="none")
    with pytest.warns(SteelyardNote, match="the last number of the text.*add answers='free:characters'$"):
        sy.read(responses([f"{text}参见第{i}页。" for i, text in enumerate(CHINESE)]), score="none")


def test_names_and_marked_answers_get_no_such_option() -> None:
    for texts in (["Oslo", "Oslo", "Rome"], [f"{text} The answer is: Oslo" for text in ENGLISH]):
        with pytest.warns(SteelyardNote) as notes:
            sy.read(responses(texts), score="none")
        assert not any("free" in str(note.message) for note in notes)


@pytest.mark.parametrize(("texts", "kind"), [(ENGLISH, "free"), (CHINESE, "free:characters")])
def test_graded_sentences_are_compared_by_words_or_by_characters(texts: list[str], kind: str) -> None:
    table = responses([*texts[:2], f"{texts[0]}!", texts[2]], correct=[True, True, True, False])
    with pytest.warns(SteelyardNote, match=f"answers are read as {kind}: only"):
        assert sy.read(table, score="none").origin.answers == kind


@pytest.mark.parametrize("outputs", [[[1, 2], [1, 2], [1, 3]], [["a"], ["a"], ["b"]]])
def test_a_csv_with_outputs_of_code_beside_the_responses(tmp_path: Path, outputs: list[Any]) -> None:
    responses(ENGLISH, outputs=[json.dumps(values) for values in outputs]).write_csv(tmp_path / "code.csv")
    file = tmp_path / "code.csv"
    options: dict[str, Any] = {"answers": "free:column:outputs", "score": "none"}
    if isinstance(outputs[0][0], str):  # they could be responses
        with pytest.raises(ColumnError, match=r"'outputs' contains a list per row and 'response' one text.*layout='lo"):
            sy.read(file, **options)
        options["layout"] = "long"
    assert sy.MajorityVote().predict(sy.read(file, **options)).votes.tolist()[0] >= 2


def test_a_compared_column_is_no_score(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    responses(ENGLISH, outputs=["[1, 2]", "[1, 2]", "[1, 3]"]).write_csv(tmp_path / "code.csv")
    sy.vote(tmp_path / "code.csv", answers="free:column:outputs")
    assert not recwarn


def test_letters_of_simpleqa_are_not_read_as_grades_but_the_mapping_is_shown(tmp_path: Path) -> None:
    responses(ENGLISH, grade=["A", "B", "C"]).write_csv(tmp_path / "graded.csv")
    ran = steelyard("evaluate", tmp_path / "graded.csv", "--answers", "free")
    assert ran.code == 2
    assert "the column 'grade' contains 'A', 'B' and is not read as labels: it takes C, I, N or correct" in ran.err
    assert "pl.col('grade').replace({'A': 'C', 'B': 'I', 'C': 'N'})" in ran.err


def test_other_words_in_a_grade_column_are_shown_and_labels_elsewhere_silence_it(
    recwarn: pytest.WarningsRecorder,
) -> None:
    sy.read(responses(ENGLISH, grade=["fine", "bad", "bad"], correct=[True, False, False]), answers="free")
    assert not recwarn
    with pytest.warns(SteelyardWarning, match="contains 'bad', 'fine' and is not read as labels"):
        sy.read(responses(ENGLISH, grade=["fine", "bad", "bad"]), answers="free", score="none")
