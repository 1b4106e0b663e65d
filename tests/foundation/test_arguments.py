"""Errors and warnings name an argument as the caller types it: a keyword in Python, an option on the command line."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.arguments import argument, option_names
from tests.running import steelyard


def table(**columns: list[Any]) -> pl.DataFrame:
    return pl.DataFrame({"question": ["a", "a", "b", "b"], "answer": ["1", "2", "1", "1"], **columns})


SCORES = {"first": [0.1, 0.2, 0.3, 0.4], "second": [0.4, 0.3, 0.2, 0.1]}
FILES = {
    "several scores": (table(**SCORES), "choose one with score=:", "choose one with --score:"),
    "a rating": (table(score=[1.0, 5.0, 3.0, 2.0]), "with score='(score-1)/4'", "with --score '(score-1)/4'"),
    "no question": (
        table().rename({"question": "what is it"}),
        "rename={'yours': 'question'}",
        "--rename yours=question",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_an_error_names_arguments_as_the_caller_types_them(name: str, tmp_path: Path) -> None:
    frame, in_python, on_the_command_line = FILES[name]
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(sy.TableError) as refused:
        sy.read(tmp_path / "t.parquet", need_score=True)
    assert in_python in str(refused.value)
    done = steelyard("vote", tmp_path / "t.parquet", "--method", "vanilla")
    assert on_the_command_line in done.err
    with pytest.raises(sy.TableError) as after:
        sy.read(tmp_path / "t.parquet", need_score=True)
    assert str(after.value) == str(refused.value)


def test_a_warning_names_arguments_as_the_caller_types_them(tmp_path: Path) -> None:
    table(correct=[True, False, True, False]).write_parquet(tmp_path / "t.parquet")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sy.read(tmp_path / "t.parquet", need_score=False)
    assert any("labels='strict' refuses" in str(each.message) for each in caught)
    assert "--labels strict refuses" in steelyard("evaluate", tmp_path / "t.parquet", "--method", "majority").err


def test_a_message_that_quotes_what_looks_like_an_argument_is_left_alone(tmp_path: Path) -> None:
    table(**SCORES).rename({"first": "layout='long'"}).write_parquet(tmp_path / "t.parquet")
    assert "layout='long', second" in steelyard("vote", tmp_path / "t.parquet", "--method", "vanilla").err


def test_an_error_of_a_worker_process_names_arguments_as_the_command_does(tmp_path: Path) -> None:
    table(**SCORES).write_parquet(tmp_path / "t.parquet")
    assert steelyard("partition", tmp_path / "t.parquet", "-o", tmp_path / "parts", "--parts", 2).code == 0
    words = ("vote", tmp_path / "parts", "--method", "vanilla", "--engine", "processes:1", "-o", tmp_path / "out")
    done = steelyard(*words)
    assert done.code == 2
    assert "choose one with --score:" in done.err


@pytest.mark.parametrize("name", ["Question, in full", 'a "quoted", name', "question=id", "it's, so"])
def test_a_suggested_rename_works_when_it_is_typed(name: str, tmp_path: Path) -> None:
    frame = table(score=[0.1, 0.2, 0.3, 0.4]).rename({"question": "id"}).with_columns(pl.col("id").alias(name))
    frame.drop("id").write_parquet(tmp_path / "t.parquet")
    with option_names():
        words = shlex.split(argument("rename", {name: "question", "score": "prm"}))
    done = steelyard("import", tmp_path / "t.parquet", *words, "-o", tmp_path / "out.parquet")
    assert done.code == 0, done.err
    assert {"question", "prm"} <= set(pl.read_parquet(tmp_path / "out.parquet").columns)


def test_a_rename_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "t.parquet")
    done = steelyard("vote", tmp_path / "t.parquet", "--rename", "a\rb=question")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "separate names with commas" in done.err


def test_an_output_is_named_as_the_caller_types_it(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "t.parquet")
    with pytest.raises(sy.SettingError, match=r"suffix must be one of .*; choose another path$"):
        sy.write(table(), tmp_path / "t.docx")
    done = steelyard("import", tmp_path / "t.parquet", "-o", tmp_path / "t.docx")
    assert done.err.endswith("; choose another path with -o\n")


@pytest.mark.parametrize("value", ["it's", "a b", "$HOME", "1-x"])
def test_a_shell_reads_the_value_that_is_meant(value: str) -> None:
    with option_names():
        assert shlex.split(argument("score", value)) == ["--score", value]
        assert shlex.split(argument("rename", {value: "answer"})) == ["--rename", f"{value}=answer"]
        assert argument("confidence_level", 0.9) == "--confidence-level 0.9"
