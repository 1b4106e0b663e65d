"""An OpenAI-compatible server that misbehaves on request, in a process of its own, with a ledger of every request.

The model's name says what goes wrong: `fault:KIND[@ARGUMENT][!][?WORD]`. `!` is only the first time a body is seen,
`?WORD` only when the prompt holds WORD. A name that does not begin with `fault:` is a good server: choice j of a
request with seed s has the text of (prompt, s + j), as vLLM does it, so that every sample has one right text.
The ledger is a file of JSON lines: `arrived` with what was asked, `left` with the bytes sent and who closed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import hashlib
import json
import os
import socket
import struct
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

REASONS = {200: "OK", 302: "Found", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
WORDS = ("let", "us", "see", "we", "add", "the", "two", "numbers", "and", "then", "count", "again")


@dataclass(frozen=True)
class Fault:
    kind: str = ""
    argument: str = ""
    once: bool = False
    word: str = ""

    @classmethod
    def of(cls, model: str) -> Fault:
        if not model.startswith("fault:"):
            return cls()
        rest, _, word = model.removeprefix("fault:").partition("?")
        once = rest.endswith("!")
        kind, _, argument = rest.removesuffix("!").partition("@")
        return cls(kind, argument, once, word)


@dataclass
class Asked:
    """One request, and the way back."""

    body: dict[str, Any]
    key: str
    writer: asyncio.StreamWriter
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


def choice(asked: Asked, j: int) -> dict[str, Any]:
    text = text_of(asked.prompt, int(asked.body.get("seed") or 0) + j)
    made: dict[str, Any] = {
        "index": j,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
        "logprobs": None,
    }
    if asked.body.get("logprobs"):
        made["logprobs"] = {
            "content": [{"token": word, "logprob": -0.1 * (1 + len(word) % 3)} for word in text.split()]
        }
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


def changed(change: Callable[[dict[str, Any]], Any]) -> Callable[[Asked], Awaitable[None]]:
    """A good reply with one thing wrong."""

    async def answer(asked: Asked) -> None:
        body = good(asked)
        other = change(body)
        await asked.reply(json.dumps(body if other is None else other).encode())

    return answer


def raw(body: bytes, headers: str = "") -> Callable[[Asked], Awaitable[None]]:
    async def answer(asked: Asked) -> None:
        await asked.reply(body, 200, headers)

    return answer


async def status(asked: Asked) -> None:
    code = int(asked.fault.kind)
    wait = asked.fault.argument
    headers = ""
    if wait.startswith("date"):
        headers = f"Retry-After: {formatdate(time.time() + float(wait[4:] or 1), usegmt=True)}\r\n"
    elif wait:
        headers = f"Retry-After: {wait}\r\n"
    await asked.refuse(code, f"no {code} today, key was {asked.key}", headers)


async def cut(asked: Asked) -> None:
    body = json.dumps(good(asked)).encode()
    await asked.reply(body[: int(asked.fault.argument or 40)], length=len(body))
    asked.writer.close()


async def chunk_cut(asked: Asked) -> None:
    part = json.dumps(good(asked)).encode()[:60]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    await asked.send(head + f"{len(part):x}\r\n".encode() + part + b"\r\n")
    asked.writer.close()


async def bad_chunk(asked: Asked) -> None:
    await asked.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n")
    asked.writer.close()


async def no_http(asked: Asked) -> None:
    await asked.send(b"SSH-2.0-OpenSSH_9.6\r\n")
    asked.writer.close()


async def trailing(asked: Asked) -> None:
    """The right body, and more bytes than were announced."""
    body = json.dumps(good(asked)).encode()
    await asked.reply(body + b'{"surprise": 1}', length=len(body))
    asked.writer.close()


async def reset(asked: Asked) -> None:
    peer: socket.socket = asked.writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    asked.writer.transport.abort()


async def silent(asked: Asked) -> None:
    await asyncio.sleep(float(asked.fault.argument or 3600))


async def slow(asked: Asked) -> None:
    """One byte at a time."""
    body = json.dumps(good(asked)).encode()
    await asked.reply(b"", length=len(body))
    for byte in body:
        await asyncio.sleep(float(asked.fault.argument or 1))
        await asked.send(bytes([byte]))


async def huge(asked: Asked) -> None:
    """A body of so many MB; nobody should read it to its end."""
    size = int(asked.fault.argument or 64) * 2**20
    await asked.reply(b"", length=size)
    for _ in range(size // 2**16):
        await asked.send(b" " * 2**16)


async def endless(asked: Asked) -> None:
    await asked.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(2**12):
        await asked.send(b"10000\r\n" + b" " * 2**16 + b"\r\n")


async def zipped(asked: Asked) -> None:
    await asked.reply(gzip.compress(b" " * 2**27), 200, "Content-Encoding: gzip\r\n")


async def crowd(asked: Asked) -> None:
    await asked.reply(b'{"choices":[' + b'{"index":0},' * int(asked.fault.argument or 10**6) + b"{}]}")


async def deep(asked: Asked) -> None:
    depth = int(asked.fault.argument or 10_000)
    await asked.reply(b'{"choices":' + b"[" * depth + b"]" * depth + b"}")


async def slots(asked: Asked) -> None:
    """As llama.cpp: `n` above the slots is a 400."""
    most = int(asked.fault.argument or 8)
    if asked.n > most:
        await asked.refuse(400, f"n_cmpl cannot be greater than the number of slots ({most})")
    else:
        body = good(asked)
        body["usage"]["completion_tokens"] = len(body["choices"][0]["message"]["content"].split())
        await asked.reply(json.dumps(body).encode())


async def non(asked: Asked) -> None:
    """As Ollama: `n` is not looked at."""
    await asked.reply(json.dumps(good(asked, 1)).encode())


async def picky(asked: Asked) -> None:
    """Refuse the parameters that the argument names, with a plus between them."""
    for name in asked.fault.argument.split("+"):
        if name in asked.body and not (name == "n" and asked.n == 1):
            await asked.refuse(400, f"Unsupported parameter: '{name}'")
            return
    await asked.reply(json.dumps(good(asked)).encode())


async def same(asked: Asked) -> None:
    """Every choice of one request has the same seed."""
    body = good(asked)
    for made in body["choices"]:
        made["message"] = body["choices"][0]["message"]
    await asked.reply(json.dumps(body).encode())


async def echo(asked: Asked) -> None:
    """The key in the sample, in its model's name and in why it ended."""
    body = good(asked)
    body["model"] = asked.key
    body["choices"][0] |= {"message": {"content": f"you are {asked.key}"}, "finish_reason": asked.key}
    await asked.reply(json.dumps(body).encode())


