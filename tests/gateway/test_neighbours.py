"""What one client does, or an upstream that asks for time, holds up nobody longer than it must."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from steelyard.gateway.caps import Caps
from steelyard.gateway.upstream.source import Source
from steelyard.sampling.llm.faults import SpentError
from tests.gateway.gateways import VOTE, gateway
from tests.gateway.outcomes import attempts
from tests.upstreams import FaultUpstream
from tests.waiting import until

PATIENT = Caps(deadline=60.0)


@pytest.mark.parametrize("voted", [True, False])
def test_an_upstream_that_wants_more_time_than_there_is_sends_the_client_away_at_once(
    upstream: FaultUpstream, voted: bool
) -> None:
    model = "fault:429@3000?now"
    with gateway(upstream.url, model=model, caps=PATIENT) as running:
        assert running.send("GET", "/readyz").status == 200
        for prompt, asked in ((f"now {voted}", 1), (f"later {voted}", 0)):
            refused = running.chat(prompt, VOTE if voted else model)
            assert (refused.status, refused.error["type"]) == (429, "rate_limit_error")
            assert 1 <= int(refused.headers["retry-after"]) <= 60
            assert attempts(upstream, prompt) == asked


def test_short_deadlines_of_one_client_do_not_slow_the_others_down(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources: list[Source] = []
    make = Source.__init__

    def noted(self: Source, *given: object, **named: object) -> None:
        make(self, *given, **named)  # type: ignore[arg-type]
        sources.append(self)

    monkeypatch.setattr(Source, "__init__", noted)
    with gateway(upstream.url, model="fault:silent?now&no-n") as running:
        assert running.send("GET", "/readyz").status == 200
        before = sources[0].pace.limit
        for i in range(6):
            assert running.chat(f"now {i}", steelyard={"deadline_s": 0.05}).status == 504
        assert sources[0].pace.limit == before


def test_a_deadline_that_is_over_is_no_word_of_the_upstream() -> None:
    """On a busy machine it may be over before anything was sent: then nobody has said 429."""

    async def run() -> None:
        source = Source("", "m", cast(Any, None), n=1, limit=1)
        await source.send(lambda: asyncio.sleep(0), tries=1, until=time.monotonic() - 1)

    with pytest.raises(SpentError):
        asyncio.run(run())


def test_an_upstream_that_forgets_n_is_asked_for_the_rest_one_by_one_and_nothing_twice(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:no-n?now") as running:
        assert running.send("GET", "/readyz").json["upstreams"]["fault:no-n?now"]["n"] == 8
        for prompt in ("now first", "now second"):
            told = running.chat(prompt, seed=0).json["steelyard"]["samples"]
            assert (told["drawn"], attempts(upstream, prompt)) == (8, 8)


@pytest.mark.parametrize(("kind", "votes", "failed"), [("replay", 1, 3), ("same-id", 4, 0)])
def test_a_response_that_is_replayed_under_its_id_counts_once(
    upstream: FaultUpstream, kind: str, votes: int, failed: int
) -> None:
    with gateway(upstream.url, model=f"fault:{kind}&no-n") as running:
        told = running.chat("again", seed=0, steelyard={"n": 4}).json["steelyard"]
    assert sum(one["votes"] for one in told["answers"]) == votes
    assert told["samples"]["failed"] == failed


@pytest.mark.parametrize("late", ["", "@0.4"])
def test_of_replayed_responses_the_lowest_number_counts_whichever_came_first(
    upstream: FaultUpstream, late: str
) -> None:
    with gateway(upstream.url, model=f"fault:replay{late}&no-n") as running:
        told = running.chat(f"lowest {late}", seed=0, steelyard={"n": 4, "ballots": True}).json["steelyard"]
    assert [vote["answer"] for vote in told["ballots"]] == ["3", None, None, None]


@pytest.mark.parametrize("voted", [True, False])
def test_a_reply_that_is_too_large_is_not_asked_for_again(upstream: FaultUpstream, voted: bool) -> None:
    model = "fault:crowd?now"
    with gateway(upstream.url, model=model) as running:
        assert running.send("GET", "/readyz").status == 200
        refused = running.chat(f"now large {voted}", VOTE if voted else model, steelyard={"n": 1})
    assert (refused.status, attempts(upstream, f"now large {voted}")) == (502, 1)


def test_a_refusal_that_names_n_costs_only_its_own_request(upstream: FaultUpstream) -> None:
    """However many there are: whether the upstream still has n its probe says, and no client's request."""
    with gateway(upstream.url, model="fault:picky@n?bad") as running:
        assert running.send("GET", "/readyz").status == 200
        ways = [
            running.chat(prompt, seed=0).json["steelyard"]["samples"]["by"]
            for prompt in ("bad once", "whole", "bad twice", "bad again", "never")
        ]
    assert ways == ["n"] * 5
    assert [attempts(upstream, prompt) for prompt in ("whole", "never")] == [1, 1]


def test_a_key_of_several_never_takes_the_places_of_all(upstream: FaultUpstream, tmp_path: Path) -> None:
    keys = ["noisy-client", "other-client"]
    (tmp_path / "keys").write_text("\n".join(keys))
    caps = Caps(in_flight=2, queue=0, drain=0)
    body = {"model": VOTE, "messages": [{"role": "user", "content": "my turn"}]}
    with (
        gateway(upstream.url, model="fault:held?my turn", key_file=tmp_path / "keys", caps=caps) as running,
        ThreadPoolExecutor(1) as clients,
    ):
        first = clients.submit(running.send, "POST", "/v1/chat/completions", body, key=keys[0])
        until(lambda: attempts(upstream, "my turn") == 1)
        second = running.send("POST", "/v1/chat/completions", body, key=keys[0])
        body["messages"] = [{"role": "user", "content": "another"}]
        other = running.send("POST", "/v1/chat/completions", body, key=keys[1])
        upstream.release("my turn")
        assert (first.result().status, second.status, other.status) == (200, 429, 200)
    assert "1 requests with this key are in flight" in second.error["message"]
