"""Text of every kind comes back as it was sent, character for character, as a stream and whole."""

from __future__ import annotations

import json

import pytest

from tests.fault_upstream.asked import UNICODE
from tests.gateway.gateways import VOTE, gateway
from tests.upstreams import FaultUpstream

HALF = "half \ud800 \x00 \u202e \u2028 \\boxed{3}"


@pytest.mark.parametrize(("kind", "text"), [("unicode", UNICODE), ("surrogate", HALF)])
@pytest.mark.parametrize("voted", [True, False])
def test_a_response_is_the_same_as_a_stream_and_whole(
    upstream: FaultUpstream, kind: str, text: str, voted: bool
) -> None:
    model = f"fault:{kind}"
    with gateway(upstream.url, model=model, n=1) as running:
        asked = VOTE if voted else model
        whole = running.chat("same?", asked, seed=0).json["choices"][0]["message"]["content"]
        events = running.chat("same?", asked, seed=0, stream=True).events
    assert events[-1] == "[DONE]"
    streamed = "".join(event["choices"][0]["delta"].get("content") or "" for event in events[:-1])
    assert [whole, streamed] == [text, text]


@pytest.mark.parametrize("voted", [True, False])
def test_a_prompt_reaches_the_upstream_byte_for_byte(upstream: FaultUpstream, voted: bool) -> None:
    for i, written in enumerate((json.dumps(UNICODE), json.dumps(UNICODE, ensure_ascii=False), '"\\ud800 \\u00E9"')):
        messages = f'[{{"role":"user", "content":{written}}}, {{"role": "user","content": "bytes {voted} {i}"}}]'
        body = f'{{"model": "{VOTE if voted else "good"}", "messages": {messages}}}'
        with gateway(upstream.url) as running:
            assert running.send("POST", "/v1/chat/completions", body.encode()).status == 200
        sent = [entry["written"] for entry in upstream.entries() if entry["prompt"] == f"bytes {voted} {i}"]
        assert len(sent) == 1
        assert messages in sent[0]
