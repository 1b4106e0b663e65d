"""What a limit on tokens is called: as the client wrote it, and where it is ours as the upstream wants it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steelyard.gateway.caps import Caps
from steelyard.gateway.upstream.source import Source
from tests.gateway.gateways import Gateway, gateway
from tests.upstreams import FaultUpstream

NEW = "fault:newer"


def limits(upstream: FaultUpstream, prompt: str) -> list[dict[str, Any]]:
    """The limits of the requests for a prompt, by the names under which they were sent."""
    sent = [json.loads(entry["written"]) for entry in upstream.entries() if entry["prompt"] == prompt]
    return [{name: value for name, value in body.items() if name.startswith("max_")} for body in sent]


def passed(running: Gateway, prompt: str, **more: Any) -> int:
    return running.chat(prompt, model=NEW, **more).status


@pytest.mark.parametrize("stream", [False, True])
def test_a_limit_of_ours_has_the_name_that_the_probe_found(upstream: FaultUpstream, stream: bool) -> None:
    prompt = f"probed {stream}"
    with gateway(upstream.url, model=NEW, caps=Caps(tokens=64)) as running:
        assert passed(running, prompt, stream=stream) == 200
    assert limits(upstream, prompt) == [{"max_completion_tokens": 64}]


def test_a_limit_of_the_client_goes_on_as_it_was_written(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model=NEW, caps=Caps(tokens=64)) as running:
        assert passed(running, "written", max_completion_tokens=7) == 200
        assert passed(running, "written wrong", max_tokens=7) == 400
    assert limits(upstream, "written") == [{"max_completion_tokens": 7}]
    assert limits(upstream, "written wrong") == [{"max_tokens": 7}]


def test_a_refusal_tells_the_name_where_no_probe_could(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_probe(_: Source) -> bool:
        return False

    monkeypatch.setattr(Source, "probed", no_probe)
    with gateway(upstream.url, model=NEW, caps=Caps(tokens=64)) as running:
        assert [passed(running, "refused"), passed(running, "refused")] == [200, 200]
        assert running.chat("refused vote", steelyard={"n": 1}).status == 200
    assert limits(upstream, "refused") == [{"max_tokens": 64}, *[{"max_completion_tokens": 64}] * 2]
    assert limits(upstream, "refused vote") == [{"max_completion_tokens": 64}]


def test_the_limit_of_a_responses_request_has_the_upstreams_name(upstream: FaultUpstream) -> None:
    body = {"model": "steelyard/majority", "input": "respond", "max_output_tokens": 9, "steelyard": {"n": 1}}
    with gateway(upstream.url, model=NEW) as running:
        assert running.send("POST", "/v1/responses", body).status == 200
        wrong = running.send("POST", "/v1/responses", body | {"max_output_tokens": 0})
    assert limits(upstream, "respond") == [{"max_completion_tokens": 9}]
    assert (wrong.status, wrong.error["param"]) == (400, "max_output_tokens")
