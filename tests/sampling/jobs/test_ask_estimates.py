"""`ask --dry-run` refuses what `ask` refuses, and its range covers what `ask` then does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from tests.running import Done, steelyard
from tests.sampling.jobs.on_demand import plan_for
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.upstreams import FaultUpstream

pytestmark = pytest.mark.usefixtures("key", "short_pauses")
READ = ("--verifier", "p-true", "--verifier-model", "good")


def ask(upstream: FaultUpstream, *words: object) -> Done:
    return steelyard("ask", "7 + 1?", "--upstream", upstream.url, "--model", "good", *words)


def requests(done: Done) -> dict[str, Any]:
    assert done.code == 0, done.err
    estimate: dict[str, Any] = json.loads(done.out)["requests"]
    return estimate


def with_rule(path: Path) -> Path:
    """Give a plan a stopping rule."""
    voter = sy.load(path)
    voter.stopping_ = sy.evaluation.rule_class("beta")(cap=6, least=2, threshold=0.7)
    voter.save(path)
    return path


def test_a_stopping_rule_lowers_the_estimate_only_where_it_applies(upstream: FaultUpstream, tmp_path: Path) -> None:
    own = with_rule(plan_for(tmp_path / "own.json", "self_logprob"))
    assert requests(ask(upstream, "--plan", own, "--dry-run", "--json")) == {"low": 0, "high": 6, "expected": None}
    other = with_rule(plan_for(tmp_path / "other.json"))
    done = ask(upstream, "--plan", other, *READ, "--verifier-upstream", upstream.url, "--dry-run", "--json")
    assert requests(done) == {"low": 12, "high": 12, "expected": 12}, "6 samples and 6 scores"
    assert "the plan's stopping rule does not apply" in done.err
    local = ask(upstream, "--plan", with_rule(plan_for(tmp_path / "v.json", "versaprm")), "--verifier", "versaprm",
                "--local", "--dry-run", "--json")  # fmt: skip
    assert requests(local) == {"low": 6, "high": 6, "expected": 6}


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultVerifier]:
    with fault_verifier(tmp_path_factory.mktemp("verifier")) as server:
        yield server


@pytest.mark.parametrize(
    ("score", "words", "message"),
    [
        ("prm", (), "weighs by the score 'prm:last', which is not available while asking"),
        ("self_logprob", (*READ, "--frugal"), "uses the score 'self_logprob:last', but these scores are 'p-true'"),
        ("self_logprob", ("--temperature", -1), "the temperature is -1"),
        ("self_logprob", ("--frugal",), "name the verifier"),
    ],
)
def test_a_dry_run_refuses_what_ask_refuses(
    upstream: FaultUpstream, tmp_path: Path, score: str, words: tuple[object, ...], message: str
) -> None:
    plan = plan_for(tmp_path / "plan.json", score)
    for more in ((), ("--dry-run",)):
        done = ask(upstream, "--plan", plan, *words, *more)
        assert (done.code, message in done.err) == (2, True), done.err


def test_a_stopping_rule_that_a_verifier_makes_void_is_reported_once(
    upstream: FaultUpstream, verifier: FaultVerifier, tmp_path: Path
) -> None:
    plan = with_rule(plan_for(tmp_path / "plan.json"))
    price = ("--token-price", "1,1", "--confirm-above", 1000)
    for more in ((), price):
        done = ask(upstream, "--plan", plan, *READ, "--verifier-upstream", f"{verifier.url}/v1", "--json", *more)
        assert done.err.count("the plan's stopping rule does not apply") == 1, done.err
        assert len(json.loads(done.out)["samples"]) == 6
