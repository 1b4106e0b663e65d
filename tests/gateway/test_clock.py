"""A clock that is set while requests run: every deadline is by the monotonic clock, so that none is early or late."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import pytest

from tests.gateway.gateways import VOTE, Gateway, gateway
from tests.gateway.outcomes import asked
from tests.upstreams import FaultUpstream

YEAR, HOUR = 365 * 86400.0, 3600.0
SILENT = "fault:silent?now"


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url, model=SILENT) as running:
        assert running.send("GET", "/readyz").status == 200
        yield running


@pytest.fixture(autouse=True)
def jumping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks at the clock sees it an hour or a year before or after the last time."""
    real, steps = time.time, itertools.cycle([0.0, HOUR, -HOUR, YEAR, -YEAR])
    monkeypatch.setattr("time.time", lambda: real() + next(steps))


@pytest.mark.parametrize("stream", [False, True])
def test_a_clock_that_jumps_makes_no_deadline_early_or_late(served: Gateway, stream: bool) -> None:
    begun = time.monotonic()
    ours = {"n": 2, "deadline_s": 0.5}
    end = asked(served, f"now, clock {stream}", model=VOTE, stream=stream, seed=0, steelyard=ours)
    took = time.monotonic() - begun
    assert (end.end, end.status) == ("error", 504)
    assert 0.45 < took < 600  # a busy machine may be late itself, though not by an hour


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", [VOTE, SILENT])
def test_a_clock_that_jumps_ends_no_request_that_has_time(served: Gateway, model: str, stream: bool) -> None:
    ours = {"steelyard": {"n": 2, "deadline_s": 60}} if model == VOTE else {}
    end = asked(served, "the clock is set", model=model, stream=stream, seed=0, **ours)
    assert end.end == "whole"
