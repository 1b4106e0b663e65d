"""Replies made to harm a gateway: the key in every position, odd headers, and streams that never end."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from tests.fault_upstream.asked import Asked, good

EVENTS = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"


def headers_of(asked: Asked) -> str:
    """The header that the fault's argument names."""
    values = {
        "key": f"X-RateLimit-Remaining-Tokens: {asked.key}",
        "control": "X-RateLimit-Remaining-Tokens: 1\x0b\x01\x7f2",
        "latin": "X-RateLimit-Remaining-Tokens: caf\xe9",
        "long": f"X-RateLimit-Remaining-Tokens: {'9' * 300}",
        "huge": f"X-RateLimit-Remaining-Tokens: {'9' * 60_000}",
        "many": "\r\n".join(f"X-RateLimit-{i}: {i}" for i in range(100)),
        "countless": "\r\n".join(f"X-RateLimit-{i}: {i}" for i in range(1000)),
    }
    return f"X-RateLimit-Good: 7\r\n{values[asked.fault.argument]}\r\n"


async def header(asked: Asked) -> None:
    """A good reply with an odd header."""
    body = json.dumps(good(asked)).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{headers_of(asked)}"
    await asked.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body)


async def header_stream(asked: Asked) -> None:
    """A good stream with an odd header."""
    await asked.send(f"{EVENTS}{headers_of(asked)}\r\n".encode("latin-1"))
    await send_deltas(asked, [{"content": "4"}])


async def echo_logprobs(asked: Asked) -> None:
    """The key in the log-probabilities, in the form that the argument names."""
    body, key = good(asked), asked.key
    entry: dict[str, Any] = {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}
    entries = {
        "token": [entry | {"token": f"a{key}"}],
        "bytes": [entry | {"bytes": list(key.encode())}],
        "top": [entry | {"top_logprobs": [{"token": key, "logprob": -1.0, "bytes": None}]}],
        "split": [entry | {"token": char} for char in key],
        "name": [entry | {key: 1}],
    }[asked.fault.argument]
    for made in body["choices"]:
        made["logprobs"] = {"content": entries}
    await asked.reply(json.dumps(body).encode())


async def padded(asked: Asked) -> None:
    """A good reply with so many MB in an unknown field."""
    await asked.reply(json.dumps(good(asked) | {"padding": "x" * (int(asked.fault.argument) * 2**20)}).encode())


async def send_events(asked: Asked, events: Iterable[Any]) -> None:
    for content in events:
        data = content if isinstance(content, bytes) else b"data: " + json.dumps(content).encode() + b"\n\n"
        await asked.send(b"%x\r\n%s\r\n" % (len(data), data))
    await asked.send(b"0\r\n\r\n")


def chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish} | more
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}


async def send_deltas(asked: Asked, deltas: Iterable[dict[str, Any]]) -> None:
    await send_events(asked, [*map(chunk, deltas), chunk({}, "stop"), b"data: [DONE]\n\n"])


async def echo_pieces(asked: Asked) -> None:
    """The key a few characters per event, in the field that the argument names."""
    await asked.send(f"{EVENTS}\r\n".encode())
    key, field = asked.key, asked.fault.argument
    pieces = ["so ", *(key[at : at + 3] for at in range(0, len(key), 3)), " it is"]
    if field == "arguments":
        deltas: list[Any] = [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    elif field == "logprobs":
        entries = [{"token": piece, "logprob": -1.0} for piece in pieces]
        events = [chunk({"content": "a"}, logprobs={"content": [entry]}) for entry in entries]
        await send_events(asked, [*events, chunk({}, "stop"), b"data: [DONE]\n\n"])
        return
    elif field == "reasoning_details":
        deltas = [{field: [{"type": "reasoning.text", "index": 0, "text": piece}]} for piece in pieces]
    elif field == "transcript":
        deltas = [{"audio": {"id": "a1", field: piece}} for piece in pieces]
    else:
        deltas = [{field: piece} for piece in pieces]
    await send_deltas(asked, deltas)


async def half_a_key(asked: Asked) -> None:
    """A text that ends within the key: with a finish_reason, with [DONE] or without either, by the argument."""
    await asked.send(f"{EVENTS}\r\n".encode())
    ends: dict[str, list[Any]] = {
        "finish": [chunk({}, "length"), b"data: [DONE]\n\n"],
        "done": [b"data: [DONE]\n\n"],
        "nothing": [],
    }
    texts = [chunk({"content": piece}) for piece in ("my key is ", asked.key[:5], asked.key[5:-1])]
    await send_events(asked, [*texts, *ends[asked.fault.argument]])


def with_duplicate(asked: Asked, body: dict[str, Any]) -> bytes:
    """JSON with the key in a member that a later one replaces, escaped if the argument says so."""
    key = asked.key
    if asked.fault.argument == "escaped":
        key = key[0] + "".join(f"\\u{ord(char):04X}" for char in key[1:])
    return f'{{"x": "{key}", "x": 1, {json.dumps(body)[1:]}'.encode()


async def echo_duplicate(asked: Asked) -> None:
    await asked.reply(with_duplicate(asked, good(asked)))


async def echo_duplicate_stream(asked: Asked) -> None:
    await asked.send(f"{EVENTS}\r\n".encode())
    data = with_duplicate(asked, chunk({"content": "4"}, "stop"))
    await send_events(asked, [b"data: " + data + b"\n\n", b"data: [DONE]\n\n"])


async def like_a_key(asked: Asked) -> None:
    """A text that contains the beginning of a key, but not the key."""
    await asked.send(f"{EVENTS}\r\n".encode())
    await send_deltas(
        asked, [{"content": piece} for piece in ("a ", asked.key[:9], asked.key[9:-1], "?", asked.key[:8])]
    )


async def endless_stream(asked: Asked) -> None:
    """What never ends: empty data lines, one line, comments, or events, by the argument."""
    await asked.send(f"{EVENTS}\r\n".encode())
    first = b"data: " + json.dumps(chunk({"role": "assistant", "content": "a"})).encode() + b"\n\n"
    await asked.send(b"%x\r\n%s\r\n" % (len(first), first))
    line = {
        "data": b"data:\n",
        "line": b"data" + b"x" * 60,
        "nested": b"",
        "events": first,
    }[asked.fault.argument]
    data = line * (2**16 // max(1, len(line)))
    if asked.fault.argument == "nested":
        data = b"data: [" + b"{}," * 10**6 + b"{}]\n\n"
    while True:
        await asked.send(b"%x\r\n%s\r\n" % (len(data), data))


async def far_index(asked: Asked) -> None:
    """Good chunks, and between them choices that were not requested."""
    await asked.send(f"{EVENTS}\r\n".encode())
    odd = [chunk({"content": "no"}, index=index) for index in (10**9, -1, 1, 10**30)]
    await send_events(asked, [chunk({"content": "4"}), *odd, chunk({}, "stop"), b"data: [DONE]\n\n"])


HOSTILE_ANSWERS: dict[str, Callable[[Asked], Awaitable[None]]] = {
    "header": header,
    "echo-logprobs": echo_logprobs,
    "echo-duplicate": echo_duplicate,
    "padded": padded,
}
HOSTILE_STREAMS: dict[str, Callable[[Asked], Awaitable[None]]] = {
    "header": header_stream,
    "echo-pieces": echo_pieces,
    "echo-duplicate": echo_duplicate_stream,
    "half-a-key": half_a_key,
    "like-a-key": like_a_key,
    "endless-stream": endless_stream,
    "far-index": far_index,
}
