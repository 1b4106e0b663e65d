"""The gateway as tests use it: `steelyard serve` in a thread or in a process of its own, asked over a real socket."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest

from steelyard.gateway.configuration import Configuration
from steelyard.gateway.serving import serving
from tests.upstreams import CANARY, command
from tests.waiting import PATIENCE

KEY = "canary-of-the-gateway-77"
VOTE = "steelyard/majority"
MEASURES_MEMORY = Path("/proc/self/status").exists()  # Linux


@dataclass(frozen=True)
class Answered:
    """A reply: its status, its headers in lower case and its body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = self.json["error"]
        assert set(error) == {"message", "type", "param", "code"}
        return error

    @property
    def events(self) -> list[Any]:
        """What a stream said; the last may be "[DONE]"."""
        lines = [line[6:] for line in self.body.decode().split("\n") if line.startswith("data: ")]
        return [line if line == "[DONE]" else json.loads(line) for line in lines]


@dataclass(frozen=True)
class Gateway:
    """A running server."""

    url: str
    process: subprocess.Popen[str] | None = None

    def send(
        self, method: str, path: str, body: Any = None, *, key: str | None = KEY, headers: dict[str, str] | None = None
    ) -> Answered:
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE)
        sent = {"Content-Type": "application/json", **(headers or {})}
        if key:
            sent["Authorization"] = f"Bearer {key}"
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        try:
            connection.request(method, path, content, sent)
            reply = connection.getresponse()
            return Answered(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read())
        finally:
            connection.close()

    def chat(self, prompt: str = "1 + 1?", model: str = VOTE, **more: Any) -> Answered:
        body = {"model": model, "messages": [{"role": "user", "content": prompt}], **more}
        return self.send("POST", "/v1/chat/completions", body)


@contextmanager
def gateway(
    upstream: str, *, model: str = "good", environment: dict[str, str] | None = None, **settings: Any
) -> Iterator[Gateway]:
    """A gateway with these settings in a thread of this process, until the block ends."""
    if not settings.keys() & {"plan", "method"}:
        settings["method"] = "majority"
    started: list[str | BaseException] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def run() -> None:
        async with serving(Configuration(upstream, model=model, port=0, **settings)) as address:
            started.append(address)
            ready.set()
            await over.wait()

    def thread() -> None:
        try:
            loop.run_until_complete(run())
        except BaseException as error:  # noqa: BLE001 - it is raised where the test waits
            started.append(error)
            ready.set()
        finally:
            loop.close()

    with patch.dict(os.environ, {"STEELYARD_KEY": KEY, "OPENAI_API_KEY": CANARY} | (environment or {})):
        running = threading.Thread(target=thread)
        running.start()
        ready.wait()
    first = started[0]
    if isinstance(first, BaseException):
        running.join()
        raise first
    try:
        yield Gateway(first)
    finally:
        loop.call_soon_threadsafe(over.set)
        running.join()


@contextmanager
def process(upstream: str, *words: object, model: str = "good", **variables: str) -> Iterator[Gateway]:
    """`steelyard serve` with these words as a process, until the block ends."""
    line, environment = command("serve", "--upstream", upstream, "--model", model, "--port", 0, *words)
    environment |= {"STEELYARD_KEY": KEY, **variables}
    running = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert running.stdout is not None
        told = running.stdout.readline()
        assert " at http" in told, told
        assert running.stdout.readline().startswith("Web page: http")
        yield Gateway(told.split(" at ")[1].strip().removesuffix("/v1"), running)
    finally:
        running.kill()
        running.wait()
        if running.stdout:
            running.stdout.close()


def resident(running: Gateway, *, peak: bool = False) -> float:
    """How many MB of memory the process of a server takes, or has taken at most so far; skips without /proc."""
    if not MEASURES_MEMORY:
        pytest.skip("the memory of another process is read from /proc")
    assert running.process is not None
    status = Path(f"/proc/{running.process.pid}/status").read_text().splitlines()
    name = "VmHWM:" if peak else "VmRSS:"
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith(name))
