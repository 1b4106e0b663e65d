"""Responses that are cut off before they mark an answer cast no vote; last numbers and cut responses are counted."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard
from tests.runs.runs_small import small_run
from tests.tables.layouts.golden import GOLDEN

CUT = "Let me think about 3 and"
MARKED = "So it is \\boxed{7}. Let me check that"
LINE = "of them were cut off by their length limit (finish: length) before they marked one"


def table(finish: str = "length", name: str = "finish", **columns: list[Any]) -> pl.DataFrame:
    texts = {"question": ["a"] * 4 + ["b"] * 4, "response": [CUT, CUT, CUT, "\\boxed{7}"] * 2}
    return pl.DataFrame({**texts, name: [finish, finish, finish, "stop"] * 2, **columns})


@pytest.mark.parametrize("name", ["finish", "finish_reason", "stop_reason"])
@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens"])
def test_what_was_cut_off_and_marks_no_answer_casts_no_vote(name: str, finish: str) -> None:
    with pytest.warns(sy.SteelyardWarning, match="75.0 % of 8 responses have no readable answer.*6 of them were cut"):
        pool = sy.read(table(finish, name), score="none")
    assert sy.MajorityVote().predict(pool).to_polars()["answer"].to_list() == ["7", "7"]


def test_a_column_that_says_truncated_or_not_is_read_as_well() -> None:
    told = table().drop("finish").with_columns(is_truncated=pl.Series([True, True, True, False] * 2))
    with pytest.warns(sy.SteelyardWarning, match="6 of them were cut off"):
        pool = sy.read(told, score="none")
    assert sy.MajorityVote().predict(pool).to_polars()["answer"].to_list() == ["7", "7"]


def test_a_response_that_stopped_by_itself_is_read_as_before() -> None:
    pool = sy.read(table("stop"), score="none")
    assert sy.MajorityVote().predict(pool).to_polars()["answer"].to_list() == ["3", "3"]


@pytest.mark.parametrize(
    ("response", "kind", "answer"),
    [
        (MARKED, "math", "7"),
        ("The answer is 12. To check this, we", "math", "12"),
        ("The final answer is 1", "math", None),  # of 12?
        ("<answer>12</answer> because", "math", "12"),
        ("<answer>Let me think about 3", "math", None),
        ("<think>so \\boxed{4}, or rather", "math", "4"),
        ("<think>so it is 4, or rather", "math", None),
        ("x = 5", "math", None),
        ("The answer is Albert", "text", None),
        ("Albert", "text", None),
        ("B", "choice", "B"),  # one token was all it had
        ("The answer is (C", "choice", "C"),
        ("Option A seems good at first, but (B) and", "choice", None),
        ('{"answer": 4}', "json", "4"),
        ("so the output is [1, 2", "code", None),
        ("no mark yet", "re:=> (.*)", None),
        ("=> 5 or", "re:=> (.) ", "5"),
    ],
)
def test_only_an_answer_that_the_cut_cannot_have_shortened_counts(response: str, kind: str, answer: str | None) -> None:
    assert sy.extract_answer(response, kind, cut=True) == answer


def test_every_verb_counts_what_was_cut_off(tmp_path: Path) -> None:
    rows = table(gold=["7"] * 8, score=[0.1, 0.4, 0.5, 0.9] * 2)
    many = pl.concat([rows.with_columns(pl.col("question") + str(i)) for i in range(30)])
    sy.write(many, tmp_path / "t.parquet")
    for words in (("vote",), ("evaluate", "--method", "majority", "-n", "4"), ("fit", "-o", tmp_path / "plan.json")):
        done = steelyard(words[0], tmp_path / "t.parquet", *words[1:])
        assert f"180 {LINE}" in done.err, (words, done.err)
    shown = steelyard("answers", tmp_path / "t.parquet")
    assert "180 of these were cut off by their length limit" in shown.out
    assert json.loads(steelyard("answers", tmp_path / "t.parquet", "--json").out)["cut"] == 180


def test_a_run_stores_how_answers_were_read_and_those_cut_off_have_none(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", response=CUT, finish="length")
    stored = sy.read_answers(run).table
    assert set(stored["rule"]) == {"cut off"}
    assert stored["answer"].null_count() == stored.height == 32
    with pytest.warns(sy.SteelyardWarning, match="32 of them were cut off"):
        sy.read(run, score="none")


def test_a_run_that_marks_no_answers_says_that_they_are_last_numbers(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", response="I think that there are 3 of them")
    with pytest.warns(
        sy.errors.SteelyardNote, match="100.0 % of 32 responses mark no answer and were read only as the last"
    ):
        sy.read(run, score="none")


def test_above_five_per_cent_last_numbers_are_reported_once_and_below_they_are_not(tmp_path: Path) -> None:
    for last, told in ((6, True), (5, False)):
        texts = ["so there are 12 of them"] * last + ["\\boxed{12}"] * (100 - last)
        rows = pl.DataFrame({"question": [str(i // 10) for i in range(100)], "response": texts})
        rows.write_parquet(tmp_path / "t.parquet")
        done = steelyard("vote", tmp_path / "t.parquet")
        line = "6.0 % of 100 responses mark no answer and were read only as the last number of the text"
        assert done.err.count(line) == told


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("inspect_log/sums.json", ("samples", 0, "output", "choices", 0, "stop_reason")),
        ("chat_completions/one.json", ("choices", 0, "finish_reason")),
    ],
)
def test_layouts_of_tools_carry_why_a_response_ended(file: str, place: tuple[Any, ...], tmp_path: Path) -> None:
    log: Any = json.loads((GOLDEN / file).read_text())
    at = log
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = "max_tokens"
    (tmp_path / "log.json").write_text(json.dumps(log))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = sy.read_answers(tmp_path / "log.json").table
    assert read["finish"].to_list().count("max_tokens") == 1
    assert set(read["finish"]) == {"max_tokens", "stop"}
