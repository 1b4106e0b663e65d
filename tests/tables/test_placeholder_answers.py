"""None, null, N/A and the like in a column of answers are no answers, unless the golds or labels say that they are."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard

WORDS = ["None", "null", "[invalid]", "N/A", "nan", "#N/A", " NONE "]


def _table(word: str, *, gold: str = "7", first: str = "7") -> pl.DataFrame:
    return pl.DataFrame(
        {
            "question": ["a"] * 5 + ["b"] * 2,
            "answer": [word] * 3 + ["7", "7", "7", "8"],
            "gold": [first] * 5 + [gold] * 2,
        }
    )


@pytest.mark.parametrize("kind", ["math", "number", "auto"])
@pytest.mark.parametrize("word", WORDS)
def test_a_placeholder_casts_no_vote_and_is_reported(word: str, kind: str) -> None:
    with pytest.warns(sy.SteelyardWarning, match="3 answers are placeholders .* answers='exact' reads them"):
        verdicts = sy.vote(_table(word), answers=kind)
    assert verdicts["answer"].to_list() == ["7", "7"]
    pool = sy.read_labelled(_table(word), score="none", answers=kind)
    assert pool.answer.tolist() == [-1, -1, -1, 0, 0, 0, 1]


def test_letters_with_a_placeholder_are_choices() -> None:
    table = pl.DataFrame({"question": ["a"] * 5, "answer": ["[invalid]"] * 3 + ["B", "B"]})
    with pytest.warns(sy.SteelyardWarning, match="3 answers are placeholders"):
        assert sy.vote(table, answers="choice")["answer"].to_list() == ["B"]


@pytest.mark.parametrize("kind", ["exact", "text", "code"])
def test_kinds_that_compare_what_is_written_keep_it(kind: str, recwarn: pytest.WarningsRecorder) -> None:
    assert sy.vote(_table("None"), answers=kind)["answer"][0] == "None"
    assert not any("stand for no answer" in str(each.message) for each in recwarn)


def test_a_gold_answer_stays_an_answer_in_a_vote_and_in_an_evaluation(recwarn: pytest.WarningsRecorder) -> None:
    table = _table("None", first="none", gold="7")
    assert sy.vote(table, answers="math")["answer"][0] == "None"
    assert sy.read_labelled(table, score="none", answers="math").correct[:3].all()
    labelled = _table("N/A").with_columns(correct=pl.col("answer") == "N/A").drop("gold")
    assert sy.vote(labelled, answers="math")["answer"][0] == "N/A"
    assert not any("stand for no answer" in str(each.message) for each in recwarn)


def test_answers_shows_placeholders_as_unreadable() -> None:
    assert sy.read_answers(_table("N/A"), answers="math").unreadable == 3


def test_parts_are_read_as_the_whole_table(tmp_path: Path) -> None:
    rows = [_table("None", first="none"), _table("N/A").with_columns(question="c" + pl.col("question"))]
    pl.concat(rows).write_csv(tmp_path / "t.csv")
    assert steelyard("partition", tmp_path / "t.csv", "-o", tmp_path / "parts", "--parts", 3).code == 0
    words = ("--answers", "math", "--engine", "processes:1")
    done = steelyard("vote", tmp_path / "parts", "-o", tmp_path / "verdicts", *words)
    assert done.code == 0, done.err
    assert done.err.count("3 answers are placeholders") == 1, done.err
    assert "--answers exact" in done.err
    verdicts = pl.read_parquet(tmp_path / "verdicts" / "*.parquet").sort("question")
    assert verdicts.select("question", "answer").rows() == [("a", "None"), ("b", "7"), ("ca", "7"), ("cb", "7")]
    read = steelyard("answers", tmp_path / "parts", "-o", tmp_path / "answers", *words)
    assert "3 responses have no readable answer" in read.out


def test_a_plan_that_chose_text_by_itself_votes_as_it_was_fitted(tmp_path: Path) -> None:
    names = ["Rome", "Paris", "Oslo", "Cairo"]
    rows = [
        {"question": str(each), "answer": answer, "gold": names[each % 4]}
        for each in range(40)
        for answer in ["N/A"] * 3 + [names[each % 4]] * 2
    ]
    table = pl.DataFrame(rows)
    with pytest.warns(sy.SteelyardWarning, match="120 answers are placeholders"):
        plan = sy.MajorityVote().fit(sy.read_labelled(table, score="none"))
    plan.save(tmp_path / "plan.json")
    with pytest.warns(sy.SteelyardWarning, match="120 answers are placeholders"):
        verdicts = sy.vote(table.drop("gold"), plan=tmp_path / "plan.json")
    assert "N/A" not in verdicts["answer"].to_list()
