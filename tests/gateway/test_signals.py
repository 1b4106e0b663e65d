"""`steelyard serve` as a process under load: a signal, a kill, and too few file descriptors. Nothing is lost."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from urllib.parse import urlsplit

import pytest

from tests.gateway.gateways import VOTE, Gateway, process
from tests.gateway.outcomes import attempts, listens, settled
from tests.upstreams import FaultUpstream
from tests.waiting import until

pytestmark = pytest.mark.long
CLIENTS = 24


def ready(running: Gateway) -> Gateway:
    assert running.send("GET", "/readyz").status == 200
    return running


def ask(running: Gateway, prompt: str) -> int:
    """The status of a request; 0 where the server was gone before it was let in."""
    try:
        stream = prompt.endswith("0")
        answered = running.chat(prompt, seed=0, stream=stream, steelyard={"n": 4})
        if answered.status == 200 and stream:
            assert answered.events[-1] == "[DONE]"
        return answered.status
    except (OSError, HTTPException):
        return 0


@pytest.mark.parametrize("single", ["", "&no-n"])
def test_sigterm_under_load_loses_no_request_that_was_let_in(upstream: FaultUpstream, single: str) -> None:
    word = f"term {single}"
    with process(upstream.url, "--method", "majority", model=f"fault:held?{word}{single}") as running:
        assert running.process is not None
        ready(running)
        prompts = [f"{word} {i}" for i in range(CLIENTS)]
        with ThreadPoolExecutor(CLIENTS) as clients:
            asked = [clients.submit(ask, running, prompt) for prompt in prompts]
            until(lambda: all(attempts(upstream, prompt) for prompt in prompts))
            running.process.send_signal(signal.SIGTERM)
            until(lambda: not listens(running))
            late = ask(running, f"late {single}")
            upstream.release(word)
            statuses = [each.result() for each in asked]
        assert running.process.wait() == 0
    assert statuses == [200] * CLIENTS
    assert late == 0
    settled(upstream)
    assert attempts(upstream, f"late {single}") == 0


def test_sigkill_cancels_everything_upstream_and_the_port_comes_back(upstream: FaultUpstream) -> None:
    with process(upstream.url, "--method", "majority", model="fault:silent?now&no-n") as running:
        assert running.process is not None
        ready(running)
        port = urlsplit(running.url).port
        with ThreadPoolExecutor(4) as clients:
            asked = [clients.submit(ask, running, f"now kill {i}") for i in range(4)]
            until(lambda: sum(attempts(upstream, f"now kill {i}") for i in range(4)) == 16)
            running.process.kill()
            running.process.wait()
            assert [each.result() for each in asked] == [0] * 4
    settled(upstream)
    with process(upstream.url, "--method", "majority", "--port", port, model="good") as again:
        assert urlsplit(again.url).port == port
        assert again.chat("after the kill").status == 200
        assert again.process is not None
        children = subprocess.run(
            ["ps", "--no-headers", "-o", "pid", "--ppid", str(running.process.pid)], capture_output=True, check=False
        )
    assert not children.stdout.strip()


def test_too_few_file_descriptors_are_survived(upstream: FaultUpstream) -> None:
    with process(upstream.url, "--method", "majority") as running:
        assert running.process is not None
        ready(running)
        pid = running.process.pid
        most = len(os.listdir(f"/proc/{pid}/fd")) + 8
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, 4096))
        place = urlsplit(running.url)
        crowd: list[socket.socket] = []
        for _ in range(40):
            with suppress(OSError):
                crowd.append(socket.create_connection((place.hostname, place.port), timeout=1))
        until(lambda: len(os.listdir(f"/proc/{pid}/fd")) >= most)
        for each in crowd:
            each.close()
        until(lambda: ask(running, "after the crowd") == 200)
        assert running.send("GET", "/v1/models").json["data"][0]["id"] == VOTE
        assert running.process.poll() is None
