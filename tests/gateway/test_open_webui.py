"""The contract with Open WebUI, by the requests that it sends: models, chats as streams, and tasks such as titles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import VOTE, Answered, Gateway, gateway
from tests.gateway.outcomes import strict
from tests.upstreams import FaultUpstream

MODEL = "fault:rich"
WHO = {"name": "A", "id": "1", "email": "a@example.com", "role": "user"}
HEADERS = {f"X-OpenWebUI-User-{name.title()}": value for name, value in WHO.items()} | {"X-OpenWebUI-Chat-Id": "c-1"}
PIXEL = "data:image/png;base64,iVBORw0KGgo="


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url, model=MODEL) as running:
        yield running


def sent(running: Gateway, prompt: str, **more: Any) -> Answered:
    body = {"model": VOTE, "messages": [{"role": "user", "content": prompt}], "seed": 0, **more}
    return running.send("POST", "/v1/chat/completions", body, headers=HEADERS)


def texts(prompt: str) -> set[str]:
    """What the samples say, of which one goes back."""
    return {text_of(prompt, seed) for seed in range(8)}


def test_the_models_are_a_list_with_ids(served: Gateway) -> None:
    found = served.send("GET", "/v1/models", headers=HEADERS).json
    assert [each["id"] for each in found["data"]] == [VOTE, MODEL]


@pytest.mark.parametrize("model", [VOTE, MODEL])
def test_a_chat_streams_its_text_then_its_usage_then_done(served: Gateway, model: str) -> None:
    prompt = f"webui {model}?"
    more = {"stream": True, "stream_options": {"include_usage": True}, "user": WHO, "logit_bias": {"5": -100}}
    answered = sent(served, prompt, model=model, **more)
    assert answered.headers["content-type"].startswith("text/event-stream")
    *chunks, usage, done = answered.events
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0]["role"] == "assistant"
    assert "".join(delta.get("content") or "" for delta in deltas) in texts(prompt)
    assert (usage["choices"], done) == ([], "[DONE]")
    assert usage["usage"]["completion_tokens"] > 0


def test_what_it_adds_to_a_request_reaches_the_upstream(served: Gateway, upstream: FaultUpstream) -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": PIXEL}},
        {"type": "text", "text": "webui sees?", "cache_control": {"type": "ephemeral"}},
    ]
    more = {"messages": [{"role": "user", "content": parts}], "user": WHO, "reasoning": {"effort": "low"}}
    assert sent(served, "", **more).status == 200
    arrived = [json.loads(entry["written"]) for entry in upstream.asked(MODEL) if PIXEL in entry["written"]]
    assert arrived
    assert all(more.items() <= each.items() for each in arrived)


def test_a_task_has_its_text_in_the_first_choice_and_its_usage(served: Gateway) -> None:
    reply = strict(sent(served, "webui title?", stream=False, max_completion_tokens=1000).body)
    assert reply["choices"][0]["message"]["content"] in texts("webui title?")
    assert reply["usage"]["total_tokens"] > 0


def test_an_error_of_a_stream_is_json_with_a_message_to_show(served: Gateway) -> None:
    answered = sent(served, "webui?", model="nobody", stream=True)
    assert (answered.status, answered.headers["content-type"]) == (404, "application/json")
    assert "nobody" in answered.error["message"]
