"""A process that fills a run, for tests that kill it.

    python -m tests.runs.run_writer FOLDER LEDGER PADDING TASKS PAUSE REST

It asks for every missing sample, then scores them, then writes the table. The ledger gets a line "asked KEY" before and
"safe KEY" after each sample and score, each in one call, so that it is true at the moment of a kill. A sample takes
PAUSE seconds, and who has put one away rests for REST seconds.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import SteelyardError
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run

N = 8
QUESTIONS = pl.DataFrame(
    {"question": [f"q{i:02}" for i in range(12)], "prompt": [f"{i}+1?" for i in range(12)]}
).with_columns(gold=pl.Series([str(i + 1) for i in range(12)]))
MANIFEST = Manifest("ab" * 32, "tiny", N, params={"temperature": 0.7})


def sample(question: str, number: int, padding: int = 0) -> dict[str, Any]:
    said = "a step. " * padding + f"It is \\boxed{{{int(question[1:]) + number % 3}}}"
    return {"kind": "sample", "question": question, "sample": number, "response": said, "finish": "stop", "attempts": 1}


def score(question: str, number: int) -> dict[str, Any]:
    steps = [0.5, (int(question[1:]) * 7 + number * 3) % 16 / 16]
    return {"kind": "score", "verifier": "prm", "question": question, "sample": number, "steps": steps}


async def fill(run: Run, ledger: int, records: Iterable[dict[str, Any]], tasks: int, pause: float, rest: float) -> None:
    waiting = iter(records)

    async def work() -> None:
        for record in waiting:
            name = f"{record['kind']} {record['question']} {record['sample']}\n"
            os.writev(ledger, [f"asked {name}".encode()])
            await asyncio.sleep(pause)
            await run.add(record)
            os.writev(ledger, [f"safe {name}".encode()])
            await asyncio.sleep(rest)

    await asyncio.gather(*(work() for _ in range(tasks)))


def main(folder: str, ledger: str, padding: int, tasks: int, pause: float, rest: float) -> None:
    file = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with Run.start(Path(folder), MANIFEST, QUESTIONS) as run:
        asyncio.run(fill(run, file, (sample(q, i, padding) for q, i in run.missing()), tasks, pause, rest))
        unscored = [(record["question"], record["sample"]) for record in run.unscored("prm")]
        asyncio.run(fill(run, file, (score(q, i) for q, i in unscored), tasks, pause, rest))
        run.write_table()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the tests were started by
    try:
        folder, ledger, padding, tasks, pause, rest = sys.argv[1:]
        main(folder, ledger, int(padding), int(tasks), float(pause), float(rest))
    except SteelyardError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
