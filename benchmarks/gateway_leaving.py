"""How long after a client has left the gateway hangs up on its upstream: `python -m benchmarks.gateway_leaving`.

    python -m benchmarks.gateway_leaving [--leaves 300] [--at-once 1 10]

The upstream and the clients are in this process, so that one clock times both; the server is a process of its own. The
upstream never answers what a client leaves, and of every leave the last of its calls counts. On a busy machine the
figures are those of the machine too: the load is stored beside them. They go to docs/gateway_leaving.json, and from
there onto docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.gateway_page import LEAVING, store
from benchmarks.measuring import Row
from benchmarks.plain_upstream import STREAM, Upstream, reply

ROOT = Path(__file__).parent.parent
MODEL, VOTE = "single", "steelyard/majority"  # one choice per call, so that eight samples are eight calls
GOAL = 0.25  # seconds, of 99 in 100
LEFT = "leave"  # what the prompts begin with that are never answered
CHUNK = b'data: {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": null}]}\n\n'
PATIENCE = 30.0  # seconds
FIRST = 20  # leaves that are not counted: a server that has just started still loads what it needs


@dataclass
class Calls:
    """The calls that came for each prompt, and when each of them was hung up on."""

    came: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    ended: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


class Silent(Upstream):
    """Answers the probe, and nobody who is going to leave; of a stream it sends the first event."""

    def __init__(self, calls: Calls) -> None:
        super().__init__(0.0)
        self.calls = calls
        self.prompt: str | None = None

    def answer(self, body: dict[str, Any]) -> bytes:
        prompt = str(body["messages"][-1]["content"])
        if not prompt.startswith(LEFT):
            return reply(body)
        self.prompt = prompt
        self.calls.came[prompt] += 1
        return STREAM + b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK) if body.get("stream") else b""

    def connection_lost(self, exc: Exception | None) -> None:
        if self.prompt is not None:
            self.calls.ended[self.prompt].append(time.perf_counter())
        super().connection_lost(exc)


@asynccontextmanager
async def served(calls: Calls) -> AsyncIterator[int]:
    """The port of a gateway before the silent upstream."""
    loop = asyncio.get_running_loop()
    upstream = await loop.create_server(lambda: Silent(calls), "127.0.0.1", 0, backlog=4096)
    environment = {name: value for name, value in os.environ.items() if name != "STEELYARD_KEY"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), environment.get("PYTHONPATH", "")])
    behind = f"http://127.0.0.1:{upstream.sockets[0].getsockname()[1]}/v1"
    line = ["-m", "steelyard", "serve", "--upstream", behind, "--model", MODEL, "--method", "majority", "--port", "0"]
    running = await asyncio.create_subprocess_exec(
        sys.executable, *line, stdout=asyncio.subprocess.PIPE, env=environment
    )
    try:
        assert running.stdout
        told = (await running.stdout.readline()).decode()
        yield int(told.rpartition(":")[2].removesuffix("/v1\n"))
    finally:
        running.kill()
        await running.wait()
        upstream.close()


async def leave(port: int, calls: Calls, prompt: str, wanted: int, **body: Any) -> float:
    """Ask, leave when all calls are there, and return how long the last of them was held after that."""
    content = json.dumps({"messages": [{"role": "user", "content": prompt}], **body}).encode()
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(content)}\r\n\r\n"
    writer.write(head.encode() + content)
    async with asyncio.timeout(PATIENCE):
        while calls.came[prompt] < wanted:
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.02)
        left = time.perf_counter()
        writer.transport.abort()
        while len(calls.ended[prompt]) < wanted:
            await asyncio.sleep(0.002)
    if calls.came[prompt] != wanted:
        raise AssertionError(f"{calls.came[prompt]} calls were made where {wanted} were due")
    return max(calls.ended[prompt]) - left


async def measured(leaves: int, at_once: int) -> list[Row]:
    """All ways of leaving."""
    calls, rows = Calls(), []
    vote = {"model": VOTE, "steelyard": {"n": 8}}
    ways: list[tuple[str, int, dict[str, Any]]] = [
        ("a vote on 8 samples", 8, vote),
        ("a vote on 8 samples, as a stream", 8, vote | {"stream": True}),
        ("a stream that is passed through", 1, {"model": MODEL, "stream": True}),
    ]
    async with served(calls) as port:
        for name, wanted, body in ways:
            turn = asyncio.Semaphore(at_once)

            async def one(i: int, name: str = name, wanted: int = wanted, body: dict[str, Any] = body) -> float:
                async with turn:  # noqa: B023 - all of one way have ended before the next begins
                    return await leave(port, calls, f"{LEFT} {name} {i}", wanted, **body)

            await asyncio.gather(*(one(-1 - i) for i in range(FIRST)))
            times = sorted(await asyncio.gather(*(one(i) for i in range(leaves))))
            p50, p99 = (times[min(leaves - 1, int(share * leaves))] for share in (0.5, 0.99))
            figure = f"p50 {1000 * p50:.1f} ms, p99 {1000 * p99:.1f} ms, longest {1000 * times[-1]:.1f} ms"
            what = f"client leaves {name}, {at_once} at a time"
            rows.append(Row(what, figure, f"p99 at most {1000 * GOAL:.0f} ms", p99 <= GOAL))
    return rows


def main() -> int:
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--leaves", type=int, default=300)
    told.add_argument("--at-once", type=int, nargs="+", default=[1, 10])
    given = told.parse_args()
    before = os.getloadavg()[0]
    rows = [row for at_once in given.at_once for row in asyncio.run(measured(given.leaves, at_once))]
    for row in rows:
        print(f"{'ok  ' if row.met else 'MISS'} {row.what}: {row.figure}, goal {row.goal}")
    print(f"load before {before:.1f}, after {os.getloadavg()[0]:.1f}")
    store(LEAVING, {"load": round(before, 1), "leaves": given.leaves, "rows": list(map(asdict, rows))})
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
