"""One request with the way back, and the good reply to it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import Any

REASONS = {200: "OK", 302: "Found", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
UNICODE = "\ufeff \u00e9 e\u0301 \U0001f600\U0001f469\u200d\U0001f680 \u202eabc\u2028\u2029 \x00\x7f \u4e2d \\boxed{3}"
WORDS = ("let", "us", "see", "we", "add", "the", "two", "numbers", "and", "then", "count", "again")


@dataclass(frozen=True)
class Fault:
    kind: str = ""
    argument: str = ""
    once: bool = False
    word: str = ""
    seed: int | None = None
    single: bool = False

    @classmethod
    def of(cls, model: str) -> Fault:
        if not model.startswith("fault:"):
            return cls()
        model, single, _ = model.partition("&no-n")
        rest, _, word = model.removeprefix("fault:").partition("?")
        once = rest.endswith("!")
        rest, _, seed = rest.removesuffix("!").partition("#")
        kind, _, argument = rest.partition("@")
        return cls(kind, argument, once, word, int(seed) if seed else None, bool(single))

    def meets(self, body: dict[str, Any]) -> bool:
        """Whether a request asks for the sample of the seed that this fault is for; without one it is for all."""
        first = body.get("seed") or 0
        return self.seed is None or first <= self.seed < first + int(body.get("n") or 1)


@dataclass
class Asked:
    """One request, and the way back."""

    body: dict[str, Any]
    key: str
    writer: asyncio.StreamWriter
    written: str = ""
    trace: str = ""  # its traceparent
    sent: int = 0
    fault: Fault = field(default_factory=Fault)

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def n(self) -> int:
        return int(self.body.get("n", 1))

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        self.sent += len(data)
        await self.writer.drain()

    async def reply(self, body: bytes, status: int = 200, headers: str = "", length: int | None = None) -> None:
        head = f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}\r\nContent-Type: application/json\r\n{headers}"
        size = len(body) if length is None else length
        await self.send(f"{head}Content-Length: {size}\r\n\r\n".encode() + body)

    async def refuse(self, status: int, message: str, headers: str = "") -> None:
        error = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}
        await self.reply(json.dumps(error).encode(), status, headers)


def text_of(prompt: str, seed: int) -> str:
    """The one text a sample has."""
    digest = hashlib.sha256(f"{prompt}/{seed}".encode()).digest()
    words = " ".join(WORDS[byte % len(WORDS)] for byte in digest[: 4 + digest[0] % 12])
    return f"{words}.\n\nThe answer is \\boxed{{{digest[1] % 5}}}"


def knowing(asked: Asked, j: int) -> str:
    """The text of a model that knows the answer to "7 + 1?", here 7 modulo 5, in so many per cent of its samples."""
    model, prompt, seed = asked.body["model"], asked.prompt, int(asked.body.get("seed") or 0) + j
    digest = hashlib.sha256(f"{model}/{prompt}/{seed}".encode()).digest()
    first = prompt.split()[0]
    knows = first.isdigit() and digest[0] < 2.56 * float(asked.fault.argument)
    return f"So it is \\boxed{{{int(first) % 5 if knows else 10 + digest[1] % 3}}}"


def entry(word: str, top: int) -> dict[str, Any]:
    """A token with its log-probability and, as OpenAI does, up to 20 of the most likely tokens."""
    own = -0.1 * (1 + len(word) % 3)
    likely = [{"token": f"t{i}", "logprob": own - i * (1 + len(word) % 2)} for i in range(min(top, 20))]
    return {"token": word, "logprob": own, **({"top_logprobs": likely} if top > 1 else {})}


def choice(asked: Asked, j: int) -> dict[str, Any]:
    text = text_of(asked.prompt, int(asked.body.get("seed") or 0) + j)
    made: dict[str, Any] = {
        "index": j,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
        "logprobs": None,
    }
    if asked.body.get("logprobs"):
        made["logprobs"] = {"content": [entry(word, int(asked.body.get("top_logprobs") or 0)) for word in text.split()]}
    return made


def good(asked: Asked, n: int | None = None) -> dict[str, Any]:
    choices = [choice(asked, j) for j in range(asked.n if n is None else n)]
    tokens = sum(len(made["message"]["content"].split()) for made in choices)
    return {
        "id": f"chatcmpl-{time.monotonic_ns()}",
        "object": "chat.completion",
        "created": 0,
        "model": asked.body["model"],
        "choices": choices,
        "usage": {"prompt_tokens": 7, "completion_tokens": tokens, "total_tokens": 7 + tokens},
    }
