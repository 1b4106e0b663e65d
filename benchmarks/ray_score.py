"""What `score --engine ray` costs over plain processes: python -m benchmarks.ray_score.

Two workers of each engine score the same run in parts with the tiniest verifier there is, `logprob`, which reads what
the run has recorded: what is left is reading, writing durably and deriving the tables. They take turns, each in a
process of its own; the clock starts when the first part is finished, so that the start of the engine is not in it. Ray
must be installed (pip install 'steelyard[ray]').
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import polars as pl

from steelyard.engine.parted_generate import parts_of, with_parts
from steelyard.engine.parted_score import score_parts
from steelyard.jobs.progress import Progress
from steelyard.runs.manifest import Manifest
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.run import Run
from steelyard.tables.questions.question_files import fingerprint

ENGINES = ("processes:2", "ray")
SAMPLES = 32
TEXT = "We add the two numbers and carry the one. " * 20 + "The answer is \\boxed{7}."


def make_run(folder: Path, responses: int, parts: int) -> None:
    """Write a run in parts, without anybody who is asked."""
    count = responses // SAMPLES
    questions = pl.DataFrame({"question": [f"q{i}" for i in range(count)], "prompt": ["3 + 4?"] * count})
    placed = with_parts(questions, parts)
    manifest = Manifest(fingerprint(questions), "m", SAMPLES)
    run = PartedRun.start(folder, manifest, placed, parts_of(placed, parts))
    for part in run.wanted:
        mine = run.questions(part).drop("place")
        with Run.start(folder / part.name, Manifest(part.sha256, "m", SAMPLES), mine) as opened:
            for question in mine["question"]:
                about = {"kind": "sample", "question": question, "response": TEXT, "tokens": 200, "logprob": -0.1}
                opened.add_now([{**about, "sample": i} for i in range(SAMPLES)])
            opened.write_table()


def score(engine: str, folder: Path) -> float:
    """Score a copy of the run; return the seconds from the first finished part to the last."""
    times: dict[int, float] = {}  # when so many parts were finished

    def watch(progress: Progress) -> None:
        times.setdefault(progress.pieces_done, time.perf_counter())

    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        shutil.copytree(folder, Path(place) / "run")
        score_parts(Path(place) / "run", "logprob", engine=engine, workers=2, progress=watch)
    return times[max(times)] - times[min(filter(None, times))]


def in_a_process(engine: str, folder: Path) -> float:
    """Run one measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.ray_score", "--engine", engine, "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return float(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--responses", type=int, default=100_000)
    parser.add_argument("--parts", type=int, default=16)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--engine", help="measure this one on the run in --folder, and nothing else")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.engine:
        print(score(given.engine, given.folder))
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        run = Path(name) / "run"
        make_run(run, given.responses, given.parts)
        seconds: dict[str, list[float]] = {engine: [] for engine in ENGINES}
        for _ in range(given.turns):
            for engine in ENGINES:
                seconds[engine].append(in_a_process(engine, run))
    plain, ray = (median(seconds[engine]) for engine in ENGINES)
    print(f"{given.responses:,} responses in {given.parts} parts, two workers, median of {given.turns} turns")
    print(
        f"score --engine ray against processes: {ray / plain:.2f} x ({ray:.1f} s, {plain:.1f} s), goal at most 1.15 x"
    )


if __name__ == "__main__":
    main()
