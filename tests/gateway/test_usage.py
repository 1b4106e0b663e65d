"""Tokens and cost by part: what servers have counted, null where they have not, and never an invented zero."""

from __future__ import annotations

import json

import pytest

from steelyard.gateway.upstream.samples import Sample
from steelyard.gateway.vote.request_vote import _scoring
from steelyard.gateway.vote.scoring import Verified
from steelyard.gateway.vote.verifier_settings import VerifierSettings
from steelyard.sampling.llm.prices import Price
from steelyard.sampling.verifiers.scored_items import Runner
from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import gateway
from tests.gateway.test_relay import fixed
from tests.upstreams import FaultUpstream

VANILLA = "steelyard/vanilla"
TRUE = [{"token": "True", "logprob": -0.2}, {"token": "False", "logprob": -1.7}]


def sure(**more: object) -> bytes:
    """The reply of a server that finds everything true."""
    logprobs = {"content": [{"token": "True", "logprob": -0.2, "top_logprobs": TRUE}]}
    choice = {"index": 0, "message": {"content": "True"}, "finish_reason": "stop", "logprobs": logprobs}
    return json.dumps({"choices": [choice], **more}).encode()


@pytest.mark.parametrize("told", [True, False])
def test_the_tokens_of_a_verifier_are_told_where_its_server_counts_them(upstream: FaultUpstream, told: bool) -> None:
    usage = {"usage": {"prompt_tokens": 50, "completion_tokens": 1, "total_tokens": 51}} if told else {}
    with fixed(sure(**usage)) as url:
        settings = VerifierSettings("p-true", upstream=url, model="m")
        with gateway(upstream.url, method="vanilla", verifier=settings, price=Price(1.0, 2.0)) as running:
            reply = running.chat("scored?", VANILLA, seed=0, steelyard={"n": 4}).json
    words = sum(len(text_of("scored?", i).split()) for i in range(4))
    parts, cost = reply["steelyard"]["usage"], reply["steelyard"]["cost"]
    assert parts["samples"]["completion_tokens"] == words
    assert cost["verifier"] is None  # nobody has told the prices of its server
    if told:
        assert parts["verifier"] == {"prompt_tokens": 200, "completion_tokens": 4, "total_tokens": 204}
        assert parts["unknown"]["scores_without_usage"] == 0
        assert reply["usage"]["completion_tokens"] == words + 4
    else:
        assert parts["verifier"] is None
        assert parts["unknown"]["scores_without_usage"] == 4
        assert reply["usage"]["completion_tokens"] == words


def test_an_upstream_that_verifies_itself_costs_what_it_costs() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    settings = VerifierSettings("p-true")
    with (
        fixed(sure(usage=usage)) as url,
        gateway(url, method="vanilla", verifier=settings, price=Price(1.0, 2.0)) as running,
    ):
        cost = running.chat("self?", VANILLA, steelyard={"n": 1}).json["steelyard"]["cost"]
    assert cost == {"samples": pytest.approx(12e-6), "verifier": pytest.approx(12e-6)}


@pytest.mark.parametrize("model", ["good", "fault:no-n"])
def test_usage_selected_is_that_of_the_response_that_goes_back(upstream: FaultUpstream, model: str) -> None:
    with gateway(upstream.url, model=model) as running:
        reply = running.chat("chosen?", seed=0, steelyard={"n": 4, "usage": "selected"}).json
    words = len(reply["choices"][0]["message"]["content"].split())
    assert reply["usage"] == {"prompt_tokens": 7, "completion_tokens": words, "total_tokens": 7 + words}
    assert reply["steelyard"]["usage"]["samples"]["completion_tokens"] > words


def test_scores_of_a_verifier_in_this_process_cost_nothing() -> None:
    async def connect() -> Runner:
        raise AssertionError("nothing is scored")

    verifier = Verified(connect, score="prm", split="lines", timeout=1.0)
    assert _scoring(verifier, [Sample(0, score=0.5)]) == []


def test_usage_selected_is_null_where_nobody_counted_it() -> None:
    """Two choices came together, and the server has only counted both."""
    choices = [{"index": i, "message": {"content": "\\boxed{3}"}, "finish_reason": "stop"} for i in range(2)]
    body = json.dumps({"choices": choices, "usage": {"prompt_tokens": 7, "completion_tokens": 9}}).encode()
    with fixed(body) as url, gateway(url, n=2) as running:
        reply = running.chat("chosen?", steelyard={"usage": "selected"}).json
    assert reply["steelyard"]["samples"]["by"] == "n"
    assert reply["usage"] is None


ONE_COUNTED = "fault:slots@8"  # as llama.cpp: the usage is that of one choice, whatever n is


def test_choices_that_a_server_has_not_counted_are_counted_by_their_logprobs(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model=ONE_COUNTED, price=Price(1.0, 2.0)) as running:
        assert running.send("GET", "/readyz").json["upstreams"][ONE_COUNTED]["usage"] is False
        reply = running.chat("uncounted?", seed=0, steelyard={"n": 4}).json
    words = sum(len(text_of("uncounted?", i).split()) for i in range(4))
    assert reply["steelyard"]["samples"]["requests"] == 1
    assert reply["usage"] == {"prompt_tokens": 7, "completion_tokens": words, "total_tokens": 7 + words}
    assert reply["steelyard"]["cost"]["samples"] == pytest.approx((7 + 2 * words) * 1e-6)


def test_choices_that_nobody_has_counted_are_unknown_and_no_small_number(upstream: FaultUpstream) -> None:
    with fixed(sure()) as url:
        settings = VerifierSettings("p-true", upstream=url, model="m")  # whose scores need no log-probabilities
        made = gateway(upstream.url, model=ONE_COUNTED, method="vanilla", verifier=settings, price=Price(1.0, 2.0))
        with made as running:
            reply = running.chat("unknown?", VANILLA, seed=0, steelyard={"n": 4}).json
    assert reply["steelyard"]["samples"]["requests"] == 1
    assert (reply["usage"], reply["steelyard"]["cost"]["samples"]) == (None, None)
    assert reply["steelyard"]["usage"]["unknown"]["replies_without_usage"] == 1


def test_another_usage_is_refused(upstream: FaultUpstream) -> None:
    with gateway(upstream.url) as running:
        assert running.chat(steelyard={"usage": "none"}).error["param"] == "steelyard.usage"
