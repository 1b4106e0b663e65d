"""A max_tokens that the gateway sets itself is within the limit of the upstream's model."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.gateway.caps import Caps
from steelyard.gateway.upstream.upstream_limits import ModelLimit, TokenLimit, model_limit
from steelyard.sampling.llm.prices import Price
from tests.gateway.gateways import VOTE, gateway
from tests.gateway.test_limit_names import limits
from tests.upstreams import FaultUpstream

CAPPED: dict[str, Any] = {"price": Price(0.15, 0.6), "caps": Caps(cost=0.05)}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("vote", [True, False])
@pytest.mark.parametrize("fault", ["longest@4096", "window@4096"])
def test_the_models_limit_is_learned_from_its_refusal(
    upstream: FaultUpstream, fault: str, vote: bool, stream: bool
) -> None:
    model = f"fault:{fault}"
    prompts = [f"{word} {fault} {vote} {stream}" for word in ("first", "second")]
    with gateway(upstream.url, model=model, **CAPPED) as running:
        for prompt in prompts:
            answered = running.chat(prompt, VOTE if vote else model, stream=stream)
            assert answered.status == 200, answered.body
    first, second = (limits(upstream, prompt) for prompt in prompts)
    accepted = 4091 if fault.startswith("window") else 4095
    assert first[0]["max_tokens"] > 10_000
    assert first[1:] == [{"max_tokens": accepted}]
    assert len(second) == 1
    assert 2048 <= second[0]["max_tokens"] <= accepted


def test_a_long_prompt_does_not_shorten_the_responses_to_others(upstream: FaultUpstream) -> None:
    model = "fault:window@4096"
    with gateway(upstream.url, model=model, **CAPPED) as running:
        assert running.chat("long " * 4000, model).status == 200
        assert running.chat("a short one", model).status == 200
    assert limits(upstream, "a short one")[-1]["max_tokens"] > 3000


def test_a_limit_of_the_client_is_not_changed(upstream: FaultUpstream) -> None:
    model = "fault:longest@4096"
    with gateway(upstream.url, model=model, **CAPPED) as running:
        refused = running.chat("of the client", model, max_tokens=5000)
    assert (refused.status, refused.error["code"]) == (400, "upstream_refused")
    assert limits(upstream, "of the client") == [{"max_tokens": 5000}]


@pytest.mark.parametrize(
    ("error", "limit"),
    [
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", (8192, 0)),
        ("max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for claude-3-5", (8192, 0)),
        ("`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 20 `inputs` tokens and 9000 ..", (4097, 20)),
        ("maximum context length of 4096 tokens. You requested a total of 9023 tokens: 23 tokens from the input "
         "messages and 9000 tokens for the completion.", (4096, 23)),
        ("the prompt has 11 tokens: at most 10 fit", None),
        ("no token", None),
        ("Unknown field 4096", None),
    ],
)  # fmt: skip
def test_errors_of_servers_are_read(error: str, limit: tuple[int, int] | None) -> None:
    assert model_limit(9000, error) == (limit and ModelLimit(*limit))


def test_a_limit_is_forgotten_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = TokenLimit()
    assert limit.lowered(9000, 10) == 9000
    limit.learn(ModelLimit(4096))
    assert limit.lowered(9000, 10) == 4095
    monkeypatch.setattr("steelyard.gateway.upstream.upstream_limits.time.monotonic", lambda: float("inf"))
    assert limit.lowered(9000, 10) == 9000
