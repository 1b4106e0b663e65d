"""A plan with a cascade behind the gateway: whom it asks, in which order, and what the reply tells of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from tests.gateway.gateways import Answered, gateway
from tests.gateway.stuck_algebra import stuck_algebra
from tests.sampling.jobs.test_ask_cascade import AGREE, DEAD, DIFFER, PRICED
from tests.sampling.jobs.test_cascade_ballot import voter
from tests.upstreams import FaultUpstream
from tests.waiting import with_more_time

PROMPT = "113 + 1?"
pytestmark = pytest.mark.usefixtures("short_pauses")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plans") / "turns.json"
    method = voter(PRICED)
    assert method.fitted_on_ is not None
    method.fitted_on_ = replace(method.fitted_on_, answers="math")
    method.save(path)
    return path


def ask(
    upstream: FaultUpstream, plan: Path, models: dict[str, str], dead: str = "", **more: Any
) -> tuple[Answered, dict[str, int]]:
    """What the gateway says, and how many requests with the prompt each source had."""
    since = len(upstream.entries())
    urls = ",".join(f"{name}={DEAD if name in dead else upstream.url}" for name in models)
    named = ",".join(f"{name}={model}" for name, model in models.items())
    with gateway(urls, model=named, plan=plan) as running:
        answered = running.chat(PROMPT, "steelyard/turns", seed=0, **more)
    sent = [entry["model"] for entry in upstream.entries()[since:] if entry["prompt"] == PROMPT]
    return answered, {name: sent.count(model) for name, model in models.items()}


@pytest.mark.parametrize("models", [AGREE, DIFFER, DIFFER | {"c": "fault:knows@0.1"}])
def test_it_asks_and_decides_to_the_last_bit_as_ask_does(
    upstream: FaultUpstream, plan: Path, models: dict[str, str]
) -> None:
    asked = sy.ask(PROMPT, upstream=dict.fromkeys(models, upstream.url), model=models, plan=plan, prompt="plain")
    answered, sent = ask(upstream, plan, models, steelyard={"ballots": True})
    told = answered.json["steelyard"]
    assert asked.cascade is not None
    assert asked.stopped is not None
    assert (told["answer"], told["confidence"]) == (asked.answer, asked.confidence)
    assert (told["share"], told["margin"], told["stopped"]) == (asked.share, asked.margin, asked.stopped.why)
    assert [(v["source"], v["answer"], v["weight"]) for v in told["ballots"]] == [
        (vote.source, vote.answer, vote.weight) for vote in asked.votes
    ]
    assert [(one["source"], one["sampled"], one["why"]) for one in told["sources"]] == [
        (turn.source, turn.sampled, turn.why) for turn in asked.cascade.turns
    ]
    assert told["cost"]["samples"] == pytest.approx(asked.cascade.cost)
    assert sent == {turn.source: turn.samples for turn in asked.cascade.turns}
    assert told["method"] == "cascade"
    assert told["cascade"] == asked.cascade.described


def test_the_page_shows_its_samples_as_they_come_and_the_vote_when_it_is_decided(
    upstream: FaultUpstream, plan: Path
) -> None:
    urls = ",".join(f"{name}={upstream.url}" for name in AGREE)
    with gateway(urls, model=",".join(f"{name}={model}" for name, model in AGREE.items()), plan=plan) as running:
        asked = {"model": "steelyard/turns", "messages": [{"role": "user", "content": PROMPT}], "seed": 0}
        begun, *told, last = running.send("POST", "/page/ask", asked).events
    assert begun["begun"] == {"samples": 3, "upstreams": 3, "cascade": True}
    assert sorted((each["sample"]["number"], each["vote"]) for each in told) == [(0, None), (1, None)]
    assert (last["decided"]["vote"]["answer"], sorted(last["decided"]["places"])) == ("3", [0, 1])
    assert last["decided"]["side_by_side"] == []


def test_who_is_not_needed_is_not_asked_and_it_says_why(upstream: FaultUpstream, plan: Path) -> None:
    answered, sent = ask(upstream, plan, AGREE)
    told = answered.json["steelyard"]
    assert sent == {"a": 1, "b": 1, "c": 0}
    assert told["samples"] == {
        "wanted": 2, "drawn": 2, "uncounted": 0, "failed": 0, "cancelled": 0, "requests": 2, "by": "fan-out",
    }  # fmt: skip
    assert told["sources"][2]["why"].startswith("asked only below 0.8, and it was 0.")


def test_a_source_that_is_dead_is_one_that_does_not_answer(upstream: FaultUpstream, plan: Path) -> None:
    answered, sent = ask(upstream, plan, AGREE, dead="b")
    told = answered.json["steelyard"]
    assert (answered.status, told["answer"], sent["c"]) == (200, "3", 1)
    assert told["sources"][1]["why"].startswith("it gave no sample: ")


def test_at_the_deadline_it_decides_by_who_has_answered(upstream: FaultUpstream, plan: Path) -> None:
    def check(seconds: float) -> None:
        answered, _ = ask(upstream, plan, DIFFER | {"c": "fault:silent?113"}, steelyard={"deadline_s": seconds})
        assert answered.status == 200
        told = answered.json["steelyard"]
        assert told["answer"] is not None
        assert "deadline" in told["notes"][0]
        assert told["sources"][2]["sampled"]
        assert told["sources"][2]["why"] == "it gave no sample: no response arrived in time"
        assert told["sources"][2]["samples"]["cancelled"] == 1

    with_more_time(check, 1.0)


def test_at_the_deadline_it_decides_without_algebra_that_does_not_end(upstream: FaultUpstream, plan: Path) -> None:
    def check(seconds: float) -> None:
        with stuck_algebra():
            models = {name: f"fault:integrals@{name}" for name in "abc"}
            answered, _ = ask(upstream, plan, models, steelyard={"deadline_s": seconds})
        assert answered.status == 200
        told = answered.json["steelyard"]
        assert told["answers"][0]["votes"] == told["samples"]["drawn"] > 0
        assert "deadline" in told["notes"][0]

    with_more_time(check, 1.0)


def test_a_risk_that_a_cascade_cannot_promise_is_refused(upstream: FaultUpstream, plan: Path) -> None:
    answered, sent = ask(upstream, plan, AGREE, steelyard={"risk": 0.1})
    assert (answered.status, answered.error["param"]) == (400, "steelyard.risk")
    assert sum(sent.values()) == 0


def test_another_method_asks_everybody(upstream: FaultUpstream, plan: Path) -> None:
    answered, sent = ask(upstream, plan, AGREE, steelyard={"method": "majority", "n": 1})
    assert sent == {"a": 1, "b": 1, "c": 1}
    assert answered.json["steelyard"]["method"] == "majority"
