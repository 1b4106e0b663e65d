"""The gateway as tests use it: `steelyard serve` in a process of its own, asked over a real socket."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from tests.upstreams import command

KEY = "canary-of-the-gateway-77"
VOTE = "steelyard/majority"


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
    url: str
    process: subprocess.Popen[str]

    def send(
        self, method: str, path: str, body: Any = None, *, key: str | None = KEY, headers: dict[str, str] | None = None
    ) -> Answered:
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=60)
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
    upstream: str, *words: object, model: str = "good", environment: dict[str, str] | None = None
) -> Iterator[Gateway]:
    """`steelyard serve` with these words at a free port, until the block ends."""
    line, variables = command("serve", "--upstream", upstream, "--model", model, "--port", 0, *words)
    variables |= {"STEELYARD_KEY": KEY, **(environment or {})}
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=variables)
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert " at http" in told, told
        yield Gateway(told.split(" at ")[1].strip().removesuffix("/v1"), process)
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()
