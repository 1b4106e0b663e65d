"""What became of a request: whatever an upstream does, it is one of four things, each in the shape clients can read."""

from __future__ import annotations

import json
import socket
from http.client import IncompleteRead
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from tests.gateway.gateways import Answered, Gateway
from tests.upstreams import FaultUpstream
from tests.waiting import until

End = Literal["whole", "error", "broken"]


class Outcome(NamedTuple):
    """A whole reply, an error with its status, or a stream that was broken off with an error."""

    end: End
    status: int
    content: Any  # the reply, the error, or the events of the stream


def _no_number(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


def strict(data: bytes | str) -> Any:
    """Read JSON that is nothing but JSON."""
    return json.loads(data, parse_constant=_no_number)


def asked(running: Gateway, prompt: str, **request: Any) -> Outcome:
    """Send a request and hold its end against what a client is promised."""
    try:
        answered = running.chat(prompt, **request)
    except IncompleteRead as cut:
        events = _events(cut.partial)
        assert set(events[-1]) == {"error"}
        assert "[DONE]" not in events
        return Outcome("broken", 200, events)
    if answered.status != 200:
        return _refused(answered)
    if not request.get("stream"):
        content = strict(answered.body)
        assert content["choices"]
        assert all(isinstance(choice["message"], dict) for choice in content["choices"])
        return Outcome("whole", 200, content)
    *chunks, done = _events(answered.body)
    assert done == "[DONE]"
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    finished = {choice.get("index", 0) for choice in choices if choice.get("finish_reason") is not None}
    assert finished
    assert {choice.get("index", 0) for choice in choices} == finished
    return Outcome("whole", 200, chunks)


def _refused(answered: Answered) -> Outcome:
    error = strict(answered.body)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"]
    assert answered.status != 500
    if answered.status in (429, 503) and error["code"] != "insufficient_quota":  # which no waiting helps against
        assert int(answered.headers["retry-after"]) >= 1
    return Outcome("error", answered.status, error)


def _events(body: bytes) -> list[Any]:
    lines = [line[6:] for line in body.decode().split("\n") if line.startswith("data: ")]
    return [line if line == "[DONE]" else strict(line) for line in lines]


def settled(upstream: FaultUpstream) -> None:
    """Every request that the upstream was sent has come to its end: it was answered, or it was cancelled."""
    until(lambda: len(upstream.entries()) == len(upstream.entries("left")))


def listens(running: Gateway) -> bool:
    """Whether anybody can connect to a server."""
    place = urlsplit(running.url)
    try:
        socket.create_connection((place.hostname, place.port)).close()
    except OSError:
        return False
    return True


def attempts(upstream: FaultUpstream, prompt: str) -> int:
    """How many requests were made of an upstream for one of a client."""
    return sum(entry["prompt"] == prompt for entry in upstream.entries())
