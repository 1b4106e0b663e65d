"""Evaluations report not attempted verdicts beside correct and incorrect ones."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard
from tests.tables.graded_answers import graded_answers

TABLE = pl.DataFrame(graded_answers(40))


def test_a_verdict_is_not_attempted_if_every_response_declined_or_the_winner_was_graded_so() -> None:
    pool = sy.read_labelled(TABLE, score="none", answers="free")
    verdicts = sy.MajorityVote().predict(pool)
    attempted = verdicts.correct(pool.labelled_by_attempt())
    assert (~attempted).nonzero()[0].tolist() == [0, 1]
    assert verdicts.answer[0] is None
    assert not (verdicts.correct(pool) & ~attempted).any()


@pytest.mark.parametrize("n", [None, [2]])
def test_the_shares_of_the_largest_n_add_up(n: list[int] | None) -> None:
    cal, test = sy.read_labelled(TABLE, score="none", answers="free").split(0.3, seed=3)
    table = sy.evaluate(["majority"], cal, test, n=n, resamples=20)
    last = table.row(-1, named=True)
    assert last["accuracy"] + last["incorrect"] + last["not_attempted"] == pytest.approx(1)
    assert last["not_attempted"] > 0
    assert last["accuracy_attempted"] == pytest.approx(last["accuracy"] / (1 - last["not_attempted"]))
    assert table["not_attempted"].null_count() == table.height - 1
    assert table.equals(sy.evaluate(["majority"], cal, test, n=n, resamples=20, engine="processes:1"))


def test_free_text_that_declines_is_reported_without_such_grades() -> None:
    table = TABLE.with_columns(correct=pl.col("grade") == "C").drop("grade")
    cal, test = sy.read_labelled(table, score="none", answers="free").split(0.3, seed=3)
    assert "not_attempted" in sy.evaluate(["majority"], cal, test, resamples=2).columns


def test_labels_of_exact_answers_are_reported_as_before() -> None:
    cal, test = sy.read_labelled(sy.simulate(40, 4)).split(0.5, seed=0)
    assert "not_attempted" not in sy.evaluate(["majority"], cal, test, resamples=2).columns


def test_the_command_shows_and_writes_them(tmp_path: Path) -> None:
    file = tmp_path / "graded.parquet"
    TABLE.write_parquet(file)
    shown = steelyard("evaluate", file, "--resamples", "2", "--seed", "3")
    assert shown.code == 0, shown.err
    assert "correct of attempted" in shown.out
    assert "not attempted: every response declined to answer, or the winning response was graded so." in shown.out
    rows = json.loads(steelyard("evaluate", file, "--resamples", "2", "--seed", "3", "--json").out)["rows"]
    assert rows[-1]["not_attempted"] + rows[-1]["incorrect"] + rows[-1]["accuracy"] == pytest.approx(1)


def test_the_report_says_so(tmp_path: Path) -> None:
    file = tmp_path / "graded.parquet"
    TABLE.with_columns(llm=pl.Series(["a", "b", "c", "d", "e"] * 40)).write_parquet(file)
    sy.report(file, tmp_path / "report.html", source="llm", seed=3)
    assert "not attempted: every response declined" in (tmp_path / "report.html").read_text()


def test_declining_responses_are_reported_with_the_command_that_shows_them(tmp_path: Path) -> None:
    file = tmp_path / "graded.parquet"
    TABLE.write_parquet(file)
    done = steelyard("vote", file, "--answers", "free")
    command = f"steelyard answers {file} --only-unreadable --answers free"
    assert (
        f"21.5 % of 200 responses declined to answer or are empty and cast no vote: '{command}' shows them" in done.err
    )
    shown = steelyard(*command.split()[1:])
    assert "43 of 200 responses declined to answer or are empty; the starts of the first few" in shown.out
    assert "I don't have reliable information" in shown.out
    read = steelyard("answers", file, "--answers", "free")
    for words in ("declined", "4 repeat another of their question word for word", "43 responses declined to answer"):
        assert words in read.out
