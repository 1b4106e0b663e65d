"""Replies in pieces, for `stream: true`: a good one, and every way in which one goes wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from tests.fault_upstream.asked import UNICODE, Asked, good
from tests.fault_upstream.hostile import HOSTILE_STREAMS
from tests.fault_upstream.wire import reset

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunks(asked: Asked) -> Iterator[dict[str, Any]]:
    """The good reply, a word a piece, choice after choice, and the usage where it is asked for."""
    body = good(asked)
    frame = {name: body[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    for made in body["choices"]:
        part = {"index": made["index"], "logprobs": None, "finish_reason": None}
        yield frame | {"choices": [part | {"delta": {"role": "assistant", "content": ""}}]}
        for word in made["message"]["content"].split(" "):
            yield frame | {"choices": [part | {"delta": {"content": f"{word} "}}]}
        yield frame | {"choices": [part | {"delta": {}, "finish_reason": "stop"}]}
    if (asked.body.get("stream_options") or {}).get("include_usage"):
        yield frame | {"choices": [], "usage": body["usage"]}


async def piece(asked: Asked, data: bytes) -> None:
    await asked.send(b"%x\r\n%s\r\n" % (len(data), data))


async def event(asked: Asked, content: Any, end: bytes = b"\n\n") -> None:
    await piece(asked, b"data: " + json.dumps(content).encode() + end)


async def streamed(asked: Asked, most: int | None = None) -> None:
    """Events up to the number `most`, without an end."""
    await asked.send(HEAD)
    for chunk in list(chunks(asked))[:most]:
        await event(asked, chunk)


async def whole(asked: Asked) -> None:
    await streamed(asked)
    await done(asked)


async def done(asked: Asked) -> None:
    await piece(asked, b"data: [DONE]\n\n")
    await asked.send(b"0\r\n\r\n")


async def cut(asked: Asked) -> None:
    """The connection is closed after so many events."""
    await streamed(asked, int(asked.fault.argument or 3))
    asked.writer.close()


async def clean_cut(asked: Asked) -> None:
    """As if it were whole, after so many events."""
    await streamed(asked, int(asked.fault.argument or 3))
    await asked.send(b"0\r\n\r\n")


async def done_cut(asked: Asked) -> None:
    """[DONE] after so many events, without a finish_reason."""
    await streamed(asked, int(asked.fault.argument or 3))
    await done(asked)


async def epilogue(asked: Asked) -> None:
    """Behind the end of every choice an empty delta, which may have the usage."""
    await asked.send(HEAD)
    for chunk in chunks(asked):
        await event(asked, chunk)
        if chunk["choices"] and chunk["choices"][0]["finish_reason"]:
            later = chunk["choices"][0] | {"delta": {}, "finish_reason": None}
            await event(asked, chunk | {"choices": [later], "usage": {"completion_tokens": 3}})
    await done(asked)


async def first_choice(asked: Asked) -> None:
    """The first choice alone, and then the end: a clean one, or with an argument one that says [DONE]."""
    await asked.send(HEAD)
    for chunk in chunks(asked):
        if chunk["choices"] and chunk["choices"][0]["index"] == 0:
            await event(asked, chunk)
    await (done(asked) if asked.fault.argument else asked.send(b"0\r\n\r\n"))


async def torn(asked: Asked) -> None:
    await streamed(asked, int(asked.fault.argument or 3))
    await reset(asked)


async def stall(asked: Asked) -> None:
    await streamed(asked, int(asked.fault.argument or 3))
    await asyncio.sleep(3600)


async def malformed(asked: Asked) -> None:
    """Good events, and between them one that is no JSON, an empty one, an id and a comment."""
    await asked.send(HEAD)
    for chunk in chunks(asked):
        await event(asked, chunk)
        await piece(asked, b"data: {oh no\n\ndata:\n\nid: 7\n\n: ping\n\nevent: x\n\n")
    await done(asked)


async def error_event(asked: Asked) -> None:
    await streamed(asked, int(asked.fault.argument or 3))
    await asyncio.sleep(0.05)
    await event(asked, {"error": {"message": f"the GPU is gone, key was {asked.key}", "code": 500}})
    await done(asked)


async def echo_escaped(asked: Asked) -> None:
    """The key in a word of the stream, every character of it as an escape of JSON."""
    await asked.send(HEAD)
    key = "".join(f"\\u{ord(char):04x}" for char in asked.key)
    for chunk in chunks(asked):
        text = json.dumps(chunk).replace("answer", key)
        await piece(asked, f"data: {text}\n\n".encode())
    await done(asked)


async def bytewise(asked: Asked) -> None:
    """One byte a piece, with the line ends of Windows."""
    await asked.send(HEAD)
    text = b"".join(b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n" for chunk in chunks(asked))
    for i in range(len(text)):
        await piece(asked, text[i : i + 1])
    await done(asked)


async def unicode(asked: Asked) -> None:
    """Text that is not ASCII as it is, one byte a piece."""
    await asked.send(HEAD)
    for delta in ({"role": "assistant"}, *({"content": char} for char in UNICODE), {}):
        part = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [part]}
        data = f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()
        for i in range(len(data)):
            await piece(asked, data[i : i + 1])
    await done(asked)


async def silent(asked: Asked) -> None:
    await asyncio.sleep(float(asked.fault.argument or 3600))


async def paced(asked: Asked) -> None:
    """So many seconds between two events."""
    await asked.send(HEAD)
    for chunk in chunks(asked):
        await event(asked, chunk)
        await asyncio.sleep(float(asked.fault.argument or 0.05))
    await done(asked)


STREAMS: dict[str, Callable[[Asked], Awaitable[None]]] = {
    "": whole,
    "cut": cut,
    "clean-cut": clean_cut,
    "done-cut": done_cut,
    "epilogue": epilogue,
    "first-choice": first_choice,
    "reset": torn,
    "stall": stall,
    "malformed": malformed,
    "error-event": error_event,
    "bytewise": bytewise,
    "echo-escaped": echo_escaped,
    "unicode": unicode,
    "silent": silent,
    "paced": paced,
    **HOSTILE_STREAMS,
}
