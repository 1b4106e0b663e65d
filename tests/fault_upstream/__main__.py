"""The server: python -m tests.fault_upstream LEDGER."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from typing import Any

from tests.fault_upstream.answers import ANSWERS
from tests.fault_upstream.asked import Asked, Fault, good
from tests.fault_upstream.fuzzed import fuzz, fuzz_stream
from tests.fault_upstream.streams import STREAMS
from tests.fault_upstream.wire import RELEASED, status


class Upstream:
    """The server: reads requests, keeps the ledger, picks the answer."""

    def __init__(self, ledger: str, delay: float) -> None:
        self.file = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.delay = delay
        self.left = math.inf  # requests that are answered; later ones are held back
        self.seen: Counter[str] = Counter()
        self.count = 0

    def note(self, **entry: Any) -> None:
        os.write(self.file, json.dumps(entry).encode() + b"\n")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, ValueError):
            async for path, headers, body in requests(reader):
                key = headers.get("authorization", "").removeprefix("Bearer ")
                if path.endswith("/models"):
                    await Asked({}, key, writer).reply(b'{"object": "list", "data": [{"id": "good"}]}')
                elif path.endswith("/allow"):
                    self.left = float(body)
                    await Asked({}, key, writer).reply(b"{}")
                elif path.endswith("/release"):
                    RELEASED[body.decode()].set()
                    await Asked({}, key, writer).reply(b"{}")
                elif not path.endswith("/chat/completions"):
                    await Asked({}, key, writer).refuse(404, f"no route {path}")
                else:
                    asked = Asked(json.loads(body), key, writer, body.decode()[:2000], headers.get("traceparent", ""))
                    if not await self.answer(asked, reader):
                        break
        writer.close()

    async def answer(self, asked: Asked, reader: asyncio.StreamReader) -> bool:
        """Answer one request; return whether the connection can be used again."""
        self.count += 1
        number = self.count
        fault = Fault.of(str(asked.body["model"]))
        if fault.single:
            asked.body["n"] = 1
        body = {name: asked.body.get(name) for name in ("model", "n", "seed", "logprobs", "temperature", "top_p")}
        told = {"prompt": asked.prompt, "keyed": bool(asked.key), "written": asked.written, "trace": asked.trace}
        self.note(event="arrived", request=number, **told, **body)
        print_of_it = json.dumps([asked.prompt, body])
        self.seen[print_of_it] += 1
        first = not fault.once or self.seen[print_of_it] == 1
        meant = fault.word in asked.prompt and fault.meets(asked.body) and first
        asked.fault = fault if meant else Fault()
        if self.delay:
            await asyncio.sleep(self.delay)
        closed = "nobody"
        try:
            if self.left < 1:
                await self.until_they_leave(self.allowed(), reader)
            self.left -= 1
            if asked.fault.kind == "fuzz":
                await (fuzz_stream if asked.body.get("stream") else fuzz)(asked)
            elif asked.body.get("stream") and asked.fault.kind in STREAMS:
                await self.until_they_leave(STREAMS[asked.fault.kind](asked), reader)
            elif not asked.fault.kind:
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

    async def allowed(self) -> None:
        while self.left < 1:
            await asyncio.sleep(0.01)

    async def until_they_leave(self, answer: Awaitable[None], reader: asyncio.StreamReader) -> None:
        """Stop an answer, however slow, when the client hangs up."""
        task = asyncio.ensure_future(answer)
        while not task.done():
            await asyncio.wait({task}, timeout=0.02)
            if reader.at_eof() and not task.done():
                task.cancel()
        await task


async def requests(reader: asyncio.StreamReader) -> AsyncIterator[tuple[str, dict[str, str], bytes]]:
    """Yield (path, headers, body) of every request on a connection."""
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        yield first.split()[1], headers, body


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
