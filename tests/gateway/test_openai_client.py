"""The gateway as OpenAI's own Python client sees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.gateway.gateways import KEY, VOTE, Gateway, gateway
from tests.upstreams import FaultUpstream

openai: Any = pytest.importorskip("openai")
ASKED: list[Any] = [{"role": "user", "content": "How many apples?"}]


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url) as running:
        yield running


@pytest.fixture(scope="module")
def client(served: Gateway) -> Iterator[Any]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key=KEY) as made:
        yield made


def test_a_vote_reads_like_any_completion_and_our_object_is_kept(client: Any) -> None:
    reply = client.chat.completions.create(model=VOTE, messages=ASKED, seed=0, extra_body={"steelyard": {"n": 4}})
    assert reply.choices[0].finish_reason == "stop"
    assert reply.model_extra["steelyard"]["samples"]["drawn"] == 4
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert reply._request_id.startswith("req_")


@pytest.mark.parametrize("model", [VOTE, "good"])
def test_a_stream_says_what_the_whole_reply_says(client: Any, model: str) -> None:
    whole = client.chat.completions.create(model=model, messages=ASKED, seed=0)
    streamed: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
    chunks = list(client.chat.completions.create(model=model, messages=ASKED, seed=0, **streamed))
    said = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert said.strip() == whole.choices[0].message.content.strip()
    assert chunks[-1].usage == whole.usage
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices][-1] == "stop"


def test_models_are_listed_and_found(client: Any) -> None:
    assert [model.id for model in client.models.list()] == [VOTE, "good"]
    assert client.models.retrieve(VOTE).id == VOTE


def test_errors_have_their_message_type_param_and_code(client: Any) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model=VOTE, messages=[])
    assert (refused.value.param, refused.value.type) == ("messages", "invalid_request_error")
    with pytest.raises(openai.NotFoundError) as missing:
        client.models.retrieve("nothing/here")
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="wrong-key").models.list()


@pytest.mark.usefixtures("short_pauses")
def test_what_was_tried_again_here_is_not_tried_again_by_the_client(upstream: FaultUpstream) -> None:
    with (
        gateway(upstream.url, model="fault:500?client") as running,
        openai.OpenAI(base_url=f"{running.url}/v1", api_key=KEY) as made,
    ):
        asked = [{"role": "user", "content": "client retries?"}]
        with pytest.raises(openai.InternalServerError):
            made.chat.completions.create(model=VOTE, messages=asked, extra_body={"steelyard": {"n": 2}})
        assert sum(entry["prompt"] == "client retries?" for entry in upstream.entries()) <= 2 * 3


def test_a_cut_stream_is_an_error_for_the_client(upstream: FaultUpstream) -> None:
    model = "fault:clean-cut@4?cut"
    with (
        gateway(upstream.url, model=model) as running,
        openai.OpenAI(base_url=f"{running.url}/v1", api_key=KEY) as made,
        pytest.raises(openai.APIError),
    ):
        list(made.chat.completions.create(model=model, messages=[{"role": "user", "content": "cut"}], stream=True))


@pytest.mark.parametrize("model", [VOTE, "good"])
def test_responses_are_answered_whole_and_as_a_stream(client: Any, model: str) -> None:
    whole = client.responses.create(model=model, input="How many apples?", instructions="Be brief.")
    assert whole.output_text
    assert whole.usage.output_tokens > 0
    with client.responses.stream(model=model, input="How many apples?", instructions="Be brief.") as stream:
        final = next(event for event in stream if event.type == "response.completed")
    assert final.response.output_text


def test_responses_that_need_a_memory_are_refused(client: Any) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(model=VOTE, input="And now?", previous_response_id="resp_1")
    assert refused.value.code == "stateless"
