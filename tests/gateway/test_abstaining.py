"""A risk that a client asks for: kept by abstaining where the confidence is low, refused where nobody can keep it."""

from __future__ import annotations

from pathlib import Path

import pytest

import steelyard as sy
from tests.gateway.gateways import gateway
from tests.upstreams import FaultUpstream

MODEL = "steelyard/careful"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plans") / "careful.json"
    table = sy.simulate(400, 8, seed=3).rename({"score": "self_logprob"})
    sy.CalibratedVote(reserve=0.5).fit(sy.read_labelled(table, score="self_logprob")).save(path)
    return path


def test_the_vote_abstains_exactly_where_the_confidence_is_below_the_threshold(
    upstream: FaultUpstream, plan: Path
) -> None:
    threshold = sy.load(plan).risk_control(0.2).threshold
    with gateway(upstream.url, plan=plan) as running:
        abstained = set()
        for i in range(8):
            reply = running.chat(f"risk {i}?", MODEL, seed=0, steelyard={"risk": 0.2}).json
            told, message = reply["steelyard"], reply["choices"][0]["message"]
            assert told["threshold"] == threshold
            assert told["abstained"] == (told["confidence"] < threshold)
            assert (told["answer"] is None) == told["abstained"]
            assert (message["content"] is None) == told["abstained"]
            assert bool(message.get("refusal")) == told["abstained"]
            assert told["answers"][0]["probability"] is not None
            abstained.add(told["abstained"])
        assert True in abstained


def test_a_risk_that_cannot_be_promised_is_refused_and_asks_nobody(upstream: FaultUpstream, plan: Path) -> None:
    with gateway(upstream.url, plan=plan) as running:
        refused = running.chat("no risk?", MODEL, steelyard={"risk": 0.0001})
        assert (refused.status, refused.error["param"]) == (400, "steelyard.risk")
    assert not [entry for entry in upstream.entries() if entry["prompt"] == "no risk?"]


def test_a_calibrated_plan_decides_as_ask_does(upstream: FaultUpstream, plan: Path) -> None:
    asked = sy.ask("plan?", upstream=upstream.url, model="good", n=8, prompt="plain", seed=2, plan=plan)
    with gateway(upstream.url, plan=plan) as running:
        told = running.chat("plan?", MODEL, seed=2).json["steelyard"]
    assert (told["answer"], told["confidence"], told["none_correct"]) == (
        asked.answer,
        asked.confidence,
        asked.none_correct,
    )
    assert [tuple(one.values()) for one in told["answers"]] == [tuple(one) for one in asked.answers]
