"""What `score --engine ray` costs over plain processes: python -m benchmarks.ray_score.

Two workers of each engine score the same run in parts: with a tiny model of random weights that each has loaded
(--model, which needs torch and 'make test-models' before), or with `logprob`, which reads what the run has recorded:
what is left then is reading, writing durably and deriving the tables. They take turns, each in a process of its own
with one thread per worker; the clock starts when the first part is finished, so that the start of the engine and the
loading are not in it. --write puts the result into docs/ray_ratios.json, from where `python -m docs.scale` takes it.
Ray must be installed (pip install 'steelyard[ray]').
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import polars as pl

from benchmarks.ray_ratios import Ratio
from steelyard.engine import score as scoring
from steelyard.engine.generate import parts_of, with_parts
from steelyard.engine.run_progress import PartDone
from steelyard.engine.score import score_parts
from steelyard.engine.score_worker import ScorePartsOrder, score_part
from steelyard.runs.manifest import Manifest
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.run import Run
from steelyard.sampling.progress import Progress
from steelyard.tables.question_files import fingerprint

ENGINES = ("processes:2", "ray")
SAMPLES = 32
CPU = "cpu"  # folder beside the run
VERIFIER = "qwen-prm"  # of the tiny model
TEXT = "We add the two numbers and carry the one. " * 20 + "The answer is \\boxed{7}."


def make_run(folder: Path, responses: int, parts: int) -> None:
    """Write a run in parts, without anybody who is asked."""
    count = responses // SAMPLES
    questions = pl.DataFrame({"question": [f"q{i}" for i in range(count)], "prompt": ["3 + 4?"] * count})
    placed = with_parts(questions, parts)
    manifest = Manifest(fingerprint(questions), "m", SAMPLES)
    run = PartedRun.start(folder, manifest, placed, parts_of(placed, parts))
    for part in run.nonempty_parts:
        mine = run.questions(part).drop("place")
        with Run.start(folder / part.name, Manifest(part.sha256, "m", SAMPLES), mine) as opened:
            for question in mine["question"]:
                about = {"kind": "sample", "question": question, "response": TEXT, "tokens": 200, "logprob": -0.1}
                opened.add_now([{**about, "sample": i} for i in range(SAMPLES)])
            opened.write_table()


def measured_part(order: ScorePartsOrder, part: RunPart) -> PartDone:
    """Score a part, and write down the CPU seconds that it took, unless it is the first of a worker, to get warm."""
    began, warm = time.process_time(), order.folder.parent / CPU / f"warm-{os.getpid()}"
    done = score_part(order, part)
    path = order.folder.parent / CPU / part.name if warm.exists() else warm
    path.write_text(str(time.process_time() - began))
    return done


@dataclass
class Measured:
    """One run scored by one engine: seconds by the clock, and of the CPU per part."""

    seconds: float
    cpu: float


def score(engine: str, folder: Path, model: Path | None) -> Measured:
    """Score a copy of the run, and measure from the first finished part to the last."""
    times: dict[int, float] = {}  # when so many parts were finished
    more: dict[str, Any] = {"local": True, "model": str(model)} if model else {}

    def watch(progress: Progress) -> None:
        times.setdefault(progress.pieces_done, time.perf_counter())

    with (
        tempfile.TemporaryDirectory(dir=folder.parent) as place,
        patch.object(scoring, "score_part", measured_part),
    ):
        shutil.copytree(folder, Path(place) / "run")
        (Path(place) / CPU).mkdir()
        score_parts(
            Path(place) / "run", VERIFIER if model else "logprob", engine=engine, workers=2, progress=watch, **more
        )
        parts = [float(path.read_text()) for path in (Path(place) / CPU).glob("part-*")]
    return Measured(times[max(times)] - times[min(filter(None, times))], sum(parts) / len(parts))


def in_a_process(engine: str, folder: Path, model: Path | None) -> Measured:
    """Run one measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.ray_score", "--engine", engine, "--folder", str(folder)]
    command += ["--model-folder", str(model)] if model else []
    alone = os.environ | {"OMP_NUM_THREADS": "1"}  # as Ray sets it for a worker with one CPU
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=alone)
    if done.returncode:
        raise SystemExit(done.stderr)
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--responses", type=int, help="default: 100,000, with a model 8,192")
    parser.add_argument("--parts", type=int, default=16)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--model", action="store_true", help="score with a tiny model on the CPU")
    parser.add_argument("--write", action="store_true", help="store the result for docs/scale-costs.md")
    parser.add_argument("--engine", help="measure this one on the run in --folder, and nothing else")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--model-folder", type=Path, help="with --engine: the model")
    given = parser.parse_args()
    if given.engine:
        print(json.dumps(vars(score(given.engine, given.folder, given.model_folder))))
        return
    responses = given.responses or (8_192 if given.model else 100_000)
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        run, model = Path(name) / "run", None
        if given.model:
            from tests.models import tiny

            model = tiny.qwen_prm(Path(name) / "model")
        make_run(run, responses, given.parts)
        found: dict[str, list[Measured]] = {engine: [] for engine in ENGINES}
        for turn in range(given.turns):
            for engine in ENGINES if turn % 2 == 0 else ENGINES[::-1]:
                found[engine].append(in_a_process(engine, run, model))
    print(f"{responses:,} responses in {given.parts} parts, two workers, median of {given.turns} turns")
    for what in ("cpu", "seconds"):
        plain, ray = (median(getattr(one, what) for one in found[engine]) for engine in ENGINES)
        print(f"score --engine ray against processes, {what}: {ray / plain:.3f} x ({ray:.2f}, {plain:.2f})")
    words = f"{'--model ' * given.model}--responses {responses} --parts {given.parts} --turns {given.turns}"
    what = f"score {responses:,} responses {'with a tiny model' if given.model else 'by what the run recorded'}"
    ratio = Ratio(what, f"python -m benchmarks.ray_score {words}", plain, ray, given.turns)
    print(ratio.said)
    if given.write:
        ratio.store("score-model" if given.model else "score-recorded")


if __name__ == "__main__":
    main()
