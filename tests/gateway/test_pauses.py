"""An upstream that asks for a day is tried again after a minute at most, by one request."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from steelyard.gateway.messages import api_errors
from steelyard.gateway.upstream import source
from steelyard.sampling.llm.pace import Pace
from tests.gateway.gateways import Gateway, gateway
from tests.gateway.outcomes import attempts
from tests.upstreams import FaultUpstream
from tests.waiting import until

DAY = 86400
PAUSE = 1.0  # seconds, in the place of 60


@pytest.fixture
def short_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (api_errors, source):
        monkeypatch.setattr(module, "LONGEST_PAUSE", PAUSE)


@pytest.fixture
def paces(monkeypatch: pytest.MonkeyPatch) -> list[Pace]:
    """The paces of the upstreams, in the order in which the gateway makes them."""
    made: list[Pace] = []

    def recorded(*arguments: Any, **settings: Any) -> Pace:
        made.append(Pace(*arguments, **settings))
        return made[-1]

    monkeypatch.setattr(source, "Pace", recorded)
    return made


def metric(running: Gateway, name: str) -> float:
    text = running.send("GET", "/metrics").body.decode()
    return float(re.findall(rf"^{name}{{.*}} (.*)$", text, re.MULTILINE)[0])


@pytest.mark.parametrize("status", [429, 503])
def test_a_day_of_retry_after_closes_the_gateway_for_a_minute(upstream: FaultUpstream, status: int) -> None:
    model = f"fault:{status}@{DAY}?now"
    with gateway(upstream.url, model=model) as running:
        assert running.send("GET", "/readyz").json["status"] == "ready"
        for prompt in ("now", "other"):
            refused = running.chat(prompt, model)
            assert refused.status == status
            assert 1 <= int(refused.headers["retry-after"]) <= 60
        ready = running.send("GET", "/readyz")
        assert (ready.status, ready.json["status"]) == (503, "not ready")
        assert 1 <= int(ready.headers["retry-after"]) <= 60
        assert 1 <= ready.json["upstreams"][model]["paused_s"] <= 60
        assert 0 < metric(running, "steelyard_upstream_paused_seconds") <= 60
        assert metric(running, "steelyard_upstream_pauses_total") == 1


@pytest.mark.usefixtures("short_pause")
def test_after_the_pause_one_request_is_tried_and_then_all_are_answered(upstream: FaultUpstream) -> None:
    model = f"fault:429@{DAY}?pause"
    with gateway(upstream.url, model=model) as running:
        assert running.send("GET", "/readyz").status == 200
        assert running.chat("pause", model).status == 429
        until(lambda: running.send("GET", "/readyz").status == 200)
        assert running.chat("good again", model).status == 200
        with ThreadPoolExecutor(8) as clients:
            later = list(clients.map(lambda i: running.chat(f"later {i}", model).status, range(8)))
        assert later == [200] * 8
        assert metric(running, "steelyard_upstream_paused_seconds") == 0


@pytest.mark.usefixtures("short_pause")
def test_while_the_trial_is_under_way_nothing_else_is_sent(upstream: FaultUpstream, paces: list[Pace]) -> None:
    """The others wait for it, and when the upstream asks for a day again they are refused at once."""
    model = f"fault:429@{DAY}?pause first"
    with gateway(upstream.url, model=model) as running:
        assert running.send("GET", "/readyz").status == 200
        assert running.chat("pause first", model).status == 429
        until(lambda: running.send("GET", "/readyz").status == 200)
        upstream.allow(0)
        with ThreadPoolExecutor(8) as clients:
            trial = clients.submit(running.chat, "pause first trial", model)
            until(lambda: attempts(upstream, "pause first trial") == 1)
            others = [clients.submit(running.chat, f"other {i}", model) for i in range(7)]
            until(lambda: len(paces[0]._waiting) == 7)
            upstream.allow()
            assert [reply.result().status for reply in (trial, *others)] == [429] * 8
        assert sum(attempts(upstream, f"other {i}") for i in range(7)) == 0


@pytest.mark.usefixtures("short_pause")
def test_a_pause_of_one_upstream_is_not_one_of_the_others(upstream: FaultUpstream) -> None:
    urls, models = f"a={upstream.url},b={upstream.url}", f"a=fault:429@{DAY}?pause,b=good"
    with gateway(urls, model=models, n=2) as running:
        assert running.send("GET", "/readyz").status == 200
        assert running.chat("pause", "a").status == 429
        assert running.chat("pause", "b").status == 200
        assert running.chat("pause", n=1).status == 200
        assert running.send("GET", "/readyz").status == 200
