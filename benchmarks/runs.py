"""Durable runs: samples a second that are safe on the disk, and what it takes to resume a million of them.

The journal writes to the disk of the temporary folder (TMPDIR): on a memory disk an fsync costs nothing.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.measuring import Row, run
from steelyard.runs.journal import SYNC
from steelyard.runs.journal_lines import encode
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run

QUESTIONS, N = 31_250, 32
TASKS, SOME = 64, 4000
TEXT = "First we count what is there, then we take away what was sold, and look at what is left.\n\n" * 15

RESUME = """
from pathlib import Path
from steelyard.runs.run import Run
with Run.open(Path({folder!r})) as run:
    assert len(run.state.samples.done) == {samples} and next(run.missing(), None) is None
"""
NOTHING = "import polars, steelyard.runs.run"


def sample(question: str, number: int) -> dict[str, Any]:
    said = {"response": f"{TEXT}It is \\boxed{{{number % 7}}}", "finish": "stop", "tokens": 400, "logprob": -0.25}
    key = {"kind": "sample", "question": question, "sample": number}
    return {**key, **said, "seed": number, "attempts": 1, "model": "m"}


def start(folder: Path) -> Run:
    names = [f"question-{i}" for i in range(QUESTIONS)]
    return Run.start(folder, Manifest("00" * 32, "m", N), pl.DataFrame({"question": names, "prompt": names}))


def durable(run: Run) -> float:
    """Samples a second through `Run.add` from 64 tasks, as from an upstream that answers at once."""
    keys = run.missing()

    async def ask(until: int) -> None:
        for key in keys:
            await run.add(sample(*key))
            if len(run.state.samples.done) >= until:
                return

    async def ask_all() -> None:
        until = len(run.state.samples.done) + SOME
        await asyncio.gather(*(ask(until) for _ in range(TASKS)))

    begun, before = time.perf_counter(), len(run.state.samples.done)
    asyncio.run(ask_all())
    return (len(run.state.samples.done) - before) / (time.perf_counter() - begun)


def one_by_one(folder: Path) -> float:
    """Samples a second with an fsync for every one."""
    with (folder / "plain").open("wb", buffering=0) as file:
        begun = time.perf_counter()
        for i in range(100):
            file.write(encode(sample("q", i)))
            SYNC(file.fileno())
        return 100 / (time.perf_counter() - begun)


def rest(run: Run) -> Iterator[list[dict[str, Any]]]:
    keys = list(run.missing())
    for start in range(0, len(keys), 10_000):
        yield [sample(*key) for key in keys[start : start + 10_000]]


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with start(folder / "run") as filled:
            rates = [(durable(filled), one_by_one(folder)) for _ in range(5)]
            together, alone = (max(side) for side in zip(*rates, strict=True))
            for records in rest(filled):
                filled.add_now(records)
        size = (folder / "run" / "journal.jsonl").stat().st_size / 1e9
        code = RESUME.format(folder=str(folder / "run"), samples=QUESTIONS * N)
        costs = [(run(code), run(NOTHING)) for _ in range(3)]
    cpu = min(cost.cpu for cost, _ in costs)
    peak = max(cost.peak for cost, _ in costs)
    base = min(cost.peak for _, cost in costs)
    what = f"a journal of {QUESTIONS * N:,} samples ({size:.1f} GB) resumes"
    return [
        Row(
            f"durable samples from {TASKS} tasks",
            f"{together:,.0f} a second",
            "at least 2,000 a second",
            together >= 2000,
        ),
        Row(
            "group commit against one fsync per sample",
            f"{together / alone:.1f} x ({alone:,.0f} a second)",
            "no goal",
            True,
        ),
        Row(f"{what}: CPU", f"{cpu:.1f} s", "at most 10 s", cpu <= 10),
        Row(f"{what}: peak memory", f"{peak:.0f} MB ({base:.0f} MB before)", "at most 500 MB", peak <= 500),
    ]
