"""Generation against the bare upstream: 64 requests at once, each answered after 200 ms, one sample a request.

The other side is the least a client can do: 64 workers that post the same bodies over one aiohttp session and read the
JSON. Ours also keeps its pace, checks every reply and returns when the sample is on the disk. The probe at the start,
one request a run, is not counted.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.measuring import Row, at_most
from steelyard.runs.manifest import Manifest
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.runs.run import Run
from steelyard.runs.source_share import Share
from steelyard.sampling.generate.generate import Generate
from steelyard.sampling.generate.generate_order import How
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.completion_json import body_of
from steelyard.tables.prompts import read_template
from tests.upstreams import fault_upstream

AT_ONCE = 64
ROUNDS = 20
DELAY = 0.2
REPEATS = 5
ABLE = Abilities(most=1, logprobs=True, usage=True)
PLAN = Sampling("good", n=1)


async def bare(url: str, prompts: list[str]) -> None:
    """Post every prompt, 64 at a time."""
    import aiohttp

    bodies = iter([json.dumps(body_of(PLAN, ABLE, prompt, n=1, first=0)).encode() for prompt in prompts])
    headers = {"Content-Type": "application/json"}

    async def worker(session: aiohttp.ClientSession) -> None:
        for body in bodies:
            async with session.post(f"{url}/chat/completions", data=body, headers=headers) as response:
                json.loads(await response.read())

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(worker(session) for _ in range(AT_ONCE)))


def ours(url: str, prompts: list[str], folder: Path) -> None:
    """The job of `steelyard generate`."""
    questions = pl.DataFrame({"question": [f"q{i}" for i in range(len(prompts))], "prompt": prompts})
    how = How(AT_ONCE, start=AT_ONCE, fan_out=True)
    with Run.start(folder, Manifest("0", PLAN.model, PLAN.n), questions) as run:
        job = Generate(Share(run), Address(url), PLAN, read_template("plain"), how, url)
        job.note(ABLE)
        state = asyncio.run(job.work())
        if state.done != len(prompts):
            raise AssertionError(f"{state.done} of {len(prompts)} samples")


def timed(task: Any) -> tuple[float, float]:
    """Seconds on the clock, and of this process's CPU."""
    begin, used = time.perf_counter(), time.process_time()
    task()
    return time.perf_counter() - begin, time.process_time() - used


def pairs(delay: float, count: int, repeats: int) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Both in turns: (ours, bare), each as (seconds, CPU)."""
    prompts = [f"What is {i} + {i}?" for i in range(count)]
    found = []
    with tempfile.TemporaryDirectory() as name, fault_upstream(Path(name), delay=delay) as upstream:
        for i in range(repeats):
            theirs = timed(lambda: asyncio.run(bare(upstream.url, prompts)))
            mine = timed(lambda i=i: ours(upstream.url, prompts, Path(name) / f"run{i}"))
            found.append((mine, theirs))
    return found


def rows() -> list[Row]:
    slow = pairs(DELAY, AT_ONCE * ROUNDS, REPEATS)
    ratio = statistics.median(mine[0] / theirs[0] for mine, theirs in slow)
    mine, theirs = (statistics.median(pair[side][0] for pair in slow) for side in (0, 1))
    cpu = [1000 * statistics.median(pair[side][1] for pair in slow) / (AT_ONCE * ROUNDS) for side in (0, 1)]
    detail = f"{mine:.2f} s, bare {theirs:.2f} s; CPU a sample {cpu[0]:.2f} ms, bare {cpu[1]:.2f} ms"
    what = f"generate against the bare upstream, {AT_ONCE} at once, {1000 * DELAY:.0f} ms a reply"
    fast = pairs(0.0, 3000, 3)
    rate = 3000 / statistics.median(mine[0] for mine, _ in fast)
    bare_rate = 3000 / statistics.median(theirs[0] for _, theirs in fast)
    return [
        at_most(what, ratio, 1.03, detail),
        Row(
            "generate, 0 ms a reply",
            f"{rate:,.0f} durable samples/s (bare: {bare_rate:,.0f} replies/s)",
            "at least 2,000",
            rate >= 2000,
        ),
    ]
