"""A plan says how answers are read: its own kind and columns, in every verb and in Python."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from tests.running import make_plan, steelyard


def letters(questions: int, *, gold: bool = True, seed: int = 0) -> pl.DataFrame:
    """Responses that choose a letter and then name a number, which is the same for all: as maths it would win."""
    rows = []
    for i in range(questions):
        right = "ABCD"[(i + seed) % 4]
        for sample in range(6):
            good = (i * 7 + sample * 3 + seed) % 5 > 1
            letter = right if good else "ABCD"[(i + sample) % 4]
            score = 0.2 + 0.1 * ((i + sample) % 3) + (0.4 if letter == right else 0)
            rows.append((f"q{i}", sample, right, f"Answer: {letter}. There are 12 of them.", score))
    table = pl.DataFrame(rows, schema=["question", "sample", "gold", "response", "score"], orient="row")
    return table if gold else table.drop("gold")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, a table without gold, and the plan that was fitted on the first."""
    folder = tmp_path_factory.mktemp("fitted")
    sy.write(letters(60), folder / "tr.jsonl")
    sy.write(letters(20, gold=False, seed=1), folder / "te.jsonl")
    done = steelyard("fit", folder / "tr.jsonl", "--answers", "choice", "-o", folder / "plan.json")
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def plan(fitted: Path, tmp_path: Path) -> Path:
    """The plan in a copy of the folder, which a test may change."""
    return shutil.copytree(fitted, tmp_path / "copy") / "plan.json"


def without_kind(plan: Path) -> Path:
    content = json.loads(plan.read_text())
    del content["fitted_on"]["answers"]
    older = plan.with_name("older.json")
    older.write_text(json.dumps(content))
    return older


def test_a_plan_stores_the_kind_and_votes_by_it(plan: Path) -> None:
    assert json.loads(plan.read_text())["fitted_on"]["answers"] == "choice"
    te = plan.with_name("te.jsonl")
    done = steelyard("vote", te, "--plan", plan, "-o", plan.with_name("v.parquet"))
    assert done.code == 0, done.err
    assert set(pl.read_parquet(plan.with_name("v.parquet"))["answer"]) <= set("ABCD")
    assert set(sy.vote(te, plan)["answer"]) <= set("ABCD")
    assert set(sy.vote(te, sy.load(plan), answers="choice")["answer"]) <= set("ABCD")


def test_another_kind_is_refused_in_one_line(plan: Path) -> None:
    te = plan.with_name("te.jsonl")
    done = steelyard("vote", te, "--plan", plan, "--answers", "math")
    assert done.code == 2
    assert "the plan was fitted on answers of the kind 'choice', not 'math'" in done.err
    assert len(done.err.splitlines()) == 1
    with pytest.raises(sy.PlanError, match="fitted on answers of the kind 'choice', not 'math'"):
        sy.vote(te, plan, answers="math")
    with pytest.raises(sy.PlanError, match="the table was read with 'math': read it with answers='choice'"):
        sy.load(plan).predict(sy.read(te, answers="math"))
    with pytest.raises(sy.PlanError, match="of the kind 'choice', not 'math'"):
        sy.Ballot(plan, answers="math")


def test_ask_refuses_a_prompt_for_another_kind_than_the_plan_s(plan: Path) -> None:
    sy.write(letters(60).rename({"score": "self_logprob"}), plan.with_name("own.jsonl"))
    words = ("--answers", "text", "--score", "self_logprob", "-o", plan.with_name("own.json"))
    assert make_plan(plan.with_name("own.jsonl"), *words).code == 0
    asked = ("ask", "1 + 1?", "--upstream", "http://127.0.0.1:9", "--model", "m", "--plan", plan.with_name("own.json"))
    done = steelyard(*asked, "--prompt", "choice")
    assert (done.code, "answers of the kind 'text', not 'choice'" in done.err) == (2, True), done.err


def test_a_ballot_groups_answers_as_its_plan_does(plan: Path) -> None:
    with sy.Ballot(plan) as ballot:
        ballot.add("(b)", 0.5)
        assert ballot.add("B", 0.5).votes == 2


def test_a_plan_of_before_is_noted_and_the_table_decides(plan: Path) -> None:
    te = plan.with_name("te.jsonl")
    done = steelyard("vote", te, "--plan", without_kind(plan), "--json")
    assert done.code == 0
    assert "the plan does not say which kind of answers it was fitted on, so this table decides" in done.err
    assert "answers are read as choice: " in done.err
    named = steelyard("vote", te, "--plan", without_kind(plan), "--answers", "choice", "--json")
    assert "the plan does not say" not in named.err


def test_a_plan_gives_columns_the_names_it_was_fitted_with(tmp_path: Path) -> None:
    final = pl.col("response").str.extract(r"Answer: (\w)").alias("final")
    sy.write(letters(60).with_columns(final), tmp_path / "tr.jsonl")
    sy.write(letters(20, gold=False).with_columns(final), tmp_path / "te.jsonl")
    plan = tmp_path / "plan.json"
    assert make_plan(tmp_path / "tr.jsonl", "--rename", "final=answer", "-o", plan).code == 0
    done = steelyard("vote", tmp_path / "te.jsonl", "--plan", plan, "--json")
    assert "columns are renamed as the plan's were: final=answer" in done.err
    assert json.loads(plan.read_text())["fitted_on"]["rename"] == {"final": "answer"}
    sy.write(letters(20, gold=False), tmp_path / "plain.jsonl")
    assert "renamed" not in steelyard("vote", tmp_path / "plain.jsonl", "--plan", plan, "--json").err


def test_other_verbs_read_as_the_plan_does(plan: Path) -> None:
    tr = plan.with_name("tr.jsonl")
    for words in (
        ("plan-budget", tr, "--budget", "3"),
        ("report", tr, "-o", plan.with_name("r.html")),
        ("compare", plan, "majority", "--on", tr),
    ):
        by = () if words[0] == "compare" else ("--plan", plan)
        done = steelyard(*words, *by, "--answers", "text")
        assert (done.code, "of the kind 'choice', not 'text'" in done.err) == (2, True), (words, done.err)
        assert steelyard(*words, *by).code == 0, words


@pytest.mark.parametrize("broken", [{"answers": 3}, {"rename": ["final"]}, {"rename": {"final": 3}}])
def test_a_plan_with_a_damaged_reading_is_refused(plan: Path, broken: dict[str, Any]) -> None:
    content = json.loads(plan.read_text())
    content["fitted_on"] |= broken
    plan.write_text(json.dumps(content))
    with pytest.raises(sy.PlanError, match="damaged plan"):
        sy.load(plan)


def test_a_plan_with_an_unknown_kind_is_refused(plan: Path) -> None:
    content = json.loads(plan.read_text())
    content["fitted_on"]["answers"] = "nonsense"
    plan.write_text(json.dumps(content))
    done = steelyard("vote", plan.with_name("te.jsonl"), "--plan", plan)
    assert (done.code, "unknown kind of answer 'nonsense'" in done.err) == (2, True), done.err
