"""Files of free text: which text is compared, labels per response, the user's own column, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.errors import ColumnError, LabelError, SettingError, TableError
from tests.building import labelled
from tests.running import steelyard

TEXTS = ["It was **Paris**, of course.", "The capital is Paris.", "I believe it is Rome.", "I don't know."]


def table(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame({"question": ["a"] * len(TEXTS), "response": TEXTS, **columns})


def test_like_responses_vote_for_each_other_and_the_verdict_is_an_original_response() -> None:
    pool = sy.read(table(prompt=["What is the capital?"] * 4), answers="free", score="none")
    verdicts = sy.MajorityVote().predict(pool)
    assert verdicts.answer.tolist() == [TEXTS[0]]
    assert verdicts.votes.tolist() == [2]
    assert verdicts.cast.tolist() == [3], "the response that declines casts no vote"


def test_the_words_of_the_prompt_do_not_make_responses_alike() -> None:
    rows = pl.DataFrame({"question": ["a"] * 2, "response": ["The tall tower is red.", "The tall tower is blue."]})
    alike = {}
    for prompt in (None, "What colour is the tall tower?"):
        given = rows if prompt is None else rows.with_columns(prompt=pl.lit(prompt))
        pool = sy.read(given, answers="free", score="none")
        assert pool.similarity is not None
        alike[prompt] = float(pool.similarity.block(0, 2)[0, 1])
    assert alike[None] > 0.4
    assert alike["What colour is the tall tower?"] == 0


def test_thoughts_are_not_compared_and_not_shown() -> None:
    rows = pl.DataFrame({"question": ["a", "a"], "response": ["<think>Rome? No.</think>Paris.", "Paris."]})
    pool = sy.read(rows, answers="free", score="none")
    assert sy.MajorityVote().predict(pool).answer.tolist() == ["Paris."]
    assert pool.width.tolist() == [1]


def test_labels_are_those_of_each_response() -> None:
    pool = labelled(table(correct=[True, False, False, False]), answers="free", score="none")
    assert pool.correct.tolist() == [True, False, False, False], "like texts may be graded differently"
    assert labelled(table(grade=["C", "I", "I", "N"]), answers="free", score="none").correct.sum() == 1


def test_a_grade_is_a_label_also_beside_a_gold_answer() -> None:
    pool = labelled(table(grade=["C", "C", "I", "N"], gold=["Paris"] * 4), answers="free", score="none")
    assert pool.correct.tolist() == [True, True, False, False]


def test_gold_answers_alone_cannot_label_free_text() -> None:
    with pytest.raises(LabelError, match="label every response in a column 'correct' or 'grade'"):
        sy.read(table(gold=["Paris"] * 4), answers="free", score="none")


def test_outputs_of_code_vote_by_the_share_of_equal_entries() -> None:
    code = ["def f(x): return x", "def f(y): return y", "def f(x): return 2 * x", "def f(x): crash"]
    outputs = [[1, 2, 3, 4], [1, 2, 3, 4], [2, 2, 3, 4], None]
    rows = pl.DataFrame({"question": ["a"] * 4, "response": code, "outputs": outputs})
    pool = sy.read(rows, answers="free:column:outputs", score="none")
    assert pool.similarity is not None
    assert pool.width.tolist() == [2], "programs with the same outputs are one answer"
    assert float(pool.similarity.block(0, 2)[0, 1]) == 0.75
    verdicts = sy.MajorityVote().predict(pool)
    assert verdicts.answer.tolist() == [code[0]]
    assert (verdicts.votes.tolist(), verdicts.cast.tolist()) == ([3], [3])


def test_tool_calls_get_credit_for_equal_leaves() -> None:
    calls = [json.dumps([{"name": "f", "arguments": {"x": x, "y": y}}]) for x, y in ((1, 2), (1, 3), (9, 8))]
    pool = sy.read(pl.DataFrame({"question": ["a"] * 3, "answer": calls}), answers="free:json", score="none")
    assert pool.similarity is not None
    block = pool.similarity.block(0, 3)
    assert 0 < block[0, 2] < block[0, 1] < 1
    assert sy.MajorityVote().predict(pool).answer.tolist() == [calls[0]]


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("free:tokenz", SettingError, "tokens"),
        ("free:column", SettingError, "free:column:NAME"),
        ("free:json:x", SettingError, "free:column:NAME"),
        ("free:column:output", ColumnError, "no column 'output'"),
        ("free:cosine:number", ColumnError, "not vectors"),
    ],
)
def test_a_similarity_that_does_not_exist_is_one_line(kind: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sy.read(table(number=[1.0] * 4), answers=kind, score="none")


def test_very_many_different_responses_to_a_question_are_refused_with_the_fix() -> None:
    rows = pl.DataFrame({"question": "a", "response": [f"text {i}" for i in range(4100)]})
    with pytest.raises(TableError, match=r"4,100 different responses.*keep at most 4,096 per question in the file"):
        sy.read(rows, answers="free", score="none")


def test_a_pool_is_refused_before_its_similarities_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"text {i}" for i in range(200)]
    rows = pl.DataFrame({"question": [f"q{i // 10}" for i in range(200)], "response": texts})
    monkeypatch.setattr("steelyard.tables.row_order.BATCH_OF_TEXT", 50)
    monkeypatch.setattr("steelyard.tables.compared_texts.MOST_PAIRS", 1000)
    with pytest.raises(TableError, match="more than 1,000 pairs of responses"):
        sy.read(rows, answers="free", score="none")
    assert sy.vote(rows, answers="free").height == 20


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue", "old", "new", "tall", "short", "wide", "town", "village", "river"])
    texts = [" ".join(rng.choice(words, 4)) for _ in range(300)]
    rows = pl.DataFrame({"question": [f"q{i // 6}" for i in range(300)], "response": texts})
    whole = sy.vote(rows, answers="free")
    monkeypatch.setattr("steelyard.tables.row_order.BATCH_OF_TEXT", 7)
    assert sy.vote(rows, answers="free").equals(whole)


def test_a_plan_for_free_text_reads_the_next_file_as_free_text(tmp_path: Path) -> None:
    from tests.docs.example_files import graded

    graded(tmp_path)
    graded(tmp_path, "new.jsonl", labels=False)
    plan, verdicts = tmp_path / "plan.json", tmp_path / "verdicts.parquet"
    done = steelyard("fit", tmp_path / "graded.jsonl", "--answers", "free", "--source", "llm", "-o", plan)
    assert done.code == 0, done.err
    done = steelyard("vote", tmp_path / "new.jsonl", "--plan", plan, "-o", verdicts)
    assert done.code == 0, done.err
    texts = pl.read_ndjson(tmp_path / "new.jsonl")["response"]
    assert set(pl.read_parquet(verdicts)["answer"]) <= set(texts)


def scored(folder: Path) -> Path:
    """Six graded samples of one LLM per question, with a score that tells correct from incorrect ones."""
    rng = np.random.default_rng(0)
    right = rng.random(240) < 0.6
    rows = pl.DataFrame(
        {
            "question": [f"q{i // 6}" for i in range(240)],
            "response": [f"It is town {i // 6}" if r else f"Maybe village {i % 5} there" for i, r in enumerate(right)],
            "prm": np.clip(0.4 * right + 0.3 + rng.normal(0, 0.15, 240), 0, 1),
            "correct": right,
        }
    )
    rows.write_parquet(folder / "scored.parquet")
    return folder / "scored.parquet"


def test_the_report_compares_the_methods_that_vote_on_free_text(tmp_path: Path) -> None:
    done = steelyard("report", scored(tmp_path), "--answers", "free", "-o", tmp_path / "report.html")
    assert done.code == 0, done.err
    assert "calibrated" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    "words",
    [("evaluate", "--frugal", "exact"), ("plan-budget", "--price", "sample=1,score=0.5", "--budget", "3")],
    ids=lambda words: words[0],
)
def test_scoring_on_demand_refuses_free_text_in_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    verb, *options = words
    output = ("-o", tmp_path / "plan.json") if verb == "plan-budget" else ()
    done = steelyard(verb, scored(tmp_path), "--answers", "free", *options, *output)
    assert done.code == 2
    assert "compares equal answers, and these are free text" in done.err


def test_an_answer_that_declines_casts_no_vote() -> None:
    rows = pl.DataFrame({"question": ["a"] * 4, "answer": ["I don't know the answer."] * 3 + ["Paris"]})
    assert sy.vote(rows, answers="free")["answer"].to_list() == ["Paris"]


def test_words_between_which_a_prompt_lets_choose_are_compared() -> None:
    texts = ["I believe Paris is larger.", *["I believe Rome is larger."] * 4]
    rows = pl.DataFrame({"question": ["a"] * 5, "response": texts, "prompt": "Which is larger, Paris or Rome?"})
    verdict = sy.vote(rows, answers="free").row(0, named=True)
    assert (verdict["answer"], verdict["votes"]) == (texts[1], 4)


@pytest.mark.parametrize("column", ["correct", "grade"])
def test_labels_are_not_compared(column: str) -> None:
    with pytest.raises(ColumnError, match="has labels, which must not decide a vote"):
        sy.read(table(correct=[True, False, False, False], grade=list("CIIN")), answers=f"free:column:{column}")


def test_a_file_in_which_every_response_declines_teaches_nothing(tmp_path: Path) -> None:
    rows = [{"question": f"q{i // 3}", "response": TEXTS[3], "prm": 0.5, "correct": False} for i in range(90)]
    (tmp_path / "silent.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = steelyard("fit", tmp_path / "silent.jsonl", "--answers", "free", "-o", tmp_path / "plan.json")
    assert done.code == 2
    assert "no response has a readable answer" in done.err


def test_a_verdict_names_the_llm_and_the_sample_of_the_response_that_won(tmp_path: Path) -> None:
    rows = table(llm=["one", "two", "two", "one"], sample=[7, 7, 8, 8])
    by_source = sy.vote(rows, answers="free", source="llm", method="majority")
    assert by_source.select("answer", "source", "sample").row(0) == (TEXTS[0], "one", 7)
    without = sy.vote(rows.drop("sample", "llm"), answers="free")
    assert without.select("source", "sample").row(0) == (None, 0)
    only = sy.vote(rows.drop("sample").with_columns(llm=pl.lit("one")), answers="free")
    assert only.select("source", "sample").row(0) == ("one", 0)
    silent = sy.vote(rows.with_columns(response=pl.lit("I don't know.")), answers="free", source="llm")
    assert silent.select("answer", "source", "sample").row(0) == (None, None, None)
    rows.write_parquet(tmp_path / "rows.parquet")
    command = ("vote", tmp_path / "rows.parquet", "--answers", "free", "--source", "llm", "--method", "majority")
    assert json.loads(steelyard(*command, "--json").out)["verdicts"] == by_source.to_dicts()
    for _ in range(2):  # the second replaces the first
        assert steelyard(*command, "-o", tmp_path / "verdicts.csv").code == 0
    assert pl.read_csv(tmp_path / "verdicts.csv")["source"].to_list() == ["one"]
    assert "source" not in sy.vote(rows, answers="text", source="llm", method="majority").columns


def test_a_part_of_the_samples_keeps_their_numbers() -> None:
    rows = table(sample=[5, 3, 9, 1])
    verdicts = sy.vote(rows, answers="free", n=2)  # samples 1, which declines, and 3
    assert verdicts.select("answer", "sample").row(0) == (TEXTS[1], 3)
