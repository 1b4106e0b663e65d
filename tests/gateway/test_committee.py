"""Several upstreams behind one gateway: their samples vote as in `ask`, and one that dies leaves the others going."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.foundation.errors import SettingError
from steelyard.gateway.caps import Caps
from steelyard.gateway.configuration import Configuration
from steelyard.sampling.llm.prices import Price
from tests.committees import committee, pool
from tests.gateway.gateways import VOTE, Gateway, gateway
from tests.upstreams import FaultUpstream

PROMPT = "113 + 1?"
MODELS = {"a": "fault:knows@100", "b": "fault:knows@0.3", "c": "good"}
PRICES = {"a": Price(1.0, 2.0), "b": Price(3.0, 4.0), "c": Price(5.0, 6.0)}
NAMED = ",".join(f"{name}={model}" for name, model in MODELS.items())
DEAD = "http://127.0.0.1:9/v1"


def urls(upstream: FaultUpstream, dead: str = "") -> str:
    return ",".join(f"{name}={DEAD if name in dead else upstream.url}" for name in MODELS)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plans") / "three.json"
    sy.CommitteeVote().fit(pool(committee({"a": 0.8, "b": 0.5, "c": 0.4}, 60))).save(path)
    return path


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream, plan: Path) -> Iterator[Gateway]:
    with gateway(urls(upstream), model=NAMED, plan=plan, n=3, price=PRICES) as running:
        yield running


def test_the_verdict_of_a_plan_for_sources_is_to_the_last_bit_that_of_ask(
    served: Gateway, upstream: FaultUpstream, plan: Path
) -> None:
    asked = sy.ask(
        PROMPT, upstream=dict.fromkeys(MODELS, upstream.url), model=MODELS, n=3, plan=plan, prompt="plain", seed=2
    )
    told = served.chat(PROMPT, "steelyard/three", seed=2, steelyard={"ballots": True}).json["steelyard"]
    assert (told["answer"], told["confidence"], told["share"]) == (asked.answer, asked.confidence, asked.share)
    assert [tuple(vote.values()) for vote in told["ballots"]] == [tuple(vote) for vote in asked.votes]
    assert {vote["source"] for vote in told["ballots"]} == set(MODELS)


@pytest.mark.filterwarnings("ignore:the plan draws no samples of c")
def test_a_plan_with_numbers_of_samples_draws_as_many_of_each_source(upstream: FaultUpstream, tmp_path: Path) -> None:
    path = tmp_path / "bought.json"
    vote = sy.CommitteeVote().fit(pool(committee({"a": 0.8, "b": 0.5}, 60)))
    vote.samples_ = {"a": 2, "b": 1}
    vote.save(path)
    with gateway(urls(upstream), model=NAMED, plan=path, n=3) as running:
        told, two = (
            running.chat(PROMPT, "steelyard/bought", seed=2, steelyard=more).json["steelyard"]
            for more in ({}, {"n": 2})
        )
    assert {one["source"]: one["samples"]["drawn"] for one in told["sources"]} == {"a": 2, "b": 1}
    assert {one["source"]: one["samples"]["drawn"] for one in two["sources"]} == {"a": 2, "b": 2}


def test_samples_tokens_and_cost_are_told_by_source(served: Gateway) -> None:
    reply = served.chat(PROMPT, "steelyard/three", seed=2).json
    told = reply["steelyard"]
    assert [(one["source"], one["model"], one["sampled"]) for one in told["sources"]] == [
        (name, model, True) for name, model in MODELS.items()
    ]
    assert all(
        one["samples"] == {"wanted": 3, "drawn": 3, "uncounted": 0, "failed": 0, "cancelled": 0}
        for one in told["sources"]
    )
    for one in told["sources"]:
        assert one["cost"] == PRICES[one["source"]].of(one["usage"])
    assert told["samples"]["drawn"] == 9
    assert told["cost"]["samples"] == pytest.approx(sum(one["cost"] for one in told["sources"]))
    assert reply["usage"]["completion_tokens"] == sum(one["usage"]["completion_tokens"] for one in told["sources"])


def test_the_order_in_which_upstreams_answer_changes_nothing(upstream: FaultUpstream, plan: Path) -> None:
    found = []
    for last in ("good", "fault:tardy@0.4#0?113"):
        named = ",".join(f"{name}={model}" for name, model in (MODELS | {"c": last}).items())
        with gateway(urls(upstream), model=named, plan=plan, n=2) as running:
            told = running.chat(PROMPT, "steelyard/three", seed=2, steelyard={"ballots": True}).json["steelyard"]
        found.append((told["answer"], told["confidence"], told["ballots"]))
    assert found[0] == found[1]


@pytest.mark.usefixtures("short_pauses")
def test_an_upstream_that_is_dead_leaves_the_others_going(upstream: FaultUpstream, plan: Path) -> None:
    with gateway(urls(upstream, dead="b"), model=NAMED, plan=plan, n=2) as running:
        assert running.send("GET", "/readyz").status == 200
        told = running.chat(PROMPT, "steelyard/three", seed=2, steelyard={"ballots": True}).json["steelyard"]
    assert {vote["source"] for vote in told["ballots"]} == {"a", "c"}
    by_name = {one["source"]: one for one in told["sources"]}
    assert by_name["b"]["samples"] == {"wanted": 2, "drawn": 0, "uncounted": 0, "failed": 2, "cancelled": 0}
    assert by_name["b"]["why"].startswith("it gave no sample: no connection")
    assert by_name["b"]["usage"] is None


@pytest.mark.usefixtures("short_pauses")
def test_where_all_are_dead_each_of_them_is_named(upstream: FaultUpstream, plan: Path) -> None:
    with gateway(urls(upstream, dead="abc"), model=NAMED, plan=plan, n=1) as running:
        answered = running.chat(PROMPT, "steelyard/three")
    assert answered.status == 502
    assert all(f"{name}: no connection" in answered.error["message"] for name in MODELS)


def test_without_a_plan_every_sample_of_all_upstreams_counts_once(upstream: FaultUpstream) -> None:
    with gateway(urls(upstream), model=NAMED, n=2) as running:
        told = running.chat(PROMPT, VOTE, seed=2).json["steelyard"]
    assert told["method"] == "majority"
    assert sum(one["votes"] for one in told["answers"]) == 6


def test_a_plain_model_goes_to_the_upstream_of_that_name(served: Gateway, upstream: FaultUpstream) -> None:
    models = [one["id"] for one in served.send("GET", "/v1/models").json["data"]]
    assert models == ["steelyard/three", *MODELS]
    for model in ("c", "good"):  # its name, and its model's
        assert served.chat(f"plain {model}?", model).status == 200
        assert [e["model"] for e in upstream.entries() if e["prompt"] == f"plain {model}?"] == ["good"]
    assert served.chat(PROMPT, "d").status == 404


def test_responses_of_a_plain_model_come_from_its_upstream_too(served: Gateway, upstream: FaultUpstream) -> None:
    assert served.send("POST", "/v1/responses", {"model": "c", "input": "respond?"}).status == 200
    assert [e["model"] for e in upstream.entries() if e["prompt"] == "respond?"] == ["good"]


def test_the_samples_of_all_upstreams_together_are_within_the_limit(upstream: FaultUpstream) -> None:
    configuration = Configuration(urls(upstream), model=NAMED, n=8, caps=Caps(samples=16), method="majority")
    with pytest.raises(SettingError, match="8 samples of each of 3 upstreams"):
        configuration.upstreams()
    with gateway(urls(upstream), model=NAMED, n=2, caps=Caps(samples=9)) as running:
        assert running.chat(PROMPT, VOTE, steelyard={"n": 3}).status == 200
        assert running.chat(PROMPT, VOTE, steelyard={"n": 4}).error["param"] == "steelyard.n"


def test_the_worst_case_goes_by_the_prices_of_every_upstream(upstream: FaultUpstream) -> None:
    caps = Caps(cost=0.0015)
    with gateway(urls(upstream), model=NAMED, n=1, caps=caps, price=PRICES) as running:
        assert running.chat("x", VOTE, max_tokens=50).status == 200
        refused = running.chat("x", VOTE, max_tokens=150)  # 12 a million of all three together
    assert (refused.status, refused.error["code"]) == (400, "over_budget")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"price": {"z": Price(1, 1)}}, "prices for 'z' and no such upstream"),
        ({"price": {"a": Price(1, 1)}, "caps": Caps(cost=1.0)}, "the prices of b too"),
    ],
)
def test_prices_that_do_not_fit_the_upstreams_are_refused(
    upstream: FaultUpstream, settings: dict[str, object], words: str
) -> None:
    with pytest.raises(SettingError, match=words):
        Configuration(urls(upstream), model=NAMED, method="majority", **settings).upstreams()  # type: ignore[arg-type]
