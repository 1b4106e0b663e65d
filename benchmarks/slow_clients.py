"""Clients that never finish a request: `python -m benchmarks.slow_clients PORT COUNT` keeps them until it is killed.

Each sends one byte of a request head per second, and connects again when it is disconnected. The first line of output
says that all of them have connected once.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nX-Slow: "
PAUSE = 1.0  # seconds between two bytes, and before a client connects again


async def connect_slowly(port: int, delay: float, connected: asyncio.Semaphore) -> None:
    """One client, which begins after `delay` seconds."""
    await asyncio.sleep(delay)
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD)
            connected.release()
            while not reader.at_eof():
                await asyncio.sleep(PAUSE)
                writer.write(b"a")
                await writer.drain()
            writer.close()
        await asyncio.sleep(PAUSE)


async def main(port: int, count: int) -> None:
    """Connect all clients over two seconds, and keep them."""
    connected = asyncio.Semaphore(0)
    clients = [asyncio.create_task(connect_slowly(port, 2 * i / count, connected)) for i in range(count)]
    for _ in range(count):
        await connected.acquire()
    print("connected", flush=True)
    await asyncio.gather(*clients)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
