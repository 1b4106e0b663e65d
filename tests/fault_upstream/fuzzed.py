"""Replies with anything in them: a good one of which parts are changed, then bytes; the same for the same seed."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any

from tests.fault_upstream.asked import Asked, good
from tests.fault_upstream.streams import HEAD, chunks, piece

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 7, 10**30, -0.0, 1.5, 1e308, float("nan"), float("inf"), "", "x", "\ud800", "\x00",
    "a" * 5000, [], {}, [None], [[]], {"": None}, {"index": 0}, {"role": "user"}, [0] * 100, "stop", {"content": 5},
    {"message": "no"}, [{"token": 1, "logprob": "x"}], [{"type": "function"}], {"error": {"message": ["x"]}},
]  # fmt: skip
NAMES = ["error", "choices", "usage", "id", "model", "detail", "message", "tool_calls", "refusal", "logprobs"]


def places(content: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a value."""
    found: list[tuple[Any, Any]] = []
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        found += [(content, key), *places(value)]
    return found


def changed(content: Any, chance: random.Random) -> bytes:
    """A value with one to three parts changed, as JSON or as what is none."""
    for _ in range(chance.randint(1, 3)):
        container, key = chance.choice(places(content))
        what = chance.random()
        if what < 0.6:
            container[key] = deepcopy(chance.choice(ODD))
        elif what < 0.8 and isinstance(container, dict):
            container[chance.choice(NAMES)] = deepcopy(chance.choice(ODD))
        elif isinstance(container, list):
            container.append(deepcopy(chance.choice(ODD)))
        else:
            del container[key]
        if not places(content):
            break
    data = bytearray(json.dumps(content, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass"))
    if chance.random() < 0.3 and data:
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data[: chance.randrange(len(data) + 1)] if chance.random() < 0.1 else data)


def chance_of(asked: Asked) -> random.Random:
    return random.Random(f"{asked.prompt}/{asked.body.get('seed')}/{asked.n}")


async def fuzz(asked: Asked) -> None:
    await asked.reply(changed(good(asked), chance_of(asked)))


async def fuzz_stream(asked: Asked) -> None:
    """Events of which some are changed, in pieces of any length, sometimes without an end."""
    chance = chance_of(asked)
    data = b""
    for chunk in chunks(asked):
        event = changed(chunk, chance) if chance.random() < 0.2 else json.dumps(chunk).encode()
        data += b"data: " + event + chance.choice([b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\n", b"\n\n", b"\n"])
    if chance.random() < 0.8:
        data += b"data: [DONE]\n\n"
    await asked.send(HEAD)
    while data:
        size = chance.randint(1, 400)
        await piece(asked, data[:size])
        data = data[size:]
    if chance.random() < 0.8:
        await asked.send(b"0\r\n\r\n")
    else:
        asked.writer.close()
