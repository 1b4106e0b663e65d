"""An upstream whose probe fails is still asked, and the reply says what is missing for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from steelyard.foundation.errors import UpstreamError
from tests.gateway.gateways import gateway
from tests.upstreams import FaultUpstream


def test_votes_without_scores_say_that_the_upstream_could_not_be_probed(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(*_: Any, **__: Any) -> None:
        raise UpstreamError("the probe came too late")

    monkeypatch.setattr("steelyard.gateway.upstream.source.probe", late)
    with gateway(upstream.url, method=None) as running:
        told = running.chat("probed?", model="steelyard/vote", seed=0).json["steelyard"]
    assert told["method"] == "majority"
    assert told["notes"] == ["the upstream could not be probed, so its samples came without log-probabilities"]


def test_it_is_ready_when_a_first_vote_was_tried(upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then what it computes with is loaded, and a request would have to wait for that."""
    tried: list[bool] = []

    async def warm(*_: Any) -> None:
        await asyncio.sleep(0.2)
        tried.append(True)

    monkeypatch.setattr("steelyard.gateway.vote.vote_counter.VoteCounter.warm", warm)
    with gateway(upstream.url) as running:
        assert running.send("GET", "/readyz").status == 200
        assert tried
