"""Upstreams that reply with anything: no request is ever lost, none is a 500, and whatever goes out is readable."""

from __future__ import annotations

import logging
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.gateway.gateways import VOTE, Gateway, gateway
from tests.gateway.outcomes import asked, settled
from tests.upstreams import FaultUpstream

MODEL = "fault:fuzz?now&no-n"
TOOLS: list[Any] = [{"type": "function", "function": {"name": "f"}}]
WAYS: list[dict[str, Any]] = [
    {"model": VOTE, "steelyard": {"n": 8, "ballots": True}},
    {"model": VOTE, "steelyard": {"n": 4}, "stream": True, "logprobs": True},
    {"model": VOTE, "steelyard": {"n": 4, "method": "vanilla"}, "tools": TOOLS},
    {"model": VOTE, "steelyard": {"n": 4}, "response_format": {"type": "json_object"}},
    {"model": MODEL},
    {"model": MODEL, "stream": True},
    {"model": MODEL, "stream": True, "stream_options": {"include_usage": True}},
]


def ends(running: Gateway, first: int, count: int) -> Counter[str]:
    """What became of so many requests, each with replies of its own."""

    def one(i: int) -> str:
        end = asked(running, f"now fuzz {i}", seed=100 * i, **WAYS[i % len(WAYS)])
        assert end.status in (200, 502, 503, 504), end
        return end.end

    with ThreadPoolExecutor(4) as clients:
        return Counter(clients.map(one, range(first, first + count)))


def responses(running: Gateway, first: int, count: int) -> None:
    for i in range(first, first + count):
        body = {"model": VOTE, "input": f"now fuzz responses {i}", "stream": bool(i % 2), "steelyard": {"n": 2}}
        answered = running.send("POST", "/v1/responses", body)
        assert answered.status in (200, 502, 503, 504), answered


@pytest.mark.usefixtures("short_pauses")
def test_replies_with_anything_in_them_have_an_end_that_clients_can_read(
    upstream: FaultUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    with gateway(upstream.url, model=MODEL) as running:
        assert running.send("GET", "/readyz").status == 200
        found = ends(running, 0, 28)
        responses(running, 0, 6)
    assert sum(found.values()) == 28
    settled(upstream)
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.long
@pytest.mark.usefixtures("short_pauses")
def test_ten_thousand_replies_with_anything_in_them(upstream: FaultUpstream, caplog: pytest.LogCaptureFixture) -> None:
    """As many as half a minute allows, up to 10,000 replies, and some however busy the machine is."""
    end, done = time.monotonic() + 30, 0
    with gateway(upstream.url, model=MODEL) as running:
        assert running.send("GET", "/readyz").status == 200
        while not done or (time.monotonic() < end and len(upstream.entries()) < 10_000):
            assert sum(ends(running, done, 70).values()) == 70
            responses(running, done, 10)
            done += 70
    settled(upstream)
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
