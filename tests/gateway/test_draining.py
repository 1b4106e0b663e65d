"""A server that is stopped while its upstream is silent: it takes as long as was said, and nothing of it is left."""

from __future__ import annotations

import gc
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from typing import Any

import pytest

from steelyard.gateway.caps import Caps
from tests.gateway.gateways import VOTE, Gateway, gateway
from tests.gateway.outcomes import attempts, settled
from tests.upstreams import FaultUpstream
from tests.waiting import until

DRAIN = 0.2  # seconds
MODEL = "fault:silent?now"
CHAT = "/v1/chat/completions"


def ask(running: Gateway, path: str, body: dict[str, Any]) -> None:
    with suppress(OSError, HTTPException):
        running.send("POST", path, body)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # what other tests left is collected too
@pytest.mark.parametrize(
    ("path", "more"),
    [
        (CHAT, {"stream": True}),
        ("/page/ask", {}),
        pytest.param(CHAT, {}, marks=pytest.mark.long),
        pytest.param(CHAT, {"stream": True, "model": MODEL}, marks=pytest.mark.long),
    ],
)
def test_when_the_time_to_end_is_over_no_task_is_left_behind(
    upstream: FaultUpstream, caplog: pytest.LogCaptureFixture, path: str, more: dict[str, Any]
) -> None:
    prompts = [f"now {path} {more} {client}" for client in range(4)]
    bodies = [{"model": VOTE, "messages": [{"role": "user", "content": prompt}], **more} for prompt in prompts]
    with ThreadPoolExecutor(4) as clients:
        with gateway(upstream.url, model=MODEL, caps=Caps(drain=DRAIN)) as running:
            assert running.send("GET", "/readyz").status == 200
            asked = [clients.submit(ask, running, path, body) for body in bodies]
            until(lambda: all(attempts(upstream, prompt) for prompt in prompts))  # none waits to be accepted
            began = time.monotonic()
        assert time.monotonic() - began >= DRAIN
        for each in asked:
            each.result()
    settled(upstream)
    gc.collect()
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
