"""Nothing that a client sends changes whom the gateway asks, or with which key."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.gateway.gateways import KEY, VOTE, Gateway, gateway
from tests.upstreams import CANARY, FaultUpstream

FIELDS = ["base_url", "api_base", "api_key", "url", "upstream", "endpoint", "host", "proxy", "provider", "webhook"]


@contextmanager
def listener() -> Iterator[tuple[str, list[bytes]]]:
    """Somebody else's server, and what it was sent."""
    came: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                with peer:
                    came.append(peer.recv(2**16))

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", came
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url) as running:
        yield running


@pytest.mark.parametrize("model", [VOTE, "good"])
def test_no_field_and_no_header_leads_the_gateway_elsewhere(
    served: Gateway, upstream: FaultUpstream, model: str
) -> None:
    prompt = f"elsewhere {model}"
    with listener() as (evil, came):
        place = evil.removeprefix("http://")
        image = {"type": "image_url", "image_url": {"url": f"{evil}/image.png"}}
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "user", "content": [image]}, {"role": "user", "content": prompt}],
            **dict.fromkeys(FIELDS, evil),
        }
        headers = {
            "X-Forwarded-Host": place, "X-Original-URL": f"{evil}/v1", "Forwarded": f"host={place}", "X-Api-Base": evil,
            "X-Portkey-Custom-Host": evil, "Referer": evil, "X-Real-Key": "x",
        }  # fmt: skip
        assert served.send("POST", "/v1/chat/completions", body, headers=headers).status == 200
        assert not came
    (sent,) = (entry for entry in upstream.entries() if entry["prompt"] == prompt)
    assert sent["keyed"]
    assert KEY not in sent["written"]
    assert {name: json.loads(sent["written"])[name] for name in FIELDS} == dict.fromkeys(FIELDS, evil)


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"])
def test_proxies_of_the_environment_are_not_asked(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with listener() as (evil, came):
        monkeypatch.setenv(name, evil)
        with gateway(upstream.url) as running:
            assert running.chat("proxy?").status == 200
        assert not came


@pytest.mark.parametrize("voted", [True, False])
@pytest.mark.parametrize("stream", [True, False])
def test_redirects_are_not_followed(upstream: FaultUpstream, voted: bool, stream: bool) -> None:
    model = "fault:redirect?now"
    with gateway(upstream.url, model=model) as running:
        answered = running.chat("now", VOTE if voted else model, stream=stream)
    assert (answered.status, answered.error["code"]) == (502, "upstream_refused")


def test_the_key_of_the_client_does_not_reach_the_upstream_nor_that_of_the_upstream_the_client(
    served: Gateway, upstream: FaultUpstream
) -> None:
    reply = served.chat("keys?", "good")
    assert CANARY not in f"{reply.headers} {reply.body.decode()}"
    assert KEY not in upstream.ledger.read_text()


def test_upstreams_with_a_user_or_a_query_are_refused_by_the_operator_himself() -> None:
    import steelyard as sy

    for url in ("http://user:pw@127.0.0.1/v1", "http://127.0.0.1/v1?key=1", "file:///etc/passwd", "gopher://x"):
        with pytest.raises(sy.SettingError), gateway(url):
            pass
