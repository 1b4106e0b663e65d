"""Canaries: no key and no prompt in any log, error, metric or page, and no address of a server in what clients read."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from steelyard.gateway.vote.verifier_settings import VerifierSettings
from tests.gateway.gateways import KEY, VOTE, Answered, Gateway, gateway
from tests.gateway.rows import rows
from tests.upstreams import CANARY, FaultUpstream
from tests.waiting import PATIENCE

PROMPT = "canary-prompt-5e1f"
FAULTS = [
    "", "400", "401", "429", "500", "html", "garbage", "reset", "no-http", "bad-chunk", "redirect", "error",
    "echo", "echo-error", "echo-escaped", "echo-elsewhere@top", "echo-elsewhere@choice", "echo-elsewhere@reasoning",
    "echo-elsewhere@refusal", "echo-elsewhere@tool_calls", "error-event@4", "cut@4", "picky@temperature",
]  # fmt: skip
QUICK = ["", "bad-chunk", "echo-error", "echo-escaped", "echo-elsewhere@tool_calls", "cut@4"]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """All that is logged, down to debug."""
    with caplog.at_level(logging.DEBUG):
        yield caplog


def everything(running: Gateway, model: str) -> list[Answered | bytes]:
    """What a client gets to see, whatever it asks."""
    import http.client

    said: list[Answered | bytes] = []
    for asked in (VOTE, model):
        for stream in (False, True):
            more: dict[str, Any] = {"steelyard": {"n": 2, "ballots": True}} if asked == VOTE else {}
            try:
                said.append(running.chat(f"now {PROMPT}", asked, seed=0, stream=stream, temperature=0.5, **more))
            except http.client.IncompleteRead as cut:
                said.append(cut.partial)
    paths = ("/", "/metrics", "/readyz", "/v1/models", f"/{PROMPT}", f"/v1/models?key={KEY}&q={PROMPT}", "/healthz")
    said += [running.send("GET", path) for path in paths]
    said.append(running.send("POST", "/v1/chat/completions", f'{{"{PROMPT}": '.encode()))
    said.append(running.send("POST", "/v1/chat/completions", {"model": PROMPT, "messages": [{"role": "user"}]}))
    return said


def text(each: Answered | bytes) -> str:
    return each.decode() if isinstance(each, bytes) else f"{each.headers} {each.body.decode()}"


@pytest.mark.parametrize("fault", rows(FAULTS, *QUICK))
@pytest.mark.usefixtures("short_pauses")
def test_no_fault_of_the_upstream_brings_a_key_or_an_address_to_a_client_or_a_log(
    upstream: FaultUpstream, log: pytest.LogCaptureFixture, fault: str
) -> None:
    model = f"fault:{fault}?now" if fault else "good"
    with gateway(upstream.url, model=model) as running:
        assert running.send("GET", "/readyz").status == 200
        said = everything(running, model)
    escaped = "".join(f"\\u{ord(char):04x}" for char in CANARY)
    for each in said:
        for secret in (KEY, CANARY, escaped, "127.0.0.1", "Traceback", "site-packages"):
            assert secret not in text(each), (fault, secret, text(each))
    for secret in (KEY, CANARY, PROMPT):
        assert secret not in log.text
    assert not [record for record in log.records if record.levelno >= logging.ERROR]
    metrics = next(text(each) for each in said if "steelyard_samples" in text(each))
    assert PROMPT not in metrics


def test_a_request_that_fails_by_a_defect_of_ours_says_nothing_of_it(
    upstream: FaultUpstream, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defect(*_: object) -> None:
        raise RuntimeError(f"{PROMPT} {KEY} {CANARY}")

    monkeypatch.setattr("steelyard.gateway.http.chat_route.read_chat", defect)
    with gateway(upstream.url) as running:
        failed = running.chat(PROMPT)
    assert (failed.status, failed.error["type"]) == (500, "server_error")
    name = failed.headers["x-request-id"]
    assert failed.error["message"] == f"internal server error; see {name} in the server's log"
    assert name in log.text
    for secret in (PROMPT, KEY, CANARY):
        assert secret not in log.text
        assert secret not in text(failed)


@pytest.mark.usefixtures("short_pauses")
def test_a_server_that_is_not_there_is_not_named_to_clients(upstream: FaultUpstream) -> None:
    with gateway("http://127.0.0.1:9/v1") as running:
        for model in (VOTE, "good"):
            assert "127.0.0.1" not in running.chat(PROMPT, model).error["message"]
    settings = VerifierSettings("p-true", upstream="http://127.0.0.1:9/v1", model="m", timeout=PATIENCE)
    with gateway(upstream.url, method="vanilla", verifier=settings) as running:
        told = running.chat(PROMPT, "steelyard/vanilla", seed=0).json["steelyard"]
        assert "127.0.0.1" not in told["verifier"]["reason"]
