"""A key that an upstream or a verifier echoes reaches no client, wherever it appears and however it is split."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import IncompleteRead
from pathlib import Path
from typing import Any

import pytest

from steelyard.gateway.messages.secrets_filter import Secrets, StreamedSecrets
from steelyard.gateway.vote.verifier_settings import VerifierSettings
from steelyard.sampling.llm.faults import TooLargeError, TryError
from tests.gateway.gateways import VOTE, Answered, Gateway, gateway
from tests.sampling.verifiers.verifier_servers import fault_verifier
from tests.upstreams import CANARY, FaultUpstream
from tests.waiting import PATIENCE

VERIFIER_KEY = "vk-canary-88aa77bb66cc"
NUMBERS = ", ".join(map(str, CANARY.encode()))


def shown(running: Gateway, model: str, **more: Any) -> str:
    """Everything that a client gets to see of a request."""
    try:
        answered = running.chat("now", model, **more)
    except IncompleteRead as cut:
        answered = Answered(200, {}, cut.partial)
    if more.get("stream") and answered.status == 200:
        events = [event for event in answered.events if isinstance(event, dict) and "error" not in event]
        return f"{answered.headers} {answered.body.decode()} {joined(events)}"
    return f"{answered.headers} {answered.body.decode()}"


def strings(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """All strings in a value, with the names of their fields."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from strings(member, key)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item, name)


def joined(events: list[Any]) -> str:
    """The texts of a stream as a client puts them together."""
    texts: dict[str, str] = {}
    for event in events:
        for choice in event["choices"]:
            for name, value in strings(choice["delta"]):
                texts[name] = texts.get(name, "") + value
            for entry in (choice.get("logprobs") or {}).get("content", []):
                texts["tokens"] = texts.get("tokens", "") + entry["token"]
    return str(texts)


@pytest.mark.parametrize("position", ["token", "bytes", "top", "split", "name"])
@pytest.mark.parametrize("voted", [True, False])
@pytest.mark.usefixtures("short_pauses")
def test_a_key_in_the_log_probabilities_is_not_passed_on(upstream: FaultUpstream, position: str, voted: bool) -> None:
    model = f"fault:echo-logprobs@{position}?now"
    with gateway(upstream.url, model=model) as running:
        answered = running.chat("now", VOTE if voted else model, logprobs=True, steelyard={"n": 1})
    assert answered.status == 502
    assert CANARY not in answered.body.decode()
    assert NUMBERS not in answered.body.decode()


@pytest.mark.parametrize("stream", [False, True])
def test_a_key_in_a_header_is_not_passed_on_and_the_other_headers_are(upstream: FaultUpstream, stream: bool) -> None:
    model = "fault:header@key?now"
    with gateway(upstream.url, model=model) as running:
        answered = running.chat("now", model, stream=stream)
    assert answered.status == 200
    assert CANARY not in str(answered.headers)
    assert answered.headers["x-ratelimit-good"] == "7"


@pytest.mark.parametrize(("kind", "passed_on"), [("control", 1), ("latin", 1), ("long", 1), ("many", 32)])
@pytest.mark.parametrize("stream", [False, True])
def test_a_header_that_would_break_a_reply_is_left_out(
    upstream: FaultUpstream, kind: str, passed_on: int, stream: bool
) -> None:
    model = f"fault:header@{kind}?now"
    with gateway(upstream.url, model=model) as running:
        answered = running.chat("now", model, stream=stream)
    assert answered.status == 200
    limits = {name: value for name, value in answered.headers.items() if name.startswith("x-ratelimit")}
    assert (limits["x-ratelimit-good"], len(limits)) == ("7", passed_on)
    assert all(value.isascii() and value.isprintable() and len(value) <= 256 for value in limits.values())


