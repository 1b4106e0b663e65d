"""Many clients of one server, each on a connection of its own: what came back, when, and whether it was theirs."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from itertools import count
from typing import Any

_NUMBERS = count()
PATIENCE = 120.0  # seconds; a request without a reply by then is lost
LIMIT = 2**20


@dataclass
class Tally:
    """What came of some requests; `first` has the seconds until the first byte of a body, `whole` until its end."""

    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    lost: int = 0
    mixed_up: int = 0  # replies to somebody else's request

    def percentile(self, share: float) -> float:
        rising = sorted(self.whole)
        return rising[min(len(rising) - 1, int(share * len(rising)))]

    def first_percentile(self, share: float) -> float:
        rising = sorted(self.first)
        return rising[min(len(rising) - 1, int(share * len(rising)))]


async def load(
    port: int, model: str, *, clients: int, each: int = 0, seconds: float = 0.0, spread: float = 0.0, **more: Any
) -> Tally:
    """Let clients ask at once, each so many requests one after the other, or for so many seconds.

    They begin over `spread` seconds: clients in lockstep would measure their own queue.
    """
    tally = Tally()
    until = time.monotonic() + seconds

    async def begin(i: int) -> None:
        await asyncio.sleep(spread * i / clients)
        await _client(port, model, tally, each, until, more)

    await asyncio.gather(*map(begin, range(clients)))
    return tally


async def _client(port: int, model: str, tally: Tally, each: int, until: float, more: dict[str, Any]) -> None:
    made = 0
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=LIMIT)
    while made < each or (not each and time.monotonic() < until):
        made += 1
        nonce = f"nonce-{next(_NUMBERS):012d}."
        body = json.dumps({"model": model, "messages": [{"role": "user", "content": nonce}], **more}).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                if writer.is_closing():
                    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=LIMIT)
                writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                status, first, content, stays = await _read(reader)
        except (OSError, asyncio.IncompleteReadError, ValueError):
            tally.lost += 1
            writer.close()
            continue
        tally.first.append(first - begun)
        tally.whole.append(time.perf_counter() - begun)
        tally.lost += status != 200
        tally.mixed_up += status == 200 and nonce.encode() not in content
        if not stays:
            writer.close()
    writer.close()


async def _read(reader: asyncio.StreamReader) -> tuple[int, float, bytes, bool]:
    """The status, when the first byte of the body came, the body, and whether the connection stays open."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status, stays = int(head.split(b" ", 2)[1]), b"\r\nconnection: close\r\n" not in head
    if b"transfer-encoding: chunked" not in head:
        length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
        body = await reader.readexactly(length)
        return status, time.perf_counter(), body, stays
    first, parts = 0.0, []
    while size := int(await reader.readline(), 16):
        parts.append((await reader.readexactly(size + 2))[:-2])
        first = first or time.perf_counter()
    await reader.readline()
    return status, first, b"".join(parts), stays
