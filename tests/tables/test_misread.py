"""Files that were once read wrongly in silence: each is now read as a careful person would, or refused with a fix."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.foundation.errors import ColumnError, ScoreError, TableError
from tests.running import steelyard


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_thousands_in_a_csv_file_are_no_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('question_id,pred,n\n1,"1,234","1,500"\n1,1234,"2,500"\n1,1.234,"9,000"\n')
    verdicts = sy.vote(path, method="majority", score="none")
    assert verdicts.select("answer", "votes").rows() == [("1,234", 2)]
    with pytest.raises(ColumnError, match="'n' contains String, not numbers"):
        sy.read(path, score="n")


def test_decimal_commas_of_three_digits_are_numbers_where_others_show_it(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("question;answer;score\n1;a;0,125\n1;b;1,000\n1;c;0,5\n")
    scores = sy.read(path).scores
    assert scores is not None
    assert scores.tolist() == [0.125, 1.0, 0.5]


@pytest.mark.parametrize(("a", "b"), [("007", "7"), ("1.10", "1.1"), ("1e3", "1000")])
def test_ids_in_a_csv_file_are_text_whatever_their_column_is_called(tmp_path: Path, a: str, b: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"qid,answer,score\n{a},1,0.5\n{b},2,0.5\n")
    assert list(sy.read(path).questions) == [a, b]


def test_a_csv_file_with_two_columns_of_one_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("question,answer,answer,score\n1,a,b,0.5\n")
    with pytest.raises(TableError, match="has two columns 'answer': remove or rename one"):
        sy.read(path)


@pytest.mark.parametrize("names", [("problem", "completion"), ("question_id", "output"), ("question", "response")])
@pytest.mark.parametrize("numbers", [True, False])
def test_a_gold_answer_never_votes_alone_whatever_the_other_columns_are_called(
    tmp_path: Path, names: tuple[str, str], numbers: bool
) -> None:
    question, response = names
    gold = range(10, 14) if numbers else "abcd"
    path = lines(
        tmp_path / "table.jsonl",
        *(
            {
                question: f"q{q}",
                response: f"so \\boxed{{{s}}}",
                "answer": gold[q],
                "score": 0.5,
            }
            for q in range(4)
            for s in range(3)
        ),
    )
    refused = steelyard("vote", path, "--method", "majority")
    assert refused.code == 2
    assert "read it with --rename answer=gold" in refused.err
    mended = steelyard("vote", path, "--method", "majority", "--rename", "answer=gold")
    assert mended.code == 0
    assert "33.3" in mended.out


def test_a_gold_answer_is_known_by_labels_that_differ_for_it(tmp_path: Path) -> None:
    rows = [
        {"question": q, "response": f"\\boxed{{{s}}}", "answer": f"{q + 10}", "correct": s == 1, "score": 0.5}
        for q in range(4)
        for s in range(3)
    ]
    with pytest.raises(ColumnError, match="'answer' is the same for all responses of each question"):
        sy.read(lines(tmp_path / "table.jsonl", *rows))


@pytest.mark.parametrize("name", ["loss", "temperature", "latency_s", "error_rate", "total_cost", "top_p"])
def test_numbers_that_are_no_scores_are_not_taken_for_one_by_themselves(tmp_path: Path, name: str) -> None:
    path = lines(tmp_path / "table.jsonl", *({"question": 1, "answer": a, name: 0.5} for a in "ab"))
    with pytest.raises(ScoreError, match=f"the only column of numbers is '{name}'"):
        sy.read(path)
    scores = sy.read(path, score=name).scores
    assert scores is not None
    assert scores.tolist() == [0.5, 0.5]


def test_an_id_that_numbers_the_rows_is_not_the_question_whatever_it_is_called(tmp_path: Path) -> None:
    rows = [
        {"question_id": 3 * q + s, "prompt": f"p{q}", "completion": f"\\boxed{{{s}}}", "score": 0.5}
        for q in range(4)
        for s in range(3)
    ]
    pool = sy.read(lines(tmp_path / "table.jsonl", *rows))
    assert list(pool.questions) == ["p0", "p1", "p2", "p3"]


def test_a_label_that_is_the_same_for_all_answers_of_a_question_is_no_label_of_answers(tmp_path: Path) -> None:
    """It is the class that a question belongs to: 1 for yes, 0 for no."""
    rows = [{"question": q, "answer": a, "score": 0.5, "label": q % 2} for q in range(10) for a in ("yes", "no")]
    with pytest.raises(ColumnError, match="'label' is the same for different answers of each question"):
        sy.read(lines(tmp_path / "table.jsonl", *rows))
    rows[0]["label"] = 1
    assert sy.read(lines(tmp_path / "other.jsonl", *rows)).n_questions == 10


def test_a_gold_answer_that_stands_twice_does_not_vote(tmp_path: Path) -> None:
    rows = [
        {"question": q, "response": f"The answer is {q + i % 2}.", "answer": str(q), "gold": str(q)}
        for q in range(10, 16)
        for i in range(4)
    ]
    path = lines(tmp_path / "table.jsonl", *rows)
    refused = steelyard("vote", path)
    assert refused.code == 2
    assert "'answer' is the gold answer in every row" in refused.err
    assert steelyard("vote", path, "--rename", "answer=reference").code == 0
    perfect = lines(tmp_path / "perfect.jsonl", *(row | {"response": f"It is {row['answer']}."} for row in rows))
    assert steelyard("vote", perfect).code == 0
