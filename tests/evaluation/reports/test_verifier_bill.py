"""What the page says of the verifier's work: the share that had to be read, and the bill of a run."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.reports.summary import open_case, verifier_facts

pytestmark = pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")


def test_the_page_says_how_much_the_verifier_need_read_and_what_it_has_read(tmp_path: Path) -> None:
    table = sy.simulate(40, 6)
    texts = pl.concat_str(pl.lit("It is "), pl.col("answer").fill_null("unclear"))
    table = table.with_columns(
        texts.alias("response"), pl.concat_list(pl.col("score").clip(0.001).log()).alias("logprobs")
    )
    run, plan = tmp_path / "run", tmp_path / "plan.json"
    sy.score(table.drop("score"), "logprob", output=tmp_path / "all")
    sy.LogitVote().fit(sy.read_labelled(tmp_path / "all", score="logprob")).save(plan)
    first = sy.score(table.drop("score"), "logprob", output=run, plan=plan, frugal="exact")
    sy.score(table.drop("score"), "logprob", output=run)
    case = open_case("run", sy.read_labelled(run, score="logprob"), "logit", share=0.5, seed=0)
    facts = verifier_facts(run, case)
    share = float(facts["read by score --frugal"].partition(" ")[0])
    assert 0 < share < 100
    assert first.not_scored
    assert facts["the verifier read"].startswith("240 of 240 responses")
    assert list(verifier_facts("table.parquet", case)) == ["read by score --frugal"]
