"""The contract with OpenAI's clients, line by line, held by the real openai client: streams."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import VOTE, Gateway, gateway
from tests.gateway.openai_clients import openai_client, openai_package, user
from tests.gateway.rows import rows
from tests.upstreams import CANARY, FaultUpstream

TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url) as running:
        yield running


@pytest.fixture(scope="module")
def client(served: Gateway) -> Iterator[Any]:
    with openai_client(served, max_retries=0) as made:
        yield made


def stream(client: Any, text: str, model: str = VOTE, **more: Any) -> Any:
    return client.chat.completions.create(model=model, messages=user(text), stream=True, **more)


def said(chunks: list[Any], index: int = 0) -> str:
    choices = [choice for chunk in chunks for choice in chunk.choices if choice.index == index]
    return "".join(choice.delta.content or "" for choice in choices)


@pytest.mark.parametrize("model", [VOTE, "good"])
def test_a_stream_says_the_same_as_the_reply_without_one(client: Any, model: str) -> None:
    whole = client.chat.completions.create(model=model, messages=user("same?"), seed=5)
    chunks = list(stream(client, "same?", model, seed=5))
    assert said(chunks).strip() == whole.choices[0].message.content.strip()
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert len(chunks) >= 3


@pytest.mark.parametrize("model", [VOTE, "good"])
def test_the_first_delta_has_the_role_and_all_chunks_one_id_object_time_and_model(client: Any, model: str) -> None:
    chunks = list(stream(client, "frame?", model, seed=5))
    assert chunks[0].choices[0].delta.role == "assistant"
    assert {(chunk.object, chunk.model, type(chunk.created)) for chunk in chunks} == {
        ("chat.completion.chunk", model, int)
    }
    assert len({chunk.id for chunk in chunks}) == 1


@pytest.mark.parametrize("model", [VOTE, "good"])
def test_the_usage_is_the_last_chunk_without_choices_and_only_where_it_was_asked_for(client: Any, model: str) -> None:
    whole = client.chat.completions.create(model=model, messages=user("usage?"), seed=5)
    *chunks, last = stream(client, "usage?", model, seed=5, stream_options={"include_usage": True})
    assert (last.choices, last.usage) == ([], whole.usage)
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)
    assert all(chunk.usage is None and chunk.choices for chunk in stream(client, "usage?", model, seed=5))


def test_the_headers_of_a_stream_forbid_buffering(client: Any) -> None:
    with client.chat.completions.with_streaming_response.create(
        model=VOTE, messages=user("headers?"), stream=True
    ) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert (reply.headers["cache-control"], reply.headers["x-accel-buffering"]) == ("no-cache", "no")
        assert reply.headers["x-request-id"].startswith("req_")
        text = "".join(reply.iter_text())
    assert text.endswith("data: [DONE]\n\n")
    assert {line.partition(":")[0] for line in text.split("\n")} == {"", "data"}


@pytest.mark.parametrize("model", [VOTE, "good"])
def test_several_choices_are_told_apart_by_their_index(client: Any, model: str) -> None:
    whole = client.chat.completions.create(model=model, messages=user("What is 3 + 4?"), seed=5, n=3)
    chunks = list(stream(client, "What is 3 + 4?", model, seed=5, n=3))
    for i, choice in enumerate(whole.choices):
        assert said(chunks, i).strip() == choice.message.content.strip()


def test_log_probabilities_of_a_vote_stream_are_those_of_the_reply(client: Any) -> None:
    whole = client.chat.completions.create(model=VOTE, messages=user("logs?"), seed=5, logprobs=True)
    chunks = list(stream(client, "logs?", seed=5, logprobs=True))
    found = [each for chunk in chunks if chunk.choices[0].logprobs for each in chunk.choices[0].logprobs.content]
    assert found == whole.choices[0].logprobs.content


@pytest.mark.parametrize("model", [VOTE, "fault:calling"])
def test_tool_calls_of_a_stream_have_their_index_and_their_id(upstream: FaultUpstream, model: str) -> None:
    with gateway(upstream.url, model="fault:calling") as running, openai_client(running) as client:
        chunks = list(stream(client, "Rome?", model, seed=1, tools=[TOOL]))
    calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    assert [(call.index, call.id, call.function.arguments) for call in calls] == [
        (0, "call_1", '{"city":"Rome","days":3}')
    ]


def test_what_is_ours_stands_in_the_extra_fields_of_the_last_chunk(client: Any) -> None:
    *_, last = stream(client, "ours?", seed=5)
    assert last.model_extra["steelyard"]["samples"]["drawn"] == 8


def test_heartbeats_and_progress_do_not_disturb_the_client(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.gateway.http.vote_stream.HEARTBEAT", 0.05)
    with gateway(upstream.url, model="fault:tardy@0.4?now&no-n") as running, openai_client(running) as client:
        chunks = list(stream(client, "now", seed=5, extra_body={"steelyard": {"progress": True, "n": 2}}))
        raw = running.chat("now", stream=True, steelyard={"n": 2}).body
    assert said(chunks) in (text_of("now", 5), text_of("now", 6))
    assert b": ping\n\n" in raw


@pytest.mark.parametrize("kind", ["malformed", "bytewise"])
def test_events_of_the_upstream_that_are_no_json_are_dropped_and_all_good_tokens_kept(
    upstream: FaultUpstream, kind: str
) -> None:
    model = f"fault:{kind}"
    with gateway(upstream.url, model=model) as running, openai_client(running) as client:
        assert said(list(stream(client, "good tokens?", model, seed=5))).strip() == text_of("good tokens?", 5)


@pytest.mark.parametrize("kind", rows(["cut", "clean-cut", "done-cut", "reset", "error-event"], "cut", "error-event"))
def test_a_stream_that_fails_in_its_middle_is_an_api_error_and_never_a_clean_end(
    upstream: FaultUpstream, kind: str
) -> None:
    model = f"fault:{kind}@4"
    with gateway(upstream.url, model=model) as running, openai_client(running) as client:
        chunks = stream(client, "middle?", model, seed=5)
        assert len(list(itertools.islice(chunks, 2))) == 2
        with pytest.raises(openai_package().APIError) as told:
            list(chunks)
    assert "upstream failed" in told.value.message
    assert (told.value.code, told.value.type) == ("upstream_error", "server_error")
    assert CANARY not in str(told.value)


@pytest.mark.usefixtures("short_pauses")
def test_a_vote_that_fails_after_its_first_heartbeat_is_an_api_error(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.gateway.http.vote_stream.HEARTBEAT", 0.05)
    with (
        gateway(upstream.url, model="fault:silent?now") as running,
        openai_client(running) as client,
        pytest.raises(openai_package().APIError, match="upstream gave no response") as told,
    ):
        list(stream(client, "now", extra_body={"steelyard": {"deadline_s": 0.5}}))
    assert told.value.code == "upstream_timeout"


@pytest.mark.parametrize("model", [VOTE, "fault:404?now"])
def test_what_fails_before_the_stream_begins_fails_with_its_status(upstream: FaultUpstream, model: str) -> None:
    with (
        gateway(upstream.url, model="fault:404?now") as running,
        openai_client(running) as client,
        pytest.raises(openai_package().NotFoundError),
    ):
        stream(client, "now", model)


@pytest.mark.parametrize("kind", rows(["content-parts", "surrogate", "rich"], "content-parts"))
@pytest.mark.parametrize("voted", [True, False])
def test_an_upstream_that_does_not_stream_is_streamed_whole(upstream: FaultUpstream, kind: str, voted: bool) -> None:
    model = f"fault:{kind}"
    with gateway(upstream.url, model=model) as running, openai_client(running) as client:
        asked: dict[str, Any] = {"model": VOTE, "extra_body": {"steelyard": {"n": 1}}} if voted else {"model": model}
        whole = client.chat.completions.create(messages=user("whole?"), seed=5, **asked).choices[0].message
        chunks = list(stream(client, "whole?", seed=5, **asked))
    content = whole.content
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    assert said(chunks) == text
    thought = "".join(getattr(chunk.choices[0].delta, "reasoning_content", None) or "" for chunk in chunks)
    assert thought == (getattr(whole, "reasoning_content", None) or "")
