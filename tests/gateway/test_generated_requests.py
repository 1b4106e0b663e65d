"""Requests with anything in them, to every route of a real server: an answer or OpenAI's error, and never a defect."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.gateway.caps import Caps
from tests.gateway.gateways import KEY, VOTE, Answered, Gateway, gateway
from tests.gateway.outcomes import strict
from tests.gateway.test_relay import fixed
from tests.waiting import PATIENCE

KEYS = st.sampled_from(["content", "role", "type", "text", "n", "name", "function", "id", "", "é", "\ud800"])
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["user", "\ud800", "function", "/answer", "majority", 10**30, -1, 2**63, "\x00", VOTE, "good"])
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
MESSAGES: list[Any] = [{"role": "user", "content": "What is 3 + 4?"}]
OURS = ["n", "method", "risk", "deadline_s", "max_total_tokens", "ballots", "vote_on", "progress", "usage", "other"]
CHAT = [
    "n", "n_cmpl", "best_of", "stream", "stream_options", "temperature", "seed", "max_tokens", "max_completion_tokens",
    "logprobs", "tools", "tool_choice", "response_format", "stop", "messages", "model", "steelyard", "user", "odd",
]  # fmt: skip
RESPONSES = [
    "input", "instructions", "max_output_tokens", "tools", "tool_choice", "text", "reasoning", "previous_response_id",
    "stream", "model", "metadata", "steelyard", "messages", "n", "conversation",
]  # fmt: skip


def changed(good: dict[str, Any], names: list[str]) -> st.SearchStrategy[Any]:
    """A good body with a few fields that hold anything; now and then something else altogether."""
    ours = st.dictionaries(st.sampled_from(OURS), VALUES, max_size=2)
    fields = st.dictionaries(st.sampled_from(names), VALUES, max_size=2)
    mixed = st.builds(lambda odd, mine: {**good, "steelyard": {**good["steelyard"], **mine}, **odd}, fields, ours)
    return st.one_of(mixed, mixed, mixed, VALUES)


ASKED: dict[str, Any] = {"model": VOTE, "messages": MESSAGES, "steelyard": {"n": 2}}
PASSED: dict[str, Any] = {"model": "good", "messages": MESSAGES, "steelyard": {}}
RESPONDED: dict[str, Any] = {"model": VOTE, "input": "What is 3 + 4?", "steelyard": {"n": 2}}
BODIES = st.one_of(
    st.tuples(st.just("/v1/chat/completions"), changed(ASKED, CHAT)),
    st.tuples(st.just("/v1/chat/completions"), changed(PASSED, CHAT)),
    st.tuples(st.just("/page/ask"), changed(ASKED, CHAT)),
    st.tuples(st.just("/v1/responses"), changed(RESPONDED, RESPONSES)),
    st.tuples(st.just("/v1/feedback"), st.dictionaries(st.sampled_from(["id", "correct", "answer"]), VALUES)),
)
PATHS = st.builds(lambda start, rest: start + quote(rest, errors="surrogatepass"), st.sampled_from(
    ["/v1/models/", "/v1/models", "/v1/feedback", "/page/state", "/readyz", "/metrics", "/healthz", "/", "/v1/"]
), st.text(max_size=6) | st.sampled_from(["", "", "?a=b", VOTE, "../x"]))  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    caps = Caps(body=2**20, messages=20, samples=4, choices=4, deadline=600.0)
    kept = tmp_path_factory.mktemp("kept") / "feedback"
    with fixed() as url, gateway(url, caps=caps, n=2, feedback=kept) as running:
        assert running.send("GET", "/readyz").status == 200
        yield running


def sent(running: Gateway, method: str, path: str, body: bytes | None = None) -> Answered:
    connection = HTTPConnection(urlsplit(running.url).netloc, timeout=PATIENCE)
    try:
        connection.request(method, path, body, {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"})
        reply = connection.getresponse()
        return Answered(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read())
    finally:
        connection.close()


def check(answered: Answered, *, hurried: bool = False) -> None:
    """It is an answer that clients can read, or an error that they can; who is hurried may have nothing in time."""
    kind = answered.headers["content-type"]
    assert answered.status < 500 or (hurried and answered.status == 504), answered
    if answered.status != 200:
        error = strict(answered.body)["error"]
        assert set(error) == {"message", "type", "param", "code"}
        assert error["message"]
    elif kind.startswith("application/json"):
        strict(answered.body)
    elif kind == "text/event-stream":
        last = [line for line in answered.body.decode().split("\n") if line.startswith("data: ")][-1]
        ends = {"decided", "response"} | ({"error"} if hurried else set())
        assert last == "data: [DONE]" or ends & set(strict(last[6:])), last


def ask(running: Gateway, case: tuple[str, Any]) -> None:
    path, body = case
    ours = body.get("steelyard") if isinstance(body, dict) else None
    hurried = isinstance(ours, dict) and "deadline_s" in ours
    check(sent(running, "POST", path, json.dumps(body).encode()), hurried=hurried)


@settings(max_examples=50)
@given(case=BODIES)
def test_bodies_with_anything_in_them_have_an_answer_or_an_error(served: Gateway, case: tuple[str, Any]) -> None:
    ask(served, case)


@settings(max_examples=40)
@given(path=PATHS, method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "OPTIONS"]))
def test_paths_with_anything_in_them_have_an_answer_or_an_error(served: Gateway, path: str, method: str) -> None:
    check(sent(served, method, path))


@pytest.mark.long
@settings(max_examples=3000, derandomize=False)
@given(case=BODIES)
def test_thousands_of_bodies_with_anything_in_them(served: Gateway, case: tuple[str, Any]) -> None:
    ask(served, case)
