"""How many choices an upstream is asked for at once: what is believed of it, on which evidence, and for how long."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from steelyard.gateway.upstream import upstream_limits
from steelyard.gateway.upstream.upstream_limits import ChoiceLimit
from steelyard.runs.parameters import Abilities
from steelyard.sampling.llm.probe import probe
from tests.gateway.gateways import gateway
from tests.upstreams import FaultUpstream
from tests.waiting import until


def test_what_a_probe_finds_is_believed_at_once_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = ChoiceLimit()
    limit.learn(1)
    assert limit.current(8) == 1
    monkeypatch.setattr("time.monotonic", lambda: upstream_limits.BELIEVED + 1e9)
    assert limit.current(8) == 8


def asked_often(upstream: FaultUpstream, model: str) -> Generator[int]:
    """The n that is believed in after requests that were refused with it or answered short, now and later."""
    with gateway(upstream.url, model=model) as running:
        assert running.send("GET", "/readyz").status == 200
        for _ in range(3):
            samples = running.chat("odd?", seed=0).json["steelyard"]["samples"]
            assert (samples["drawn"], samples["failed"]) == (8, 0)
        while True:
            yield running.send("GET", "/readyz").json["upstreams"][model]["n"]


@pytest.mark.parametrize("fault", ["greedy", "no-n"])
def test_requests_that_are_refused_or_answered_short_take_n_from_nobody(upstream: FaultUpstream, fault: str) -> None:
    model = f"fault:{fault}?odd"
    found = asked_often(upstream, model)
    next(found)
    until(lambda: len(upstream.asked(model, probes=True)) > len(upstream.asked(model)) + 1)  # it was probed again
    assert [next(found) for _ in range(3)] == [8] * 3
    found.close()


@pytest.mark.parametrize(("fault", "most"), [("slots@3", 3), ("no-n", 1)])
def test_an_upstream_that_gives_fewer_than_it_did_is_asked_for_those(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, fault: str, most: int
) -> None:
    probes = [Abilities(most=8)]

    async def probed(*given: Any, **more: Any) -> Abilities:
        return probes.pop() if probes else await probe(*given, **more)

    monkeypatch.setattr("steelyard.gateway.upstream.source.probe", probed)
    found = asked_often(upstream, f"fault:{fault}")
    until(lambda: next(found) == most)
    found.close()
