"""An upstream or a verifier whose certificate has expired: one line that says so, and nothing is sent to it."""

from __future__ import annotations

import json
import socketserver
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from steelyard.gateway.vote.verifier_settings import VerifierSettings
from tests.gateway.gateways import gateway
from tests.running import steelyard
from tests.upstreams import FaultUpstream

EXPIRED = "its certificate is not trusted: certificate has expired"
ADVICE = "renew or correct the server's certificate"


class Expired(NamedTuple):
    """A server whose certificate has expired, and what clients sent to it after the handshake."""

    url: str
    received: list[bytes]


@pytest.fixture
def expired(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Expired]:
    """A server whose certificate would be trusted, had it not expired."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / "expired.pem", certificates / "expired.key")
    received: list[bytes] = []

    class Handshake(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            try:
                with context.wrap_socket(self.request, server_side=True) as connection:
                    if content := connection.recv(1024):
                        received.append(content)
            except OSError:
                pass  # the client has refused the certificate

    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "expired.pem"))
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handshake) as server:
        threading.Thread(target=server.serve_forever).start()
        yield Expired(f"https://127.0.0.1:{server.server_address[1]}/v1", received)
        server.shutdown()
    assert received == []


def table(folder: Path) -> Path:
    path = folder / "responses.jsonl"
    path.write_text(json.dumps({"question": 0, "prompt": "1 + 1?", "response": "The answer is 2."}) + "\n")
    return path


def questions(folder: Path) -> Path:
    path = folder / "questions.jsonl"
    path.write_text(json.dumps({"question": 0, "prompt": "1 + 1?", "gold": "2"}) + "\n")
    return path


@pytest.mark.parametrize("verb", ["ask", "generate", "score"])
def test_the_command_line_says_so_in_one_line(expired: Expired, tmp_path: Path, verb: str) -> None:
    words: dict[str, tuple[object, ...]] = {
        "ask": ("1 + 1?",),
        "generate": (questions(tmp_path), "-o", tmp_path / "run"),
        "score": (table(tmp_path), "--verifier", "p-true"),
    }
    done = steelyard(verb, *words[verb], "--upstream", expired.url, "--model", "m")
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert EXPIRED in done.err
    assert ADVICE in done.err


def test_the_gateway_answers_502_and_logs_the_cause(expired: Expired, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    with gateway(expired.url, access_log=log) as running:
        answered = running.chat()
        ready = running.send("GET", "/readyz")
    assert (answered.status, answered.error["code"]) == (502, "upstream_error")
    assert EXPIRED in answered.error["message"]
    assert expired.url not in answered.body.decode()
    assert ready.status == 503
    assert EXPIRED in ready.body.decode()
    (line,) = (entry for entry in map(json.loads, log.read_text().splitlines()) if entry["status"] == 502)
    assert line["cause"] == "the upstream's certificate is not trusted"


def test_the_gateway_votes_without_a_verifier_whose_certificate_has_expired(
    expired: Expired, upstream: FaultUpstream
) -> None:
    verifier = VerifierSettings("p-true", upstream=expired.url, model="m")
    with gateway(upstream.url, method="vanilla", verifier=verifier) as running:
        answered = running.chat(model="steelyard/vanilla")
    assert answered.status == 200
    state = answered.json["steelyard"]["verifier"]
    assert state["state"] == "degraded"
    assert EXPIRED in str(state)
    assert expired.url not in str(state)
