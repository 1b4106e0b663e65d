"""The shapes in which new users brought their responses: each ends in verdicts, or in one line whose fix works."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import steelyard as sy
from tests.running import Done, steelyard

TEXT = "We reason for a while about what is asked here. The answer is "
QUESTIONS = ("a", "b", "c", "d")
GIVEN = ("4", "4", "5", "7")  # by the samples of each question; 4 wins
SCORES = (0.75, 0.5, 0.25, 0.125)

Rows = list[dict[str, Any]]


def rows(**names: Callable[[int], Any]) -> Rows:
    """One row per response; each name gets a function of the sample."""
    return [{name: value(i) for name, value in names.items()} | {"at": q} for q in QUESTIONS for i in range(len(GIVEN))]


def long(question: str = "question", **names: Callable[[int], Any]) -> Rows:
    return [{question: row.pop("at"), **row} for row in rows(**names)]


def wide(**columns: Any) -> Rows:
    return [{"question": q, **columns} for q in QUESTIONS]


def jsonl(content: Rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in content)


ANSWER: Any = {"answer": lambda i: GIVEN[i]}
SCORE: Any = {"score": lambda i: SCORES[i]}
STEPS = [[score] for score in SCORES]
RESPONSES = [TEXT + given for given in GIVEN]

READ: dict[str, tuple[str, str, str]] = {  # name: (file, content, what is said)
    "other names": (
        "t.jsonl",
        jsonl(long("question_id", generation=lambda i: RESPONSES[i], reward=lambda i: SCORES[i])),
        "'generation' read as 'response', 'question_id' read as 'question'",
    ),
    "prompt, completion, reward": (
        "t.jsonl",
        jsonl(long("prompt", completion=lambda i: RESPONSES[i], reward=lambda i: SCORES[i])),
        "'completion' read as 'response', 'prompt' read as 'question'",
    ),
    "nested lists": ("t.jsonl", jsonl(wide(completions=RESPONSES, scores=SCORES)), "4 questions, 4 responses per"),
    "lists of numbers": ("t.jsonl", jsonl(wide(answers=[int(g) for g in GIVEN], scores=SCORES)), "from 'answers'"),
    "nested lists with the gold as answer": (
        "t.jsonl",
        jsonl(wide(completions=RESPONSES, scores=SCORES, answer="5")),
        "'answer' read as 'gold'",
    ),
    "RLHFlow": (
        "t.jsonl",
        jsonl([{"prompt": q, "answers": RESPONSES, "label": [1, 1, 0, 0], "step_scores": STEPS} for q in QUESTIONS]),
        "'label' read as 'correct'",
    ),
    "semicolons and decimal commas": (
        "t.csv",
        "question;answer;score\n" + "".join(f"{q};4;0,75\n{q};4;0,5\n{q};5;1\n" for q in QUESTIONS),
        "",
    ),
    "byte order mark and CRLF": (
        "t.csv",
        "\ufeffquestion,answer,score\r\n" + "".join(f"{q},4,0.75\r\n{q},5,0.5\r\n" for q in QUESTIONS),
        "",
    ),
    "a judge that says 0 or 1": ("t.jsonl", jsonl(long(**ANSWER, judge=lambda i: i % 2)), "the score is 'judge'"),
    "steps as JSON strings": ("t.jsonl", jsonl(long(**ANSWER, prm=lambda i: json.dumps([SCORES[i], 0.5]))), ""),
    "a struct of scores": ("t.jsonl", jsonl(long(**ANSWER, scores=lambda i: {"prm": SCORES[i]})), ""),
    "numbered columns": (
        "t.csv",
        "id,answer_1,answer_2,answer_3,answer_4,score_1,score_2,score_3,score_4\n"
        + "".join(f"{q},4,4,5,7,0.75,0.5,0.25,0.125\n" for q in QUESTIONS),
        "numbered columns: 4 questions, 4 responses per question",
    ),
    "json": ("t.json", json.dumps(long(**ANSWER, **SCORE)), ""),
    "json that holds a list": ("t.json", json.dumps({"model": "m", "data": long(**ANSWER, **SCORE)}), ""),
    "json by columns": (
        "t.json", json.dumps({"question": [*QUESTIONS] * 2, "answer": ["4"] * 8, "score": SCORES * 2}), "",
    ),
    "json as pandas writes it": ("t.json", pd.DataFrame(long(**ANSWER, **SCORE)).to_json(), ""),
    "json lines called json": ("t.json", jsonl(long(**ANSWER, **SCORE)), ""),
    "two LLMs": (
        "t.jsonl",
        jsonl([{**row, "llm": llm} for row in long(**ANSWER, **SCORE) for llm in ("m", "n")]),
        "",
    ),
}  # fmt: skip

FIXED: dict[str, tuple[Rows, str]] = {  # name: (rows, what is said)
    "scores to 100": (long(**ANSWER, score=lambda i: 100.0 - i), "if these are percent"),
    "scores from 1 to 9": (long(**ANSWER, score=lambda i: 9 - 2 * i), "if a rating from 1 to 9"),
    "logits": (long(**ANSWER, score=lambda i: 3.5 - 2 * i), "if logits"),
    "several scores": (long(**ANSWER, prm=lambda i: SCORES[i], orm=lambda i: SCORES[i]), "could be the score"),
    "two columns of responses": (
        long(output=lambda i: RESPONSES[i], generation=lambda i: RESPONSES[i], **SCORE),
        "several columns could be 'response': output, generation",
    ),
    "lists and one response": (wide(completions=RESPONSES, scores=SCORES, response="It is 4"), "--layout wide"),
    "lists by an unknown name": (wide(answer="5", tries=RESPONSES, scores=SCORES), "--rename tries=response"),
    "the gold beside the responses": (
        long(answer=lambda _: "5", response=lambda i: RESPONSES[i], **SCORE),
        "'answer' is the same for all responses of each question",
    ),
}  # fmt: skip


def voted(path: Path, *words: str) -> Done:
    return steelyard("vote", path, "--method", "vanilla", "--json", *words)


def winners(done: Done) -> set[str]:
    assert done.code == 0, done.err
    verdicts = json.loads(done.out)["verdicts"]
    assert len(verdicts) == len(QUESTIONS)
    return {verdict["answer"] for verdict in verdicts}


@pytest.mark.parametrize("shape", READ)
def test_a_shape_is_read_and_what_was_recognised_is_said(tmp_path: Path, shape: str) -> None:
    name, content, said = READ[shape]
    (tmp_path / name).write_text(content, newline="")
    done = voted(tmp_path / name)
    assert winners(done) == {"4"}
    assert said in done.err
    assert said or "read as" not in done.err


@pytest.mark.parametrize("shape", FIXED)
def test_every_fix_that_is_offered_works_when_it_is_pasted(tmp_path: Path, shape: str) -> None:
    content, said = FIXED[shape]
    path = tmp_path / "t.jsonl"
    path.write_text(jsonl(content))
    done = voted(path)
    assert (done.code, done.err.count("error:")) == (2, 1)
    assert said in done.err
    fixes = [shlex.split(fix) for fix in re.findall(r"--(?:score|rename|layout) (?:'[^']*'|[\w=/+-]+)", done.err)]
    if not fixes:  # a list of columns to choose from
        fixes = [["--score", name] for name in done.err.rpartition(":")[2].strip().split(", ")]
    for fix in fixes:
        after = voted(path, *fix)
        if fix == ["--layout", "long"] and "scores" in content[0]:  # then the lists are steps of its one response
            assert "every question has one response" in after.err
        else:
            assert winners(after) in ({"4"}, {"5"} if fix == ["--layout", "long"] else {"4"}), fix


def test_lists_of_different_length_are_refused_with_the_row_and_read_once_they_are_filled_up(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    content = wide(completions=RESPONSES, scores=list(SCORES))
    content[2] = content[2] | {"scores": [0.75, 0.5]}
    path.write_text(jsonl(content))
    done = voted(path)
    assert done.code == 2
    assert "row 3 has 4 entries in 'completions' and 2 in 'scores'" in done.err
    content[2]["scores"] += [None, None]
    path.write_text(jsonl(content))
    assert winners(voted(path)) == {"4"}


def test_all_columns_that_are_missing_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(jsonl([{"quest": "a", "said": "4"}]))
    done = voted(path)
    assert done.code == 2
    assert "no column 'question'" in done.err
    assert "no column 'answer'" in done.err
    pl.DataFrame([{"quest": q, "said": "4", "score": 0.5} for q in [*QUESTIONS] * 2]).write_ndjson(path)
    assert winners(voted(path, "--rename", "quest=question,said=answer")) == {"4"}


def test_the_fix_of_a_range_is_that_of_the_whole_file_whatever_its_first_rows_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.tables.row_order.BATCH", len(GIVEN))
    path = tmp_path / "t.jsonl"
    content = long(**ANSWER, judge=lambda i: 5 - i, other=lambda i: SCORES[i])
    content[-1]["judge"] = 90  # in the last batch
    path.write_text(jsonl(content))
    done = voted(path, "--score", "judge")
    assert "judge runs from 2 to 90, outside [0, 1]: if these are percent, read them with" in done.err
    fix = re.findall(r"--score ([^ ;]*)", done.err)[0]
    assert fix == "judge/100"
    assert sy.read(path, score=fix).n_responses == len(content)
    mixed = voted(path, "--score", "judge+other")
    assert mixed.code == 0
    assert "judge (2 to 90) is outside [0, 1]: the scores are mixed by their ranks" in mixed.err


def test_a_wide_table_says_which_columns_it_does_not_use(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(jsonl(wide(completions=RESPONSES, scores=SCORES, difficulty=0.5, level=3, year="1999")))
    done = voted(path)
    assert winners(done) == {"4"}
    assert "not used: 'difficulty', 'level', 'year'" in done.err
    assert "not used" not in voted(_plain_wide(tmp_path)).err


def _plain_wide(folder: Path) -> Path:
    path = folder / "plain.jsonl"
    path.write_text(jsonl(wide(completions=RESPONSES, scores=SCORES)))
    return path


@pytest.mark.parametrize(
    "values",
    [(1, {}), (0.5, {"a": 1}), ({"a": "t"}, 1), ({"a": 1}, {"a": {"b": 2}}), ([1, {}], [{}]), ({}, True)],
    ids=str,
)
@pytest.mark.parametrize("name", ["t.jsonl", "t.json"])
def test_values_that_no_column_can_hold_together_are_kept_as_text(
    tmp_path: Path, values: tuple[Any, Any], name: str
) -> None:
    content = [{"question": "a", "answer": "4", "more": value} for value in values]
    (tmp_path / name).write_text(jsonl(content) if name == "t.jsonl" else json.dumps(content))
    kept = sy.import_table(tmp_path / name, layout="long")["more"].to_list()
    texts = [each if isinstance(each, str) else f"[{', '.join(each)}]" for each in kept]
    assert [json.loads(text) for text in texts] == list(values)
