"""What goes wrong on the wire, or in how a server treats a request."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import struct
import time
from collections import defaultdict
from email.utils import formatdate
from functools import cache

from tests.fault_upstream.asked import Asked, good

MANY = {"lists": "[],", "objects": '{"a":0},', "texts": '"ab",', "numbers": "1.5,", "emoji": '"\U0001f600",'}
READ_LINES: dict[str, int] = {}  # how many lines of a prompt were sent
RELEASED: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)  # by the word of a fault


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


async def tardy(asked: Asked) -> None:
    """The good reply after so many seconds."""
    await asyncio.sleep(float(asked.fault.argument or 1))
    await asked.reply(json.dumps(good(asked)).encode())


async def held(asked: Asked) -> None:
    """The good reply as soon as the word of the fault is released."""
    await RELEASED[asked.fault.word].wait()
    await asked.reply(json.dumps(good(asked)).encode())


async def shuffled(asked: Asked) -> None:
    """The good reply to the sample of seed i after the i-th of so many seconds."""
    await asyncio.sleep(float(asked.fault.argument.split("+")[int(asked.body.get("seed") or 0)]))
    await asked.reply(json.dumps(good(asked)).encode())


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


@cache
def zipped_spaces() -> bytes:
    return gzip.compress(b" " * 2**27)


async def zipped(asked: Asked) -> None:
    await asked.reply(zipped_spaces(), 200, "Content-Encoding: gzip\r\n")


async def crowd(asked: Asked) -> None:
    await asked.reply(b'{"choices":[' + b'{"index":0},' * int(asked.fault.argument or 10**6) + b"{}]}")


async def many(asked: Asked) -> None:
    """A body of 31 MB of one short thing again and again: what takes few bytes on the wire and many in the memory."""
    thing = MANY[asked.fault.argument].encode()
    await asked.reply(b'{"choices":[' + thing * (31 * 2**20 // len(thing)) + b"0]}")


@cache
def names(count: int) -> bytes:
    return b"{" + ",".join(f'"{i:012x}":"{i:08x}"' for i in range(count)).encode() + b"}"


async def keys(asked: Asked) -> None:
    """One object with so many thousand names, just below what is counted as too many."""
    await asked.reply(names(1000 * int(asked.fault.argument or 990)))


async def long_text(asked: Asked) -> None:
    """A good reply whose text has so many million characters, one of them above U+FFFF."""
    body = good(asked)
    body["choices"][0]["message"]["content"] = "\U0001f600"
    before, smile, after = json.dumps(body, ensure_ascii=False).encode().partition("\U0001f600".encode())
    await asked.reply(before + smile + b"a" * (int(asked.fault.argument or 3) * 10**6) + after)


async def lines(asked: Asked) -> None:
    """A good reply whose text is the next line of the prompt."""
    body, all_lines = good(asked, 1), asked.prompt.split("\n")
    number = READ_LINES[asked.prompt] = READ_LINES.get(asked.prompt, -1) + 1
    body["choices"][0]["message"]["content"] = all_lines[number % len(all_lines)]
    await asked.reply(json.dumps(body).encode())


async def quota(asked: Asked) -> None:
    """As OpenAI: a 429 that no waiting helps against."""
    error = {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}
    await asked.reply(json.dumps({"error": error}).encode(), 429)


async def echo_escaped(asked: Asked) -> None:
    """The key in the sample, every character of it as an escape of JSON."""
    body = good(asked)
    body["choices"][0]["message"] = {"content": "KEY"}
    key = "".join(f"\\u{ord(char):04x}" for char in asked.key)
    await asked.reply(json.dumps(body).replace("KEY", key).encode())


async def echo_elsewhere(asked: Asked) -> None:
    """The key where nobody looks for words."""
    body = good(asked)
    place, value = asked.fault.argument, {"headers": {"authorization": f"Bearer {asked.key}"}}
    if place == "top":
        body["debug"] = value
    elif place == "choice":
        body["choices"][0]["debug"] = value
    else:
        body["choices"][0]["message"][place] = json.dumps(value)
    await asked.reply(json.dumps(body).encode())


async def echo_error(asked: Asked) -> None:
    """The key in the message of an error that comes with 200, where a cut to 300 characters would leave half of it."""
    await asked.reply(json.dumps({"error": {"message": "x" * 290 + asked.key}}).encode())


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


async def greedy(asked: Asked) -> None:
    """As vLLM where the temperature is next to nothing."""
    if asked.n > 1:
        await asked.refuse(400, f"n must be 1 when using greedy sampling, got {asked.n}.")
    else:
        await asked.reply(json.dumps(good(asked)).encode())


async def newer(asked: Asked) -> None:
    """As OpenAI's later models: max_tokens has another name."""
    if "max_tokens" in asked.body:
        await asked.refuse(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    else:
        await asked.reply(json.dumps(good(asked)).encode())


async def window(asked: Asked) -> None:
    """As vLLM: a context window of so many tokens, of which a prompt takes one per word."""
    limit, tokens, prompt = int(asked.fault.argument), asked.body.get("max_tokens", 16), len(asked.prompt.split())
    if tokens + prompt > limit:
        await asked.refuse(
            400,
            f"This model's maximum context length is {limit} tokens. However, you requested {tokens + prompt} "
            f"tokens ({prompt} in the messages, {tokens} in the completion). Please reduce the length of the messages.",
        )
    else:
        await asked.reply(json.dumps(good(asked)).encode())


async def longest(asked: Asked) -> None:
    """As OpenAI: a model that writes at most so many tokens."""
    limit, tokens = int(asked.fault.argument), asked.body.get("max_tokens", 16)
    if tokens > limit:
        supported = f"This model supports at most {limit} completion tokens, whereas you provided {tokens}."
        await asked.refuse(400, f"max_tokens is too large: {tokens}. {supported}")
    else:
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
