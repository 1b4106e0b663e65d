"""The commands that plan-budget prints are those that `ask`, `serve` and `score` accept for the plan."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.cli.plan_budget_view import plan_commands
from steelyard.gateway.configuration import Configuration
from steelyard.gateway.vote.verifier_settings import VerifierSettings
from steelyard.voting.stopping.rules.beta import Beta
from tests.running import steelyard
from tests.sampling.jobs.on_demand import plan_for
from tests.scored_committees import scored_committee, scored_pool

pytestmark = pytest.mark.usefixtures("key")
HERE = "http://127.0.0.1:9/v1"


def commands(plan: sy.Method, folder: Path) -> list[list[str]]:
    """Save a plan and return the commands that follow it."""
    file = folder / "my plan.json"
    plan.save(file, overwrite=True)
    values = {"URL": HERE, "MODEL": "m", "QUESTION": "1 + 1?"}
    lines = [shlex.split(line) for line in plan_commands(plan, file) if line.startswith("  ")]
    return [[values.get(word, word.replace("=URL", f"={HERE}")) for word in words[1:]] for words in lines]


def accepted(words: list[str]) -> None:
    assert words[0] == "ask", words
    done = steelyard(*words, "--dry-run")
    assert done.code == 0, done.err


def stopping(plan: Path) -> sy.Method:
    voter = sy.load(plan)
    voter.stopping_ = Beta(cap=6, least=2, threshold=0.7)
    return voter


def test_ask_follows_a_rule_on_its_own_score(tmp_path: Path) -> None:
    (words,) = commands(stopping(plan_for(tmp_path / "p.json", "self_logprob")), tmp_path)
    assert "--verifier" not in words
    accepted(words)


def test_serve_follows_a_rule_on_the_score_of_a_verifier(tmp_path: Path) -> None:
    (words,) = commands(stopping(plan_for(tmp_path / "p.json")), tmp_path)
    given = dict(zip(words[1::2], words[2::2], strict=True))
    assert (words[0], given["--verifier"]) == ("serve", "p-true")
    verifier = VerifierSettings("p-true", given["--verifier-upstream"], given["--verifier-model"])
    served = Configuration(given["--upstream"], given["--model"], Path(given["--plan"]), verifier=verifier)
    assert served.voter(served.upstreams())[1] == "p-true:last"


def test_ask_follows_a_plan_for_scores(tmp_path: Path) -> None:
    voter = sy.load(plan_for(tmp_path / "p.json", expected=True))
    voter.samples_ = {"": 5}
    (words,) = commands(voter, tmp_path)
    assert words[words.index("--verifier") + 1] == "p-true"
    assert "--frugal" in words
    accepted(words)


def test_a_plan_for_comparisons_is_used_on_a_run(tmp_path: Path) -> None:
    words = commands(sy.load(plan_for(tmp_path / "p.json", "judge-pairwise")), tmp_path)
    assert [line[0] for line in words] == ["generate", "score", "vote"]
    assert words[1][words[1].index("--verifier") + 1] == "judge-pairwise"


def test_ask_follows_a_cascade_with_named_upstreams(tmp_path: Path) -> None:
    pool = scored_pool({"ant": 0.6, "bee": 0.4}, {"ant": 4.0, "bee": 4.0}, questions=60, samples=1)
    voter = sy.plan_budget(pool, prices={"ant": 3e6, "bee": 1e6}, budget="150%").plan
    (words,) = commands(voter, tmp_path)
    assert voter.cascade_
    assert all(f"{name}={HERE}" in words[words.index("--upstream") + 1] for name in voter.cascade_.sources)
    accepted(words)


def test_ask_or_one_run_follows_a_committee(tmp_path: Path) -> None:
    table = scored_committee({"ant": 0.7, "bee": 0.6}, {}, questions=40)
    voter = sy.CommitteeVote().fit(sy.read_labelled(table, source="llm", answers="exact", score="none"))
    voter.samples_ = {"ant": 3, "bee": 1}
    ask, *run = commands(voter, tmp_path)
    accepted(ask)
    assert [(words[0], words[words.index("-n") + 1]) for words in run[:2]] == [("generate", "1"), ("generate", "3")]
    assert run[2][:2] == ["vote", "RUN"]


@pytest.mark.parametrize("part", ["stopping", "asking"])
def test_a_score_that_no_verifier_gives_is_named(tmp_path: Path, part: str) -> None:
    sy.simulate(80, 4, seed=5).write_parquet(tmp_path / "r.parquet")
    prices: tuple[Any, ...] = () if part == "stopping" else ("--price", "sample=1,score=0.1")
    words = ("--method", "vanilla", "--budget", 3, *prices, "-o", tmp_path / "plan.json")
    done = steelyard("plan-budget", tmp_path / "r.parquet", *words)
    assert done.code == 0, done.err
    assert "steelyard ask" not in done.out
    assert "needs the score 'score', which no verifier" in done.out
    assert ("sy.Ballot(PLAN)" in done.out) == (part == "stopping")
    if part == "asking":
        vote = commands(sy.load(tmp_path / "plan.json"), tmp_path)[0]
        pl.read_parquet(tmp_path / "r.parquet").drop("correct").write_parquet(tmp_path / "FILE")
        assert vote[:2] == ["vote", "FILE"]
