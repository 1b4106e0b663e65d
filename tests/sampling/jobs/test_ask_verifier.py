"""steelyard ask with a verifier: which samples it read, and why not the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import steelyard as sy
from tests.running import steelyard
from tests.sampling.jobs.on_demand import COLUMN, plan_for
from tests.sampling.jobs.test_score import questions_asked
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.upstreams import FaultUpstream

pytestmark = [pytest.mark.usefixtures("key"), pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")]
QUESTION = "How many apples are in the basket?"


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultVerifier]:
    with fault_verifier(tmp_path_factory.mktemp("verifier")) as server:
        yield server


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plan_for(tmp_path_factory.mktemp("plan") / "plan.json")


def words(upstream: FaultUpstream, verifier: FaultVerifier, *more: object) -> tuple[object, ...]:
    at = ("--verifier", "p-true", "--verifier-upstream", f"{verifier.url}/v1", "--verifier-model", "good")
    return ("ask", QUESTION, "--upstream", upstream.url, "--model", "m", "-n", 8, "--seed", 3, *at, *more)


def test_on_demand_it_shows_what_was_read_and_why_the_others_were_not(
    upstream: FaultUpstream, verifier: FaultVerifier, plan: Path
) -> None:
    verifier.ledger.unlink(missing_ok=True)
    done = steelyard(*words(upstream, verifier, "--plan", plan, "--frugal", "exact", "--json"))
    assert done.code == 0, done.err
    said = json.loads(done.out)
    states = [sample["verifier"] for sample in said["samples"]]
    assert said["read_by"]["read"] == states.count("read") == len(questions_asked(verifier))
    assert said["read_by"]["not_scored"] == states.count("not scored") > 0
    assert said["read_by"]["why"] == "their scores could not change the verdict"
    assert all((sample["score"] is None) == (sample["verifier"] != "read") for sample in said["samples"] if sample)
    everything = json.loads(steelyard(*words(upstream, verifier, "--plan", plan, "--json")).out)
    assert everything["answer"] == said["answer"], "no verdict is changed"
    assert {sample["verifier"] for sample in everything["samples"]} <= {"read", "words of another", "no text"}
    shown = steelyard(*words(upstream, verifier, "--plan", plan, "--frugal")).out
    assert "not scored" in shown
    assert "were not scored: their scores could not change the verdict (rule exact)." in shown


def test_without_a_plan_the_score_of_the_verifier_is_the_weight(
    upstream: FaultUpstream, verifier: FaultVerifier
) -> None:
    asked = sy.ask(
        QUESTION, upstream=upstream.url, model="m", n=4, verifier="p-true", verifier_upstream=f"{verifier.url}/v1",
        verifier_model="good",
    )  # fmt: skip
    assert (asked.method, asked.score) == ("vanilla", COLUMN)
    assert asked.read_by is not None
    assert asked.read_by.not_scored == 0
    assert all(vote.weight == pytest.approx(vote.score) for vote in asked.votes if vote.answer and vote.score)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--frugal",), "--frugal needs a plan: name one with --plan"),
        (("--verifier", "logprob"), "is what 'ask' weighs by without a verifier: omit --verifier logprob"),
        (("--plan", "SELF"), "uses the score 'self_logprob:last', but these scores are 'p-true'"),
    ],
)
def test_mistakes_are_one_line_before_anything_is_sampled(
    upstream: FaultUpstream, verifier: FaultVerifier, tmp_path: Path, more: tuple[str, ...], said: str
) -> None:
    before = len(upstream.entries())
    given = [plan_for(tmp_path / "p.json", "self_logprob") if word == "SELF" else word for word in more]
    done = steelyard(*words(upstream, verifier, *given))
    assert done.code == 2
    assert said in done.err
    assert len(upstream.entries()) == before


def test_a_verifier_that_need_not_read_anything_is_not_even_connected_to(upstream: FaultUpstream, plan: Path) -> None:
    asked = sy.ask(
        "7 + 1?", upstream=upstream.url, model="fault:knows@100", n=8, plan=plan, verifier="p-true", frugal="exact",
        verifier_upstream="http://127.0.0.1:9/v1", verifier_model="nobody",
    )  # fmt: skip
    assert asked.read_by is not None
    assert (asked.answer, asked.read_by.read, asked.read_by.not_scored) == ("2", 0, 8)


def test_frugal_without_a_verifier_is_refused(upstream: FaultUpstream) -> None:
    done = steelyard("ask", QUESTION, "--upstream", upstream.url, "--model", "m", "--frugal", "exact")
    assert done.code == 2
    assert "name the verifier of the samples with --verifier NAME" in done.err
