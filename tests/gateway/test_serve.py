"""`steelyard serve` as a process: what it says, where it listens, and how it ends."""

from __future__ import annotations

import signal
import socket
import threading
from pathlib import Path

import pytest

from tests.gateway.gateways import KEY, Answered, gateway, process
from tests.gateway.outcomes import attempts, listens
from tests.running import steelyard
from tests.upstreams import FaultUpstream
from tests.waiting import until


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), pytest.param(signal.SIGINT, 130, marks=pytest.mark.long)]
)
def test_a_signal_lets_requests_end_and_says_so_by_the_exit_code(
    upstream: FaultUpstream, number: signal.Signals, code: int
) -> None:
    prompt = f"signal {number:d}"
    with process(upstream.url, "--method", "majority", model=f"fault:held?{prompt}") as running:
        assert running.process is not None
        assert running.send("GET", "/readyz").status == 200
        came: list[Answered] = []
        asking = threading.Thread(target=lambda: came.append(running.chat(prompt)))
        asking.start()
        until(lambda: attempts(upstream, prompt))
        running.process.send_signal(number)
        until(lambda: not listens(running))
        upstream.release(prompt)
        assert running.process.wait() == code
        asking.join()
        assert came[0].status == 200


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], "--unsafe-no-key"),
        (["--plan", "nowhere.json"], "nowhere.json"),
        (["--method", "calibrated"], "'calibrated' cannot vote without a plan"),
        (["--plan", "p.json", "--method", "majority"], "exclude each other"),
        (["-n", "0"], "-n must be between 1 and"),
        (["--port", "99999"], "99999 is not a valid port"),
        (["--verifier", "nobody"], "unknown verifier"),
        (["--key-file", "nowhere.txt"], "cannot read the keys"),
        (["--feedback", "/dev/null/folder"], "choose another folder"),
        (["--key-file", "/dev/zero"], "larger than 1,048,576 bytes; name a file with one key per line"),
    ],
)
def test_what_cannot_work_is_one_line_and_exit_code_2(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    monkeypatch.delenv("STEELYARD_KEY", raising=False)
    done = steelyard("serve", "--upstream", upstream.url, "--model", "good", *words)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert told in done.err
    assert len(done.err.splitlines()) == 1


def test_a_taken_port_is_one_line(upstream: FaultUpstream) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = steelyard("serve", "--upstream", upstream.url, "--model", "good", "--port", taken.getsockname()[1])
    assert done.code == 2
    assert "cannot listen on 127.0.0.1" in done.err


def test_keys_come_from_a_file_one_per_line(upstream: FaultUpstream, tmp_path: Path) -> None:
    file = tmp_path / "keys.txt"
    file.write_text("first-key-of-two\nsecond-key-of-two\n")
    with gateway(upstream.url, key_file=file) as running:
        keys = ("first-key-of-two", "second-key-of-two", KEY)
        assert [running.send("GET", "/v1/models", key=key).status for key in keys] == [200, 200, 401]


def test_without_a_key_loopback_is_open(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, environment={"STEELYARD_KEY": ""}) as running:
        assert running.send("GET", "/v1/models", key=None).status == 200


def test_overload_is_refused_at_once_with_the_time_to_come_back(upstream: FaultUpstream) -> None:
    from steelyard.gateway.caps import Caps

    with gateway(upstream.url, model="fault:held?full", caps=Caps(in_flight=1, queue=0)) as running:
        assert running.send("GET", "/readyz").status == 200
        asking = threading.Thread(target=lambda: running.chat("full?"))
        asking.start()
        until(lambda: attempts(upstream, "full?"))
        refused = running.chat("full too?")
        upstream.release("full")
        asking.join()
    assert (refused.status, refused.error["type"]) == (429, "rate_limit_error")
    assert int(refused.headers["retry-after"]) >= 1
    assert not attempts(upstream, "full too?")
