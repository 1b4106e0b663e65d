"""A client that leaves, at any moment: all its calls are cancelled, none is made any more, and nobody else notices."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from steelyard.gateway.caps import Caps
from steelyard.gateway.limits.admission import Admission
from steelyard.gateway.vote.verifier_settings import VerifierSettings
from steelyard.sampling.llm.pace import Pace
from tests.gateway.gateways import KEY, VOTE, Answered, Gateway, gateway
from tests.gateway.outcomes import attempts, settled
from tests.sampling.verifiers.verifier_servers import fault_verifier
from tests.upstreams import FaultUpstream
from tests.waiting import PATIENCE, until


@contextmanager
def client(running: Gateway, prompt: str, model: str = VOTE, **more: Any) -> Iterator[socket.socket]:
    """A request that is sent; at the end of the block its client is gone."""
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": prompt}], "seed": 0, **more}).encode()
    place = urlsplit(running.url)
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {KEY}\r\n"
    with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as made:
        made.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        yield made


def cancelled(upstream: FaultUpstream, prompt: str) -> int:
    """How many requests for a prompt ended because we hung up."""
    asked = {entry["request"] for entry in upstream.entries() if entry["prompt"] == prompt}
    return sum(entry["request"] in asked and entry["closed"] == "them" for entry in upstream.entries("left"))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("single", "calls"), [("&no-n", 8), ("", 1)])
def test_during_the_vote_every_call_is_cancelled_and_others_go_on(
    upstream: FaultUpstream, caplog: pytest.LogCaptureFixture, stream: bool, single: str, calls: int
) -> None:
    prompt = f"now leave {stream} {single}"
    with gateway(upstream.url, model=f"fault:silent?now{single}") as running:
        assert running.send("GET", "/readyz").status == 200
        came: list[Answered] = []
        with client(running, prompt, stream=stream):
            until(lambda: attempts(upstream, prompt) == calls)
            other = threading.Thread(target=lambda: came.append(running.chat("another one", seed=0)))
            other.start()
        until(lambda: cancelled(upstream, prompt) == calls)
        other.join()
        assert came[0].status == 200
        until(lambda: 'status="499"' in running.send("GET", "/metrics").body.decode())
    settled(upstream)
    assert attempts(upstream, prompt) == calls
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_in_the_middle_of_a_stream_that_passes_through_the_call_is_cancelled(
    upstream: FaultUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    model = "fault:stall@4?middle"
    with gateway(upstream.url, model=model) as running:
        for i in range(4):
            with client(running, f"middle {i}", model, stream=True) as made:
                while b'"content"' not in made.recv(2**16):
                    pass
            until(lambda i=i: cancelled(upstream, f"middle {i}") == 1)  # type: ignore[misc]
        settled(upstream)
        assert [attempts(upstream, f"middle {i}") for i in range(4)] == [1] * 4
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_while_it_waits_for_a_place_nothing_is_ever_asked(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = admissions(monkeypatch)
    with gateway(upstream.url, model="fault:held?waits", caps=Caps(in_flight=1, queue=4)) as running:
        assert running.send("GET", "/readyz").status == 200
        with client(running, "waits first") as first:
            until(lambda: attempts(upstream, "waits first") == 1)
            with client(running, "waits queued"):
                until(lambda: queue[0].waiting == 1)
            until(lambda: queue[0].waiting == 0)
            upstream.release("waits")
            assert b" 200 OK" in first.recv(2**16)
        assert running.chat("waits third").status == 200
    settled(upstream)
    assert attempts(upstream, "waits queued") == 0


def admissions(monkeypatch: pytest.MonkeyPatch) -> list[Admission]:
    """The places of the gateways that are made from now on."""
    made: list[Admission] = []
    make = Admission.__init__

    def noted(self: Admission, *given: Any) -> None:
        make(self, *given)
        made.append(self)

    monkeypatch.setattr(Admission, "__init__", noted)
    return made


@pytest.mark.parametrize("voted", [True, False])
def test_between_two_tries_there_is_no_other_try(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, voted: bool
) -> None:
    """Who asked first has left when the gate opens, and who asks then is let in."""
    model, prompt = "fault:429@60!?now", f"now tries {voted}"
    gates: list[Pace] = []
    pushed_back = Pace.pushed_back

    def noted(pace: Pace, *given: float) -> None:
        pushed_back(pace, *given)
        gates.append(pace)

    monkeypatch.setattr(Pace, "pushed_back", noted)
    with gateway(upstream.url, model=model) as running:
        assert running.send("GET", "/readyz").status == 200
        with client(running, prompt, VOTE if voted else model):
            until(lambda: gates and gates[0]._waiting)
        until(lambda: 'status="499"' in running.send("GET", "/metrics").body.decode())
        gates[0]._closed_until = 0.0
        assert running.chat(f"later {voted}", VOTE if voted else model).status == 200
    settled(upstream)
    assert attempts(upstream, prompt) == 1


def test_before_its_body_is_whole_it_gives_its_place_back(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, caps=Caps(in_flight=1, queue=0)) as running:
        place = urlsplit(running.url)
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {KEY}\r\n"
        for _ in range(3):
            with socket.create_connection((place.hostname, place.port)) as half:
                half.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
        until(lambda: running.chat("after the halves").status == 200)


def test_calls_of_the_verifier_are_cancelled_too(upstream: FaultUpstream, tmp_path: Path) -> None:
    with fault_verifier(tmp_path) as verifier:
        settings = VerifierSettings("p-true", upstream=f"{verifier.url}/v1", model="good", timeout=10 * PATIENCE)
        with gateway(upstream.url, method="vanilla", verifier=settings, caps=Caps(in_flight=1, queue=1)) as running:
            assert running.chat("warm", "steelyard/vanilla", steelyard={"n": 1}).status == 200
            before = len(verifier.asked())
            verifier.allow(0)
            with client(running, "leave the verifier", "steelyard/vanilla", steelyard={"n": 2}):
                until(lambda: len(verifier.asked()) == before + 2)
            until(lambda: 'status="499"' in running.send("GET", "/metrics").body.decode())
            verifier.allow()
            assert running.chat("next", "steelyard/vanilla", steelyard={"n": 1}).status == 200
            assert len(verifier.asked()) == before + 3
