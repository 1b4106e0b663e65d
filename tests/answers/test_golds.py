"""Gold answers go through extraction too, and may be lists of accepted answers."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.answers.extract import check_kind
from tests.running import steelyard


def labels(answers: list[str | None], gold: object, kind: str = "math", column: str = "answer") -> list[bool]:
    table = pl.DataFrame({"question": ["a"] * len(answers), column: answers, "gold": [gold] * len(answers)})
    pool = sy.read(table, score="none", answers=kind)
    assert isinstance(pool, sy.LabelledPool)
    return [bool(each) for each in pool.correct]


@pytest.mark.parametrize(
    "gold",
    [
        "42",
        "He has 6 * 7 = <<6*7=42>>42 of them.\n#### 42",
        "So there are $\\boxed{42}$ of them, not 41.",
        "<think>41</think> The answer is 42.",
        "Final Answer: The final answer is $42$. I hope it is correct.",
        '["42", "forty-two"]',
        ["41 + 1", "forty-two"],
    ],
)
def test_a_gold_answer_may_be_a_worked_solution_or_a_list(gold: object) -> None:
    assert labels(["42", "42.0", "41", None], gold) == [True, True, False, False]


def test_every_item_of_a_list_of_golds_is_accepted_and_a_list_of_numbers_is_one_answer() -> None:
    assert labels(["NYC", "the new york!", "Boston"], '["NYC", "New York"]', "text") == [True, True, False]
    assert labels(["[1, 2]", "1", "2"], "[1, 2]") == [True, False, False]
    assert labels(["['a', 'b']", "'a'"], '["a", "b"]', "code") == [True, False]


@pytest.mark.parametrize("gold", ["B", "(B)", "b", "B) Rome", "B. Rome", "\\boxed{B}", "The answer is (B)."])
def test_the_letter_of_an_option_is_gold_in_every_spelling(gold: str) -> None:
    responses: list[str | None] = ["The correct option is B", "B) Rome", "I choose A because", "<answer>b</answer>"]
    assert labels(responses, gold, "choice", "response") == [True, True, False, True]


def test_the_text_of_an_option_is_gold_for_responses_in_words_and_refused_for_letters() -> None:
    responses: list[str | None] = ["The answer is Rome.", "Answer: Paris", "B"]
    assert labels(responses[:2], "rome", "choice", "response") == [True, False]
    assert labels(responses, "B) Rome", "choice", "response") == [True, False, True]
    with pytest.raises(sy.errors.LabelError, match=r"1 gold answers are words, the first 'Rome'.*'B\) Rome'"):
        labels(["B", "A"], "Rome", "choice")


def test_a_per_cent_is_the_bare_number_only_where_its_question_has_one() -> None:
    table = pl.DataFrame(
        {
            "question": ["a"] * 4 + ["b"] * 3 + ["c"] * 4,
            "answer": ["10\\%", "10", "10 percent", "11", "50%", "0.5", "1/2", "10%", "0.1", "10", "1000%"],
        }
    )
    pool = sy.read(table, score="none")
    assert pool.answer.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0]
    turned = sy.read(table.reverse(), score="none")
    assert sorted(turned.width.tolist()) == sorted(pool.width.tolist())


@pytest.mark.parametrize(
    ("gold", "correct"),
    [("10", [True, True, True, False]), ("10\\%", [True, True, False, True]), ("0.1", [True, False, False, True])],
)
def test_labels_accept_a_per_cent_for_its_value_and_for_its_bare_number(gold: str, correct: list[bool]) -> None:
    assert [labels([answer, "7"], gold)[0] for answer in ("10%", "10", "1000%", "1/10")] == correct


@pytest.mark.parametrize(
    ("golds", "kind", "why"),
    [
        (["B", "(C)", "A", "D."], "choice", "letters"),
        (["42", "\\frac{1}{2}", "B"], "math", "golds are 2 numbers or maths, 1 letters"),
        (["steps\n#### 42", "more\n#### 7"], "math", "numbers"),
        (["Paris", "William Shakespeare", "the Nile"], "text", "words"),
        (["'abc'", "['a', 1]", "{'k': 2}", "True"], "code", "Python values"),
        (['{"a": 1}', '{"b": [2]}'], "json", "JSON objects"),
        (["[1, 2]", "(0, 1)"], "math", "maths"),
    ],
)
def test_answers_shows_the_kind_and_its_reason(golds: list[str], kind: str, why: str, tmp_path: Path) -> None:
    rows = [(f"q{i}", gold, f"The answer is {gold}") for i, gold in enumerate(golds) for _ in range(2)]
    table = pl.DataFrame(rows, schema=["question", "gold", "response"], orient="row")
    sy.write(table, tmp_path / "t.parquet")
    done = steelyard("answers", tmp_path / "t.parquet")
    assert done.code == 0, done.err
    assert done.out.startswith(f"{kind}: ")
    assert why in done.out.splitlines()[0]
    reported = [line for line in done.err.splitlines() if "answers are read as" in line]
    doubtful = kind == "math" and "letters" in why
    assert len(reported) == (kind != "math" or doubtful), done.err
    assert all(line.startswith("warning: ") == doubtful and f"as {kind}: " in line for line in reported)


def test_auto_needs_a_table() -> None:
    with pytest.raises(sy.SettingError, match="'auto' chooses the kind from a table of responses"):
        check_kind("auto")


def test_verbs_tell_the_share_of_unreadable_answers_and_the_command_that_shows_them(tmp_path: Path) -> None:
    responses = ["\\boxed{1}"] * 18 + ["no idea", "none"]
    file = tmp_path / "t.parquet"
    sy.write(pl.DataFrame({"question": ["a", "b"] * 10, "response": responses, "gold": ["1"] * 20}), file)
    done = steelyard("vote", file)
    assert "warning: 10.0 % of 20 responses have no readable answer and cast no vote: " in done.err
    assert f"'steelyard answers {file} --only-unreadable'" in done.err
    shown = steelyard("answers", file, "--only-unreadable", "-o", tmp_path / "lost.parquet")
    assert (shown.code, "2 of 20 responses have no readable answer" in shown.out) == (0, True), shown.err
    assert "no idea" in shown.out
    assert pl.read_parquet(tmp_path / "lost.parquet")["response"].to_list() == ["no idea", "none"]
    assert '"end": "no idea"' in steelyard("answers", file, "--only-unreadable", "--json").out


def test_a_few_unreadable_answers_are_told_without_a_warning(tmp_path: Path) -> None:
    responses = ["\\boxed{1}"] * 39 + ["no idea"]
    file = tmp_path / "t.parquet"
    sy.write(pl.DataFrame({"question": ["a", "b"] * 20, "response": responses}), file)
    done = steelyard("vote", file)
    assert "2.5 % of 40 responses have no readable answer and cast no vote\n" in done.out
    assert done.err == ""
    assert "no readable answer" not in steelyard("vote", file, "--json").out


@pytest.mark.parametrize("name", ["gold", "targets", "ground_truth", "accepted_answers"])
@pytest.mark.parametrize("wide", [True, False], ids=["wide", "long"])
def test_a_list_of_accepted_answers_labels_by_any_of_them_in_both_layouts(name: str, wide: bool) -> None:
    said = ["It is NYC.", "It is New York", "It is Rome"]
    golds = {name: ["NYC", "New York"]}
    rows = [{"question": "a", "completions": said, **golds}]
    rows = rows if wide else [{"question": "a", "completion": text, **golds} for text in said]
    pool = sy.read_labelled(rows, score="none", answers=r"re:It is ([\w ]+)")
    assert pool.correct.tolist() == [True, True, False]


def test_a_gold_list_does_not_take_the_place_of_the_answer_beside_it() -> None:
    rows = [{"question": "a", "completions": ["It is 4", "It is 5"], "answer": "4", "references": ["5", "6"]}]
    assert sy.read_labelled(rows, score="none").correct.tolist() == [True, False]


def test_what_a_per_cent_is_depends_on_the_answers_beside_it_everywhere_alike(tmp_path: Path) -> None:
    answers = {"a": ["50%", "50", "0.5"], "b": ["50%", "0.5"], "c": [r"10\%", "10", "10%"]}
    rows = pl.DataFrame([{"question": q, "answer": each} for q, given in answers.items() for each in given])
    sy.write(rows, tmp_path / "t.jsonl")
    votes = dict(sy.vote(tmp_path / "t.jsonl").select("question", "votes").iter_rows())
    shown = sy.read_answers(tmp_path / "t.jsonl").table
    for question, given in answers.items():
        classes = sy.group_answers(given)
        keys = shown.filter(pl.col("question") == question)["same_as"].to_list()
        assert classes == [list(dict.fromkeys(keys)).index(key) for key in keys]
        assert votes[question] == max(map(classes.count, classes))
    assert sy.group_answers(answers["a"]) == [0, 0, 1]
    assert sy.same_answer("50%", "50")
    assert sy.same_answer("50%", "0.5")
    assert not sy.same_answer("50", "0.5")


def test_halves_of_surrogate_pairs_are_answers_like_any_other() -> None:
    assert sy.group_answers(["\ud800", "7", "7.0"])[1:] == [1, 1]
