"""The same samples give the same verdict to the last bit: offline and through the gateway, in any order of arrival."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from tests.building import labelled
from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import Gateway, gateway, process
from tests.gateway.rows import rows
from tests.upstreams import FaultUpstream

N = 8
PROMPTS = [f"{i} + {i}?" for i in range(6)]


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """The samples that the upstream gives, as a run stores them."""
    texts = {(prompt, i): text_of(prompt, i) for prompt in PROMPTS for i in range(N)}
    means = [sum(-0.1 * (1 + len(word) % 3) for word in text.split()) / len(text.split()) for text in texts.values()]
    return pl.DataFrame(
        {
            "question": [prompt for prompt, _ in texts],
            "response": list(texts.values()),
            "self_logprob": [math.exp(mean) for mean in means],
        }
    )


@pytest.fixture(scope="module", params=["majority", "logit", "calibrated"])
def plan(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fitted plan without a stopping rule."""
    path: Path = tmp_path_factory.mktemp("plans") / f"{request.param}.json"
    drawn = sy.simulate(40, N, seed=1).rename({"score": "self_logprob"})
    sy.method_class(request.param)().fit(labelled(drawn, score="self_logprob")).save(path)
    return path


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream, plan: Path) -> Iterator[Gateway]:
    with gateway(upstream.url, plan=plan) as running:
        yield running


def told_of(running: Gateway, plan: Path, prompt: str) -> dict[str, Any]:
    answered = running.chat(prompt, f"steelyard/{plan.stem}", seed=0, steelyard={"ballots": True})
    told: dict[str, Any] = answered.json["steelyard"]
    return told


def test_a_table_of_the_samples_has_the_verdicts_of_the_gateway(
    served: Gateway, table: pl.DataFrame, plan: Path
) -> None:
    verdicts = sy.load(plan).predict(sy.read(table, score="self_logprob"))
    for i, prompt in enumerate(PROMPTS):
        told = told_of(served, plan, prompt)
        assert told["answer"] == str(verdicts.answer[i])
        assert told["confidence"] == (verdicts.confidence[i] if plan.stem == "calibrated" else None)
        assert told["share"] == verdicts.share[i]
        assert told["margin"] == verdicts.margin[i]


def test_a_ballot_of_the_samples_has_the_posterior_of_the_gateway(served: Gateway, plan: Path) -> None:
    for prompt in PROMPTS:
        told = told_of(served, plan, prompt)
        with sy.Ballot(plan) as ballot:
            for i, vote in enumerate(told["ballots"]):
                ballot.add(sy.extract_answer(text_of(prompt, i)), vote["score"], i)
            assert (told["answer"], told["confidence"]) == (ballot.verdict, ballot.state.confidence)


def test_a_server_of_its_own_compiles_no_loop_and_has_the_same_verdicts(
    upstream: FaultUpstream, served: Gateway, plan: Path
) -> None:
    if plan.stem != "calibrated":
        pytest.skip("the plan that runs most loops stands for all")
    with process(upstream.url, "--plan", plan) as running:
        assert running.process is not None
        own, here = (told_of(each, plan, PROMPTS[0]) for each in (running, served))
        maps = Path(f"/proc/{running.process.pid}/maps")
        assert not maps.exists() or "llvmlite" not in maps.read_text()
    assert "NUDGE" in os.environ or own == here
    assert all(vote["loss"] is not None for vote in here["ballots"] if vote["answer"])


def orders() -> Iterator[dict[int, float]]:
    """Which samples come late, and how late."""
    shuffled = random.Random(7)
    for _ in range(3):
        yield {seed: 0.02 + 0.03 * i for i, seed in enumerate(shuffled.sample(range(N), N))}


@pytest.mark.parametrize("delays", rows(list(orders()), next(orders())))
def test_the_order_in_which_samples_come_changes_nothing(
    upstream: FaultUpstream, plan: Path, delays: dict[int, float]
) -> None:
    prompt = PROMPTS[0]
    order = "+".join(f"{delays[seed]:.2f}" for seed in range(N))
    with gateway(upstream.url, model="fault:none&no-n", plan=plan) as running:
        whole = told_of(running, plan, prompt)
    with gateway(upstream.url, model=f"fault:shuffled@{order}&no-n", plan=plan) as running:
        shuffled = told_of(running, plan, prompt)
    for told in (whole, shuffled):
        told.pop("usage")
    assert shuffled == whole
