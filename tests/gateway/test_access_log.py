"""The access log: one JSON line per request without content; a log that cannot be written fails no request."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import IncompleteRead
from pathlib import Path
from typing import Any

import pytest

from steelyard.foundation.errors import SettingError
from steelyard.gateway.messages.access_log import CAPACITY, AccessLog
from steelyard.gateway.messages.api_errors import from_fault
from steelyard.gateway.upstream.source import OverBudgetError
from steelyard.gateway.vote.verifier_settings import VerifierSettings
from steelyard.sampling.llm.faults import (
    BusyError,
    CertificateError,
    GoneError,
    LateError,
    ProxyError,
    PutOffError,
    RefusedError,
    SpentError,
    StatusError,
    TooLargeError,
    TryError,
)
from steelyard.sampling.llm.prices import read_prices
from tests.gateway.gateways import KEY, VOTE, Gateway, gateway
from tests.gateway.test_relay import fixed
from tests.gateway.test_usage import VANILLA, sure
from tests.running import steelyard
from tests.upstreams import CANARY, FaultUpstream, command
from tests.waiting import until

PROMPT = "canary-prompt-77b1"
SMALLEST = {"time", "request", "route", "status", "ms"}


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@contextmanager
def logging_process(upstream: str, *options: object, stderr: int) -> Iterator[Gateway]:
    """`steelyard serve` as a process with stderr at a file descriptor; it is stopped as a service manager stops it."""
    line, environment = command("serve", "--upstream", upstream, "--model", "good", "--port", 0, *options)
    environment["STEELYARD_KEY"] = KEY
    running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment)
    try:
        assert running.stdout is not None
        url = running.stdout.readline().split(" at ")[1].strip().removesuffix("/v1")
        yield Gateway(url, running)
        running.terminate()
        assert running.wait() == 0
    finally:
        running.kill()
        running.wait()
        assert running.stdout is not None
        running.stdout.close()


def test_every_request_is_one_line_with_its_id_route_status_tokens_and_cost(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    log = tmp_path / "access.jsonl"
    with gateway(upstream.url, access_log=str(log), price=read_prices(["1,2,EUR"])) as running:
        vote = running.chat(PROMPT, seed=0)
        stream = running.chat(PROMPT, seed=0, stream=True)
        own = running.chat(PROMPT, "good", seed=0)
        relayed = running.chat(PROMPT, "good", seed=0, stream=True, stream_options={"include_usage": True})
        forged = {"x-request-id": '"}\\n{"status": 200', "Accept": PROMPT}
        running.send("GET", f"/v1/models/{PROMPT}?key={KEY}", headers=forged)
        running.send("GET", f"/{PROMPT}", key=None)
        running.send("GET", "/healthz", key=None)
    content = log.read_text()
    for secret in (PROMPT, KEY, CANARY):
        assert secret not in content
    entries = lines(content)
    assert len(entries) == 7
    assert all(entry.keys() >= SMALLEST and entry["ms"] >= 0 for entry in entries)
    assert [entry["request"] for entry in entries[:4]] == [
        reply.headers["x-request-id"] for reply in (vote, stream, own, relayed)
    ]
    usage, cost = vote.json["usage"], vote.json["steelyard"]["cost"]["samples"]
    voted = {"key": 1, "samples": 8, "tokens_in": usage["prompt_tokens"], "tokens_out": usage["completion_tokens"]}
    voted |= {"cost": cost, "currency": "EUR", "route": "/v1/chat/completions", "status": 200}
    for entry in entries[:2]:
        assert entry.items() >= voted.items()
        assert entry.keys() == SMALLEST | voted.keys()
    usage = own.json["usage"]
    passed = voted | {"samples": 1, "tokens_in": usage["prompt_tokens"], "tokens_out": usage["completion_tokens"]}
    passed["cost"] = (usage["prompt_tokens"] + 2 * usage["completion_tokens"]) / 1e6
    for entry in entries[2:4]:
        assert entry.items() >= passed.items()
    rest = [(entry["route"], entry["status"], entry.get("error"), entry.get("key")) for entry in entries[4:]]
    assert rest == [
        ("/v1/models/{id}", 404, "model_not_found", 1),
        ("none", 401, "invalid_api_key", None),
        ("/healthz", 200, None, None),
    ]


@pytest.mark.parametrize("prices", [["1,2"], ["1,2", "verifier=1,2"]])
def test_the_cost_includes_the_verifier_and_is_null_if_its_price_is_unknown(
    upstream: FaultUpstream, tmp_path: Path, prices: list[str]
) -> None:
    log, usage = tmp_path / "access.jsonl", {"prompt_tokens": 50, "completion_tokens": 1}
    body = {"model": VANILLA, "messages": [{"role": "user", "content": "scored?"}], "seed": 0, "steelyard": {"n": 4}}
    with fixed(sure(usage=usage)) as url:
        more: dict[str, Any] = {"verifier": VerifierSettings("p-true", upstream=url, model="m")}
        more |= {"price": read_prices(prices), "access_log": str(log)}
        with gateway(upstream.url, method="vanilla", **more) as running:
            reply = running.send("POST", "/v1/chat/completions", body)
            page = running.send("POST", "/page/ask", body)
    decided = page.events[-1]["decided"]
    costs = [vote["cost"]["samples"] + 4 * 52e-6 for vote in (reply.json["steelyard"], decided["vote"])]
    logged = [entry["cost"] for entry in lines(log.read_text())]
    assert logged == (pytest.approx(costs) if len(prices) > 1 else [None, None])
    assert decided["cost"] == logged[1]


def test_the_cost_is_null_if_one_reply_has_no_usage(upstream: FaultUpstream, tmp_path: Path) -> None:
    log = tmp_path / "access.jsonl"
    model = "fault:no-usage#0?partly&no-n"
    with gateway(upstream.url, model=model, price=read_prices(["1,2"]), access_log=str(log)) as running:
        told = running.chat("partly counted", seed=0, steelyard={"n": 4}).json["steelyard"]
    assert told["usage"]["unknown"]["replies_without_usage"] == 1
    assert told["cost"]["samples"] is None
    assert lines(log.read_text())[0]["cost"] is None


@pytest.mark.parametrize("log", [[], ["--access-log", "requests.jsonl"]])
def test_a_5xx_is_on_stderr_with_its_cause_and_other_requests_are_there_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    nowhere = "http://127.0.0.1:9/v1"
    with (
        (tmp_path / "stderr").open("wb") as stderr,
        logging_process(nowhere, *log, stderr=stderr.fileno()) as running,
    ):
        running.send("GET", "/healthz")
        failed = running.chat(PROMPT, "steelyard/vote")
        assert failed.status == 502
    shown = (tmp_path / "stderr").read_text()
    assert PROMPT not in shown
    entries = [entry for entry in lines(shown) if entry["route"] != "/healthz"]
    assert (len(lines(shown)) == 2) == (log == [])
    assert [entry["cause"] for entry in entries] == ["no connection to the upstream"]
    assert entries[0].items() >= {"status": 502, "error": "upstream_error"}.items()
    assert entries[0]["request"] == failed.headers["x-request-id"]
    if log:
        assert [entry["status"] for entry in lines((tmp_path / "requests.jsonl").read_text())] == [200, 502]


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(
    ("fault", "status"), [("echo-error", 502), ("500", 502), ("cut@4", 200), ("error-event@4", 200)]
)
def test_a_failure_of_the_upstream_is_logged_without_its_words(
    upstream: FaultUpstream, tmp_path: Path, fault: str, status: int
) -> None:
    log = tmp_path / "access.jsonl"
    with gateway(upstream.url, model=f"fault:{fault}?now", access_log=str(log)) as running:
        try:
            running.chat(f"now {PROMPT}", f"fault:{fault}?now", stream=True)
        except IncompleteRead:
            assert status == 200, "a stream that has begun is broken off"
    assert PROMPT not in log.read_text()
    [entry] = lines(log.read_text())
    assert (entry["status"], entry["error"]) == (status, "upstream_error")
    assert entry["cause"].startswith("the upstream")


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (TryError("garbage"), "the upstream gave no usable reply"),
        (StatusError("HTTP 500: oh", 500), "the upstream gave no usable reply (HTTP 500)"),
        (OverBudgetError("garbage"), "the upstream gave no usable reply"),
        (BusyError("HTTP 429"), "the upstream is busy (HTTP 429)"),
        (PutOffError("HTTP 503: later"), "the upstream is busy (HTTP 503)"),
        (GoneError("refused"), "no connection to the upstream"),
        (ProxyError("refused"), "no connection to the upstream"),
        (CertificateError("expired"), "the upstream's certificate is not trusted"),
        (LateError("slow"), "the upstream did not answer in time"),
        (SpentError("slow"), "the upstream did not answer in time"),
        (TooLargeError("long"), "the upstream's reply is too long"),
        (RefusedError("HTTP 400: no", 400), "the upstream refused the request (HTTP 400)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, TryError) else "",
)
def test_every_failure_has_the_cause_of_its_kind(error: TryError, cause: str) -> None:
    assert from_fault(error).cause == cause


def test_a_full_disk_fails_no_request_and_is_counted(upstream: FaultUpstream) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with gateway(upstream.url, access_log="/dev/full") as running:
        assert running.chat().status == 200
        until(lambda: b"steelyard_access_log_lost_total 0" not in running.send("GET", "/metrics").body)


def test_a_pipe_that_nobody_reads_or_that_was_closed_delays_no_request(upstream: FaultUpstream) -> None:
    read, write = os.pipe()
    with logging_process(upstream.url, stderr=write) as running:
        os.close(write)
        for _ in range(700):  # more than the pipe holds
            assert running.send("GET", "/healthz").status == 200
        os.close(read)
        assert running.chat(model="steelyard/vote").status == 200
        until(lambda: b"steelyard_access_log_lost_total 0" not in running.send("GET", "/metrics").body)


def test_a_request_waits_for_no_line_and_the_queue_is_bounded() -> None:
    lost: list[bool] = []

    read, write = os.pipe()
    log = AccessLog(None, lambda: lost.append(True))
    log._stderr._descriptor = write  # blocks after 64 KiB
    for _ in range(2 * CAPACITY):
        log.write("/v1/chat/completions", 503, 0.1, "req", {})
    assert len(lost) >= CAPACITY // 2
    os.close(read)
    log.close()


def test_a_line_that_was_cut_off_does_not_damage_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, really = tmp_path / "access.jsonl", os.write
    log = AccessLog(str(file))
    calls: list[bytes] = []

    def full(descriptor: int, data: bytes) -> int:
        calls.append(data)
        if len(calls) == 1:
            return really(descriptor, data[:20])
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return really(descriptor, data)

    monkeypatch.setattr("steelyard.gateway.messages.access_log.os.write", full)
    for number in range(3):
        log.write("/healthz", 200, 0.1, f"req_{number}", {})
    log.close()
    torn, *rest = file.read_text().splitlines()
    assert len(torn) == 20
    assert [json.loads(line)["request"] for line in rest] == ["req_1", "req_2"]


def test_what_is_no_access_log_is_left_alone(tmp_path: Path) -> None:
    plan, pipe = tmp_path / "plan.json", tmp_path / "pipe"
    plan.write_text('{"method": "majority"}\n')
    os.mkfifo(pipe)
    no_reader, directory = os.strerror(errno.ENXIO), os.strerror(errno.EISDIR)
    for target, reason in ((plan, "not an access log"), (pipe, no_reader), (tmp_path, directory)):
        with pytest.raises(SettingError, match=re.escape(reason)):
            AccessLog(str(target))
    assert plan.read_text() == '{"method": "majority"}\n'
    done = steelyard("serve", "--upstream", "http://127.0.0.1:9/v1", "--model", "m", "--port", 0, "--access-log", plan)
    assert (done.code, done.out) == (2, "")
    assert "not an access log" in done.err


def test_a_server_that_is_started_again_appends(upstream: FaultUpstream, tmp_path: Path) -> None:
    log = tmp_path / "access.jsonl"
    for _ in range(2):
        with gateway(upstream.url, access_log=str(log)) as running:
            running.chat(model=VOTE)
    assert [entry["status"] for entry in lines(log.read_text())] == [200, 200]
    assert log.stat().st_mode & 0o007 == 0
