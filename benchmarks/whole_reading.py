"""Reading a whole file of responses: extraction, normal forms, fingerprints and the equivalence checker.

Part of `python -m benchmarks.answers FILE`; alone, `python -m benchmarks.whole_reading FILE` prints its rows.
"""

from __future__ import annotations

import os
import resource
import sys
import time

import numpy as np
import polars as pl

from benchmarks.measuring import Row, at_most
from steelyard.answers.reader import AnswerReader

RATE = 3000  # responses a second on two quiet cores
LEAST = 1500  # for each second of CPU: two cores that never wait need this for RATE; a busy machine shows it too
NAMES = {"question_id": "question", "response_text": "response", "ground_truth": "gold"}


def rows(table: pl.DataFrame) -> list[Row]:
    """Read all answers of a table and group them with the gold answers; each process is new to all of them."""
    renamed = table.drop("question").rename(NAMES) if "question_id" in table.columns else table
    golds = renamed.unique("question", maintain_order=True)
    reader = AnswerReader("math")
    start, used = time.perf_counter(), _cpu()
    answers = [found.answer for found in reader.extract(renamed["response"])]
    extracted = _cpu() - used
    texts = pl.Series([*answers, *golds["gold"]], dtype=pl.String)
    questions = pl.concat([renamed["question"], golds["question"]]).rank("dense").to_numpy().astype(np.int64)
    reader.keys(texts, questions)
    reader.close()
    taken, spent = time.perf_counter() - start, _cpu() - used
    n = renamed.height
    what = f"reading and grouping {n:,} responses"
    worked, rate = n / spent, n / taken
    cpu = f"{worked:,.0f} ({spent:.1f} s, {reader.checker_queries} questions to workers)"
    wall = f"{rate:,.0f} ({taken:.1f} s, at a load of {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores)"
    return [
        at_most(f"{what}, against extraction alone: CPU", spent / extracted, 50, "workers included"),
        Row(f"{what}: for each second of CPU", cpu, f"at least {LEAST:,}", worked >= LEAST),
        Row(f"{what}: a second", wall, f"at least {RATE:,} on two quiet cores", rate >= RATE),
    ]


def _cpu() -> float:
    """Seconds of this process and of those that have ended."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in each)


if __name__ == "__main__":
    for row in rows(pl.read_parquet(sys.argv[1])):
        print(f"{'ok  ' if row.met else 'MISS'} {row.what}: {row.figure}, goal {row.goal}")
