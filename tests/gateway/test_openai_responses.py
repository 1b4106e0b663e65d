"""POST /v1/responses, as OpenAI's own Python client sees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.gateway.gateways import VOTE, gateway
from tests.gateway.openai_clients import openai_client, openai_package
from tests.upstreams import FaultUpstream


@pytest.fixture(scope="module")
def client(upstream: FaultUpstream) -> Iterator[Any]:
    with gateway(upstream.url) as running, openai_client(running) as made:
        yield made


@pytest.mark.parametrize("model", [VOTE, "good"])
def test_responses_are_answered_whole_and_as_a_stream(client: Any, model: str) -> None:
    whole = client.responses.create(model=model, input="How many apples?", instructions="Be brief.")
    assert whole.output_text
    assert whole.usage.output_tokens > 0
    with client.responses.stream(model=model, input="How many apples?", instructions="Be brief.") as stream:
        final = next(event for event in stream if event.type == "response.completed")
    assert final.response.output_text


def test_responses_that_need_a_memory_are_refused(client: Any) -> None:
    with pytest.raises(openai_package().BadRequestError) as refused:
        client.responses.create(model=VOTE, input="And now?", previous_response_id="resp_1")
    assert refused.value.code == "stateless"
