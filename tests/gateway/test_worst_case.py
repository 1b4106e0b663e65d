"""What a request may cost at worst: its samples, their scores and other tries, before anything is asked and after."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steelyard.foundation.errors import SettingError
from steelyard.gateway.caps import Caps
from steelyard.gateway.configuration import Configuration
from steelyard.gateway.vote.verifier_settings import LAYOUT, VerifierSettings
from steelyard.sampling.llm.prices import Price
from steelyard.sampling.verifiers.protocols.p_true import render
from tests.gateway.gateways import VOTE, gateway
from tests.gateway.outcomes import attempts
from tests.gateway.test_relay import fixed
from tests.gateway.test_usage import VANILLA, sure
from tests.upstreams import FaultUpstream

USAGE = {"prompt_tokens": 50, "completion_tokens": 1, "total_tokens": 51}


def test_the_tokens_that_a_verifier_reads_are_in_the_limit_before_anything_is_asked(upstream: FaultUpstream) -> None:
    beside = len(render("limited?", [""])[0]["content"]) + LAYOUT + 1
    with fixed(sure(usage=USAGE)) as url:
        settings = VerifierSettings("p-true", upstream=url, model="m")
        caps = Caps(tokens=8000)
        with gateway(upstream.url, method="vanilla", verifier=settings, caps=caps) as running:
            assert running.chat("limited?", VANILLA, steelyard={"n": 4}).status == 200
            assert running.chat("limited?", VANILLA, max_tokens=1500, steelyard={"n": 4}).error["code"] == "over_budget"
    (sent,) = [json.loads(entry["written"]) for entry in upstream.entries() if entry["prompt"] == "limited?"]
    assert sent["max_tokens"] == (8000 - 4 * beside) // (2 * 4)


def test_a_score_costs_what_its_own_server_costs(upstream: FaultUpstream) -> None:
    prices = {"": Price(1.0, 2.0), "verifier": Price(10.0, 100.0)}
    with fixed(sure(usage=USAGE)) as url:
        settings = VerifierSettings("p-true", upstream=url, model="m")
        caps: dict[str, Any] = {"method": "vanilla", "verifier": settings, "price": prices, "caps": Caps(cost=0.05)}
        with gateway(upstream.url, **caps) as running:
            told = running.chat("priced?", VANILLA, steelyard={"n": 4}).json["steelyard"]
            refused = running.chat("too dear?", VANILLA, max_tokens=2000, steelyard={"n": 4})
    assert told["cost"]["verifier"] == pytest.approx(4 * 600e-6)
    assert refused.error["code"] == "over_budget"
    assert attempts(upstream, "too dear?") == 0


def test_a_cap_on_the_cost_asks_for_the_prices_of_the_verifier() -> None:
    settings = VerifierSettings("p-true", upstream="http://127.0.0.1:9/v1", model="m")
    configuration = Configuration(
        "http://127.0.0.1:9/v1", model="m", verifier=settings, price=Price(1.0, 2.0), caps=Caps(cost=1.0)
    )
    with pytest.raises(SettingError, match="verifier=IN,OUT"):
        configuration.upstreams()


@pytest.mark.parametrize(("letter", "status"), [("e", 200), ("é", 400)])  # one byte, and two
def test_a_prompt_that_costs_too_much_by_itself_is_refused(upstream: FaultUpstream, letter: str, status: int) -> None:
    body = {"model": VOTE, "messages": [{"role": "user", "content": letter * 300}], "steelyard": {"n": 2}}
    with gateway(upstream.url, price=Price(1.0, 0.0), caps=Caps(cost=0.001)) as running:
        written = json.dumps(body, ensure_ascii=False).encode()
        assert running.send("POST", "/v1/chat/completions", written).status == status


@pytest.mark.parametrize(("fault", "limit", "tries"), [("html", 400, 4), ("html", 700, 7), ("503", 400, 6)])
@pytest.mark.usefixtures("short_pauses")
def test_a_try_that_may_have_been_billed_is_made_again_only_within_the_limit(
    upstream: FaultUpstream, fault: str, limit: int, tries: int
) -> None:
    """Of four samples with 100 tokens each; a busy upstream bills nobody."""
    prompt = f"now {fault} {limit}"
    with gateway(upstream.url, model=f"fault:{fault}?now&no-n") as running:
        assert running.send("GET", "/readyz").status == 200
        answered = running.chat(prompt, max_tokens=100, steelyard={"n": 4, "max_total_tokens": limit})
    assert answered.status in (502, 503)
    assert attempts(upstream, prompt) == tries or fault == "503"
    assert attempts(upstream, prompt) >= tries


@pytest.mark.parametrize(("limit", "tries"), [(100, 1), (200, 2), (None, 3)])
@pytest.mark.usefixtures("short_pauses")
def test_a_request_that_is_passed_through_is_sent_again_only_within_the_limit(
    upstream: FaultUpstream, limit: int | None, tries: int
) -> None:
    model, prompt = "fault:html?now", f"now passed {limit}"
    with gateway(upstream.url, model=model, caps=Caps(tokens=limit)) as running:
        assert running.chat(prompt, model, max_tokens=100).status == 502
    assert attempts(upstream, prompt) == tries


DEFAULT: dict[str, Any] = {"price": Price(0.15, 0.6), "caps": Caps(cost=0.05)}  # 10,397 tokens of each of 8 samples


@pytest.mark.parametrize("model", ["fault:500!?now", "fault:500!?now&no-n"])
@pytest.mark.parametrize("vote", [True, False])
@pytest.mark.usefixtures("short_pauses")
def test_a_server_error_bills_nothing_and_is_retried_under_a_cap(
    upstream: FaultUpstream, model: str, vote: bool
) -> None:
    prompt = f"now {model} {vote}"
    with gateway(upstream.url, model=model, **DEFAULT) as running:
        answered = running.chat(prompt, VOTE if vote else model, seed=0)
    assert answered.status == 200
    if vote:
        assert answered.json["steelyard"]["samples"]["failed"] == 0
    assert attempts(upstream, prompt) >= 2


@pytest.mark.parametrize("fault", ["504", "408", "201", "cut"])
@pytest.mark.usefixtures("short_pauses")
def test_a_reply_that_was_lost_may_have_been_billed(upstream: FaultUpstream, fault: str) -> None:
    model, prompt = f"fault:{fault}!?now", f"now lost {fault}"
    with gateway(upstream.url, model=model, **DEFAULT) as running:
        refused = running.chat(prompt, model)
        retried = running.chat(f"{prompt} again", model, max_tokens=1000)
    assert refused.status == 502
    assert refused.error["message"].endswith("not retried: a retry could exceed the cost limit")
    assert attempts(upstream, prompt) == 1
    assert (retried.status, attempts(upstream, f"{prompt} again")) == (200, 2)


@pytest.mark.usefixtures("short_pauses")
def test_a_reply_without_text_is_billed_as_its_usage_says(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:content-number!?now&no-n", caps=Caps(tokens=150)) as running:
        assert running.chat("now unreadable", max_tokens=100, steelyard={"n": 1}).status == 200
    assert attempts(upstream, "now unreadable") == 2
