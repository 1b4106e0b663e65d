"""The CPU that one call takes of a client that does nothing else: one aiohttp session, and the JSON of the reply read.

    python -m benchmarks.bare_client PORT

For every line on standard input it asks the server on PORT again and prints microseconds of CPU per call. The figure
is the unit for the CPU of the gateway: it says how fast the machine is at this moment.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

import aiohttp

from steelyard.foundation.cores import run_in_loop

CLIENTS, CALLS = 8, 100
BODY = {"model": "single", "messages": [{"role": "user", "content": "How many?"}], "logprobs": True, "top_logprobs": 1}


async def cpu_per_call(port: int) -> float:
    """Microseconds of CPU per call, of several clients at the same time."""
    url, body = f"http://127.0.0.1:{port}/v1/chat/completions", json.dumps(BODY).encode()

    async def call(session: aiohttp.ClientSession, times: int) -> None:
        for _ in range(times):
            async with session.post(url, data=body, headers={"Content-Type": "application/json"}) as response:
                json.loads(await response.read())

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(call(session, 5) for _ in range(CLIENTS)))
        before = time.process_time()
        await asyncio.gather(*(call(session, CALLS) for _ in range(CLIENTS)))
        return 1e6 * (time.process_time() - before) / (CLIENTS * CALLS)


def main() -> None:
    for _ in sys.stdin:
        print(run_in_loop(cpu_per_call(int(sys.argv[1]))), flush=True)


if __name__ == "__main__":
    main()