def set_first(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        body["choices"][0][name] = value

    return change


def set_top(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda body: body.update({name: value})


def odd_numbers(body: dict[str, Any]) -> None:
    body["choices"][0]["logprobs"] = {"content": [{"logprob": float("nan")}, {"logprob": float("-inf")}]}
    body["usage"] = {"completion_tokens": float("inf")}


def say(text: Any) -> Callable[[dict[str, Any]], None]:
    return set_first("message", {"role": "assistant", "content": text})


ANSWERS: dict[str, Callable[[Asked], Awaitable[None]]] = {
    "cut": cut,
    "chunk-cut": chunk_cut,
    "bad-chunk": bad_chunk,
    "no-http": no_http,
    "trailing": trailing,
    "reset": reset,
    "silent": silent,
    "slow": slow,
    "huge": huge,
    "endless": endless,
    "zipped": zipped,
    "crowd": crowd,
    "deep": deep,
    "slots": slots,
    "no-n": non,
    "picky": picky,
    "same": same,
    "echo": echo,
    "redirect": lambda asked: asked.reply(b"", 302, "Location: http://127.0.0.1:1/v1/chat/completions\r\n"),
    "digits": raw(b'{"choices": ' + b"9" * 10**6 + b"}"),
    "garbage": raw(b"\xff\xfe\x00{choices"),
    "html": raw(b"<html><body>gateway says hello</body></html>"),
    "empty": raw(b""),
    "null": raw(b"null"),
    "list": raw(b"[]"),
    "string": raw(b'"choices"'),
    "error": raw(b'{"error": {"message": "the model is loading", "code": 503}}'),
    "error-string": raw(b'{"error": "the model is loading"}'),
    "detail": raw(b'{"detail": "not here"}'),
    "choices-null": changed(set_top("choices", None)),
    "choices-empty": changed(set_top("choices", [])),
    "choices-object": changed(set_top("choices", {"0": 1})),
    "choices-of-text": changed(set_top("choices", ["yes"])),
    "fewer": changed(lambda body: body["choices"].pop() and None),
    "more": changed(lambda body: body["choices"].extend([dict(body["choices"][0], index=n) for n in (97, 98, 99)])),
    "same-index": changed(lambda body: [made.update(index=0) for made in body["choices"]] and None),
    "index-text": changed(set_first("index", "zero")),
    "index-far": changed(set_first("index", 10**30)),
    "backwards": changed(lambda body: body["choices"].reverse()),
    "no-usage": changed(lambda body: body.pop("usage") and None),
    "no-logprobs": changed(set_first("logprobs", None)),
    "message-null": changed(set_first("message", None)),
    "content-null": changed(say(None)),
    "content-number": changed(say(5)),
    "content-parts": changed(say([{"type": "text", "text": "so \\boxed{3}"}])),
    "content-empty": changed(say("")),
    "surrogate": changed(say("half \ud800 \x00 \u202e \u2028 \\boxed{3}")),
    "finish-number": changed(set_first("finish_reason", 7)),
    "length": changed(set_first("finish_reason", "length")),
    "numbers": changed(odd_numbers),
}


class Upstream:
    """The server: reads requests, keeps the ledger, picks the answer."""

    def __init__(self, ledger: str, delay: float) -> None:
        self.file = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.delay = delay
        self.seen: Counter[str] = Counter()
        self.count = 0

    def note(self, **entry: Any) -> None:
        os.write(self.file, json.dumps(entry).encode() + b"\n")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, ValueError):
            async for path, key, body in requests(reader):
                if path.endswith("/models"):
                    await Asked({}, key, writer).reply(b'{"object": "list", "data": [{"id": "good"}]}')
                elif not path.endswith("/chat/completions"):
                    await Asked({}, key, writer).refuse(404, f"no route {path}")
                elif not await self.answer(Asked(json.loads(body), key, writer), reader):
                    break
        writer.close()

    async def answer(self, asked: Asked, reader: asyncio.StreamReader) -> bool:
        """Answer one request; return whether the connection can be used again."""
        self.count += 1
        number = self.count
        fault = Fault.of(str(asked.body["model"]))
        body = {name: asked.body.get(name) for name in ("model", "n", "seed", "logprobs", "temperature", "top_p")}
        self.note(event="arrived", request=number, prompt=asked.prompt, keyed=bool(asked.key), **body)
        print_of_it = json.dumps([asked.prompt, body])
        self.seen[print_of_it] += 1
        meant = fault.word in asked.prompt and (not fault.once or self.seen[print_of_it] == 1)
        asked.fault = fault if meant else Fault()
        if self.delay:
            await asyncio.sleep(self.delay)
        closed = "nobody"
        try:
            if not asked.fault.kind:
                await asked.reply(json.dumps(good(asked)).encode())
            elif asked.fault.kind.isdigit():
                await status(asked)
            else:
                await self.until_they_leave(ANSWERS[asked.fault.kind](asked), reader)
        except (ConnectionError, asyncio.CancelledError):
            closed = "them"
        if asked.writer.is_closing():
            closed = "us" if closed == "nobody" else closed
        self.note(event="left", request=number, sent=asked.sent, closed=closed)
        return closed == "nobody"

    async def until_they_leave(self, answer: Awaitable[None], reader: asyncio.StreamReader) -> None:
        """Stop an answer, however slow, when the client hangs up."""
        task = asyncio.ensure_future(answer)
        while not task.done():
            await asyncio.wait({task}, timeout=0.02)
            if reader.at_eof() and not task.done():
                task.cancel()
        await task


async def requests(reader: asyncio.StreamReader) -> AsyncIterator[tuple[str, str, bytes]]:
    """Yield (path, key, body) of every request on a connection."""
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        yield first.split()[1], headers.get("authorization", "").removeprefix("Bearer "), body


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ledger")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before every answer")
    options = parser.parse_args()
    upstream = Upstream(options.ledger, options.delay)
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