@pytest.mark.parametrize("kind", ["huge", "countless"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.usefixtures("short_pauses")
def test_a_reply_with_too_large_a_head_is_an_error(upstream: FaultUpstream, kind: str, stream: bool) -> None:
    model = f"fault:header@{kind}?now"
    with gateway(upstream.url, model=model) as running:
        answered = running.chat("now", model, stream=stream)
    assert answered.status == 502
    assert not any(name.startswith("x-ratelimit") for name in answered.headers)


@pytest.mark.parametrize(
    "field",
    ["content", "reasoning_content", "thinking", "reasoning_details", "transcript", "arguments", "logprobs"],
)
def test_a_key_in_pieces_of_a_stream_is_not_passed_on(upstream: FaultUpstream, field: str) -> None:
    model = f"fault:echo-pieces@{field}?now"
    with gateway(upstream.url, model=model) as running:
        seen = shown(running, model, stream=True, logprobs=True)
    assert CANARY[:6] not in seen
    assert "API key" in seen


@pytest.mark.parametrize("spelling", ["plain", "escaped"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.usefixtures("short_pauses")
def test_a_key_in_a_member_that_is_replaced_is_not_passed_on(
    upstream: FaultUpstream, spelling: str, stream: bool
) -> None:
    model = f"fault:echo-duplicate@{spelling}?now"
    with gateway(upstream.url, model=model) as running:
        answered = running.chat("now", model, stream=stream)
    assert answered.status == 502
    assert "API key" in answered.error["message"]
    assert CANARY not in answered.body.decode()


def test_a_text_that_only_begins_like_a_key_is_complete(upstream: FaultUpstream) -> None:
    model = "fault:like-a-key?now"
    with gateway(upstream.url, model=model) as running:
        events = running.chat("now", model, stream=True).events
    assert events[-1] == "[DONE]"
    text = "".join(event["choices"][0]["delta"].get("content", "") for event in events[:-1])
    assert text == f"a {CANARY[:-1]}?{CANARY[:8]}"


@pytest.mark.parametrize("end", ["finish", "done", "nothing"])
def test_a_text_that_ends_within_the_key_is_not_passed_on(upstream: FaultUpstream, end: str) -> None:
    model = f"fault:half-a-key@{end}?now"
    with gateway(upstream.url, model=model) as running:
        seen = shown(running, model, stream=True)
    assert CANARY[:4] not in seen
    assert "API key" in seen


def test_the_texts_that_are_tracked_are_bounded() -> None:
    tracked = StreamedSecrets(Secrets(CANARY))
    for number in range(10_000):
        tracked.check({"choices": [{"index": 0, "delta": {f"field {number}": "text"}}]})
    with pytest.raises(TooLargeError, match="more than 10,000 texts"):
        tracked.check({"choices": [{"index": 0, "delta": {"one more": "text"}}]})


def test_tool_calls_and_nested_texts_are_told_apart() -> None:
    """The pieces of two texts, in turn, are not joined; those of one text are, also in one chunk."""
    half, rest = CANARY[:10], CANARY[10:]

    def check(*deltas: dict[str, Any]) -> None:
        tracked = StreamedSecrets(Secrets(CANARY))
        for delta in deltas:
            tracked.check({"choices": [{"index": 0, "delta": delta}]})

    def call(index: int, piece: str) -> dict[str, Any]:
        return {"index": index, "function": {"arguments": piece}}

    check({"tool_calls": [call(0, half)]}, {"tool_calls": [call(1, rest)]})
    check({"parts": [{"text": half}, {"text": rest}]})
    with pytest.raises(TryError):
        check({"tool_calls": [call(0, half), call(1, "x")]}, {"tool_calls": [call(1, "y"), call(0, rest)]})
    with pytest.raises(TryError):
        check({"tool_calls": [call(0, half), call(0, rest)]})


@pytest.mark.parametrize("kind", ["echo", "echo-usage", "echo-error"])
@pytest.mark.usefixtures("short_pauses")
def test_the_key_of_a_verifier_is_not_passed_on(
    upstream: FaultUpstream, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERIFIER_KEY", VERIFIER_KEY)
    with fault_verifier(tmp_path) as verifier:
        settings = VerifierSettings(
            "p-true", upstream=f"{verifier.url}/v1", model=f"{kind}?How", key_env="VERIFIER_KEY", timeout=PATIENCE
        )
        with gateway(upstream.url, method="vanilla", verifier=settings) as running:
            answered = running.chat("How many?", "steelyard/vanilla", seed=0, steelyard={"ballots": True})
    assert answered.status == 200
    assert VERIFIER_KEY not in answered.body.decode()


def chunk(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": delta.pop("finish", None)}]}


@pytest.mark.parametrize("cut", [30, 33, 60, 90])
def test_a_key_in_json_escapes_is_found_in_two_pieces_of_a_stream_and_its_start_is_held_back(cut: int) -> None:
    key = "sk-abcdefghijklmnopqrstuvwx"
    escaped = "".join(f"\\u{ord(character):04x}" for character in key)
    found = StreamedSecrets(Secrets(key))
    found.check(chunk(content=escaped[:cut]))
    assert found.must_wait
    with pytest.raises(TryError):
        found.check(chunk(content=escaped[cut:]))


def test_a_role_or_an_id_that_begins_like_a_key_holds_nothing_back() -> None:
    found = StreamedSecrets(Secrets("assistant-prod-key-01"))
    for piece in (chunk(role="assistant"), chunk(content="Hello"), chunk(id="assistant", finish="stop")):
        found.check(piece)
        assert not found.must_wait
    found.end()
