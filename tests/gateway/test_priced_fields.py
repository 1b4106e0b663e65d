"""Under a cost limit, a request may contain only what the operator's prices cover or the operator allows by name."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.foundation.errors import SettingError
from steelyard.gateway.caps import Caps
from steelyard.gateway.configuration import Configuration
from steelyard.sampling.llm.prices import Price
from tests.gateway.gateways import VOTE, gateway
from tests.gateway.outcomes import attempts
from tests.upstreams import FaultUpstream

CAPPED: dict[str, Any] = {"price": Price(1.0, 2.0), "caps": Caps(cost=0.05)}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/large.png"}}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {}}}


def of_parts(text: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [*parts, {"type": "text", "text": text}], **more}]}


DEARER: dict[str, dict[str, Any]] = {
    "service_tier": {"service_tier": "priority"},
    "web_search_options": {"web_search_options": {}},
    "modalities": {"modalities": ["text", "audio"]},
    "audio": {"audio": {"voice": "alloy", "format": "wav"}},
    "thinking": {"thinking": {"type": "enabled", "budget_tokens": 10**6}},
    "prediction": {"prediction": {"type": "content", "content": "a" * 100}},
    "plugins": {"plugins": [{"id": "web"}]},
    "models": {"models": ["a-dearer-one"]},
    "Service_Tier": {"Service_Tier": "priority"},
    "web_search_20250305": {"tools": [TOOL, {"type": "web_search_20250305", "name": "web_search"}]},
    "google_search": {"tools": [{"type": "function", "google_search": {}}]},
    "tools": {"tools": [{"code_execution": {}}]},
    "image_url": of_parts("dearer image_url", IMAGE),
    "input_audio": of_parts(
        "dearer input_audio", {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}
    ),
    "file": of_parts("dearer file", {"type": "file", "file": {"file_id": "file-1"}}),
    "cache_control": of_parts("dearer cache_control", cache_control={"type": "ephemeral"}),
}


@pytest.mark.parametrize("model", [VOTE, "good"])
@pytest.mark.parametrize("name", DEARER)
def test_what_may_change_the_price_is_refused_before_anything_is_sent(
    upstream: FaultUpstream, name: str, model: str
) -> None:
    with gateway(upstream.url, **CAPPED) as running:
        refused = running.chat(f"dearer {name}", model, **DEARER[name])
    assert (refused.status, refused.error["code"]) == (400, "price_not_covered")
    assert f"--allow-field {name})" in refused.error["message"] or name == "tools"
    assert not any(f"dearer {name}" in entry["prompt"] for entry in upstream.entries())


@pytest.mark.parametrize("name", ["service_tier", "thinking", "Service_Tier"])
def test_what_the_operator_allows_by_name_is_passed_on(upstream: FaultUpstream, name: str) -> None:
    with gateway(upstream.url, allow_fields=(name,), **CAPPED) as running:
        assert running.chat(f"allowed {name}", **DEARER[name]).status == 200
    assert attempts(upstream, f"allowed {name}") == 1


def test_an_image_can_be_allowed(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, allow_fields=("image_url",), **CAPPED) as running:
        body = {"model": "good"} | of_parts("allowed image_url", IMAGE)
        assert running.send("POST", "/v1/chat/completions", body).status == 200
    assert any("allowed image_url" in entry["prompt"] for entry in upstream.entries())


@pytest.mark.parametrize(
    "more",
    [
        {"service_tier": "auto", "modalities": ["text"], "audio": None, "prediction": None},
        {"tools": [TOOL], "tool_choice": "none", "parallel_tool_calls": False},
        {"temperature": 0.5, "stop": ["x"], "response_format": {"type": "text"}, "reasoning_effort": "low"},
        {"user": "u", "metadata": {"a": "b"}, "store": False, "logprobs": True, "top_logprobs": 2},
    ],
)
def test_ordinary_fields_pass_under_a_cap(upstream: FaultUpstream, more: dict[str, Any]) -> None:
    with gateway(upstream.url, **CAPPED) as running:
        assert running.chat("ordinary", "good", **more).status == 200


def test_without_a_cap_on_the_cost_every_field_is_passed_on(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, caps=Caps(tokens=1000)) as running:
        assert running.chat("uncapped", "good", service_tier="priority").status == 200


def test_a_responses_request_is_held_to_the_same(upstream: FaultUpstream) -> None:
    parts = [{"type": "input_image", "image_url": "https://example.org/large.png"}]
    body = {"model": VOTE, "input": [{"role": "user", "content": parts}]}
    with gateway(upstream.url, **CAPPED) as running:
        assert running.send("POST", "/v1/responses", body).error["code"] == "price_not_covered"
        assert running.send("POST", "/v1/responses", {"model": VOTE, "input": "hm", "service_tier": "priority"}).error


def test_a_field_is_allowed_only_where_there_is_a_cap() -> None:
    with pytest.raises(SettingError, match="--cap cost"):
        Configuration("http://127.0.0.1:9/v1", model="m", allow_fields=("audio",))
