"""The contract with the litellm client, which reads replies more strictly than others; where it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import KEY, VOTE, Gateway, gateway
from tests.gateway.openai_clients import user
from tests.upstreams import FaultUpstream

pytestmark = pytest.mark.filterwarnings("ignore")  # what it warns of is its own
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def litellm() -> Any:
    """The package, which is no dependency of ours."""
    return pytest.importorskip("litellm")


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url, model="fault:rich") as running:
        yield running


def complete(litellm: Any, running: Gateway, text: str, model: str = VOTE, **more: Any) -> Any:
    return litellm.completion(
        model=f"openai/{model}", messages=user(text), api_base=f"{running.url}/v1", api_key=KEY, num_retries=0, **more
    )


@pytest.mark.parametrize("model", [VOTE, "fault:rich"])
def test_a_reply_is_read_with_its_usage(litellm: Any, served: Gateway, model: str) -> None:
    reply = complete(litellm, served, "lite?", model, seed=0, extra_body={"steelyard": {"n": 1}})
    assert reply.choices[0].message.content == text_of("lite?", 0)
    assert reply.choices[0].finish_reason == "stop"
    words = len(text_of("lite?", 0).split())
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (7, words)


@pytest.mark.parametrize("model", [VOTE, "fault:rich"])
def test_a_stream_is_the_same_text_and_ends_with_its_usage(litellm: Any, served: Gateway, model: str) -> None:
    more: dict[str, Any] = {"stream_options": {"include_usage": True}, "extra_body": {"steelyard": {"n": 1}}}
    chunks = list(complete(litellm, served, "lite stream?", model, seed=0, stream=True, **more))
    text = "".join(each.choices[0].delta.content or "" for each in chunks if each.choices)
    assert text.strip() == text_of("lite stream?", 0).strip()
    assert [each.choices[0].finish_reason for each in chunks if each.choices and each.choices[0].finish_reason] == [
        "stop"
    ]
    assert len({each.id for each in chunks}) == 1
    usage = [each.usage for each in chunks if getattr(each, "usage", None)]
    assert usage[-1].completion_tokens == len(text_of("lite stream?", 0).split())


@pytest.mark.parametrize("stream", [False, True])
def test_calls_of_tools_are_those_of_one_sample(litellm: Any, upstream: FaultUpstream, stream: bool) -> None:
    pytest.importorskip("mcp")  # which litellm imports for tools
    with gateway(upstream.url, model="fault:calling") as running:
        found = complete(litellm, running, "weather?", seed=1, tools=[TOOL], stream=stream)
        reply = litellm.stream_chunk_builder(list(found)) if stream else found
    (call,) = reply.choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("weather", '{"city":"Rome","days":3}')
    assert call.id.startswith("call_")
    assert reply.choices[0].message.content in (None, "")


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"model": "nobody"}, "NotFoundError"),
        ({"temperature": -1}, "BadRequestError"),
        ({"api_key": "wrong"}, "AuthenticationError"),
    ],
)
def test_an_error_has_its_class_and_its_message(litellm: Any, served: Gateway, more: dict[str, Any], kind: str) -> None:
    settings: dict[str, Any] = {"model": VOTE, "api_key": KEY} | more
    model = f"openai/{settings.pop('model')}"
    with pytest.raises(getattr(litellm, kind), match=r"no model|temperature must|key is not valid"):
        litellm.completion(
            model=model, messages=user("wrong?"), api_base=f"{served.url}/v1", num_retries=0, max_retries=0, **settings
        )


def test_a_stream_that_is_cut_is_an_error(litellm: Any, upstream: FaultUpstream) -> None:
    model = "fault:cut@4"
    with gateway(upstream.url, model=model) as running, pytest.raises(Exception, match="before the response was"):
        list(complete(litellm, running, "cut?", model, stream=True, max_retries=0))
