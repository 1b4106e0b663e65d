"""What `vote --engine ray` costs over plain processes, and how much memory it takes: python -m benchmarks.ray_vote.

Both engines vote on the same parts with two workers that are warm: each has done a small part before the clock starts.
They take turns, each in a process of its own, and the ratio is that of the medians of one run. A second table is about
a driver with very many tiny parts. --write puts the ratio into docs/ray_ratios.json, from where `python -m docs.scale`
takes it, or with --tiny that of such a driver. Ray must be installed (pip install 'steelyard[ray]').
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from benchmarks.ray_ratios import ManyParts, Ratio
from steelyard.engine.engines import engine_of
from steelyard.engine.input_parts import InputPart
from steelyard.engine.scheduler import Failed
from steelyard.engine.table_jobs import TablePart
from steelyard.engine.vote_parts import VoteOrder, vote_part, vote_parts
from steelyard.runs.manifest import sha256_of
from steelyard.runs.parts import Parts, part_name

SAMPLES = 64
WARM = "warm"
ENGINES = ("processes", "ray")


def peak() -> float:
    """The most memory that this process has had, in MB; ru_maxrss would be that of its parent, too."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def measured_part(order: VoteOrder, part: TablePart) -> tuple[float, int, float]:
    """Vote on a part; return the most memory of this worker, the questions, and the CPU seconds that it took.

    A part to get warm with ends when every worker has done one; its `order` is the number of workers.
    """
    began = time.process_time()
    found = vote_part(order, part)
    cpu = 0.0 if part.name == WARM else time.process_time() - began
    if part.name == WARM:
        while len(list(Path(part.target).parent.glob(f"{WARM}*.json"))) < int(part.order):
            time.sleep(0.01)
    return peak(), found["questions"], cpu


@dataclass
class Measured:
    """One vote on all parts by one engine."""

    seconds: float
    cpu: float  # seconds of the workers; on a busy machine this tells more than the clock
    worker_mb: float
    driver_mb: float
    questions: int


def make_parts(folder: Path, rows: int, parts: int) -> None:
    """Write a folder of parts; their questions are numbered, as the hash of a question costs a vote nothing."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    each = max(1, rows // parts // SAMPLES)
    sizes, lengths, digests = [], [], []
    for i in range(parts):
        question = np.repeat(np.arange(i * each, (i + 1) * each), SAMPLES)
        table = pl.DataFrame(
            {
                "question": pl.Series(question).cast(pl.String),
                "sample": np.tile(np.arange(SAMPLES), each),
                "answer": pl.Series(rng.integers(0, 12, len(question))).cast(pl.String),
                "score": rng.random(len(question)),
            }
        )
        path = folder / f"{part_name(i)}.parquet"
        table.write_parquet(path)
        sizes.append(path.stat().st_size)
        digests.append(sha256_of(path))
        lengths.append(table.height)
    Parts("responses", parts, rows=lengths, bytes=sizes, sha256=digests, finished=True).write(folder)


def vote(engine: str, folder: Path, plan: Path, workers: int) -> Measured:
    """Let an engine vote on the parts, after one small part for every worker."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as out:
        order = VoteOrder(str(plan), None, None, None, {"score": None, "source": None, "rename": {}}, "math")
        warm = folder / f"{WARM}.parquet"
        parts = [
            TablePart(InputPart(WARM, str(warm), 1, sha256_of(warm)), f"{out}/{WARM}-{i}.parquet", str(workers))
            for i in range(workers)
        ]
        found = Parts.read(folder)
        parts += [
            TablePart(InputPart(path.stem, str(path), rows, digest), f"{out}/{path.name}", "")
            for path, rows, digest in zip(found.paths(folder), found.rows, found.sha256, strict=True)
        ]
        began, most, questions, cpu = 0.0, 0.0, 0, 0.0
        going = engine_of(engine).run(measured_part, order, parts, workers=workers)
        for i, each in enumerate(going):
            if isinstance(each, Failed):
                raise SystemExit(f"{each.part.name}: {each.reason}")
            if i == workers - 1:
                began = time.perf_counter()
            most, questions = max(most, each.summary[0]), questions + each.summary[1]
            cpu += each.summary[2]
        return Measured(time.perf_counter() - began, cpu, most, peak(), questions)


def many(engine: str, folder: Path, workers: int) -> dict[str, float]:
    """Vote on very many tiny parts as the command does; return the seconds and the most memory of the driver."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=folder.parent) as out:
        vote_parts(folder, Path(out) / "verdicts", engine_of(engine), workers=workers)
    return {"seconds": time.perf_counter() - began, "driver_mb": peak()}


def in_a_process(*words: object) -> Any:
    """Run one measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.ray_vote", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--parts", type=int, default=16)
    parser.add_argument("--tiny", type=int, default=10_000, help="parts of one question for the second table; 0: none")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="store the result for docs/scale-costs.md")
    parser.add_argument("--folder", type=Path, help="where the tables go; default: a temporary folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        place = Path(name)
        plan = place / "plan.json"
        sy.LogitVote().fit(sy.read_labelled(sy.simulate(200, 16, seed=0))).save(plan)
        make_parts(place / "parts", given.rows, given.parts)
        make_parts(place / "small", SAMPLES, 1)
        (place / "small" / f"{part_name(0)}.parquet").rename(place / "parts" / f"{WARM}.parquet")
        times: dict[str, list[Measured]] = {engine: [] for engine in ENGINES}
        for turn in range(given.turns):
            for engine in ENGINES if turn % 2 == 0 else ENGINES[::-1]:
                found = in_a_process("--one", engine, place / "parts", plan, given.workers)
                times[engine].append(Measured(**found))
        print(f"{given.rows:,} rows in {given.parts} parts, {given.workers} warm workers, median of {given.turns}")
        print(f"{'engine':<12}{'seconds':>10}{'CPU s':>10}{'rows/s':>14}{'MB per worker':>16}{'MB of driver':>16}")
        for engine, each in times.items():
            seconds = median(one.seconds for one in each)
            worker, driver = max(one.worker_mb for one in each), max(one.driver_mb for one in each)
            cpu = median(one.cpu for one in each)
            print(
                f"{engine:<12}{seconds:>10.2f}{cpu:>10.2f}{given.rows / seconds:>14,.0f}{worker:>16.0f}{driver:>16.0f}"
            )
        for what in ("cpu", "seconds"):
            plain, ray = (median(getattr(one, what) for one in times[engine]) for engine in ENGINES)
            print(f"ray / processes, {what}: {ray / plain:.3f}")
        words = f"--rows {given.rows} --parts {given.parts} --turns {given.turns} --tiny 0"
        what, command = f"vote on {given.rows:,} rows", f"python -m benchmarks.ray_vote {words}"
        most = (max(getattr(one, name) for one in times["ray"]) for name in ("worker_mb", "driver_mb"))
        ratio = Ratio(what, command, plain, ray, given.turns, *most)
        if given.write and not given.tiny:
            ratio.store("vote")
        if given.tiny:
            make_parts(place / "tiny", given.tiny * SAMPLES, given.tiny)
            found = in_a_process("--many", "ray", place / "tiny", given.workers)
            print(f"{given.tiny:,} parts of one question: {found['seconds']:.0f} s, driver {found['driver_mb']:.0f} MB")
            if given.write:
                command = f"python -m benchmarks.ray_vote --tiny {given.tiny}"
                ManyParts(given.tiny, command, found["seconds"], found["driver_mb"]).store()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(vars(vote(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5])))))
    elif sys.argv[1:2] == ["--many"]:
        print(json.dumps(many(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))))
    else:
        main()
