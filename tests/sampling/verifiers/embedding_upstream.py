"""A server of embeddings in this process: vectors from the hashes of words, with a list of the requests.

The model's name says what it does: `KIND`, or `KIND?WORD` only for texts with WORD. `allow` holds requests back.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 64


def vector(text: str, more: int = 0) -> list[float]:
    """The sum of one random direction per word."""
    dimensions = DIMENSIONS + more
    sums = [0.0] * dimensions
    for word in text.split():
        signs = blake2b(word.encode(), digest_size=64).digest()
        for i in range(dimensions):
            sums[i] += 1.0 if signs[i // 8 % 64] >> i % 8 & 1 else -1.0
    return [entry / 7 for entry in sums]


def cosine(one: str, other: str) -> float:
    a, b = vector(one), vector(other)
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)


class EmbeddingUpstream(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[list[str]] = []
        self.allowed = math.inf
        self.period = 0  # of `allow`
        self.change = threading.Condition()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts that were requested, without those of probes."""
        return [text for texts in self.requests for text in texts if "capital of France" not in texts[0]]

    def allow(self, requests: float) -> None:
        """Answer so many more requests, and hold back the others; drop those that are held back now."""
        with self.change:
            self.period += 1
            self.allowed = requests
            self.change.notify_all()


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingUpstream

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts: list[str] = body["input"]
        with self.server.change:
            period = self.server.period
            self.server.change.wait_for(lambda: self.server.allowed > 0 or self.server.period > period)
            if self.server.period > period:
                return
            self.server.allowed -= 1
            self.server.requests.append(texts)
        kind, _, word = body["model"].partition("?")
        meant = [word in text for text in texts]
        status, reply = self._reply(kind if any(meant) else "good", texts, meant)
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _reply(self, kind: str, texts: list[str], meant: list[bool]) -> tuple[int, Any]:
        if not self.path.endswith("/v1/embeddings"):
            return 404, {"error": {"message": "no such path"}}
        if kind in ("400", "500"):
            return int(kind), {"error": {"message": "the input is longer than 512 tokens"}}
        if kind == "one" and len(texts) > 1:
            return 422, {"error": {"message": "one text at a time"}}
        if kind == "words":
            return 200, {"data": "none"}
        wrong = {
            "nan": [math.nan] * DIMENSIONS, "null": [None] * DIMENSIONS, "zero": [0.0] * DIMENSIONS, "text": "AAAA",
            "longer": vector("a", 1), "huge": [10**400] * DIMENSIONS, "nested": [[1.0], [2.0]],
        }  # fmt: skip
        vectors = [
            wrong[kind] if kind in wrong and hit else vector(text) for text, hit in zip(texts, meant, strict=True)
        ]
        if kind == "mean":  # of the other texts
            others = [entry for entry, hit in zip(vectors, meant, strict=True) if not hit]
            vectors = [
                [*map(sum, zip(*others, strict=True))] if hit else entry
                for entry, hit in zip(vectors, meant, strict=True)
            ]
        data = [{"index": i, "embedding": entry, "object": "embedding"} for i, entry in enumerate(vectors)]
        if kind == "few":
            data = data[:-1]
        tokens = sum(len(text.split()) for text in texts)
        echo = {self.headers["authorization"]: 1} if kind == "echo" else {}
        return 200, {"data": data[::-1], "usage": {"prompt_tokens": tokens, "total_tokens": tokens} | echo}

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serving() -> Iterator[EmbeddingUpstream]:
    server = EmbeddingUpstream()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.allow(math.inf)
        server.shutdown()
        server.server_close()
        thread.join()
