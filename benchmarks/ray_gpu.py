"""`python -m benchmarks.ray_gpu`: `score --engine ray` on a real GPU, beside one process without Ray.

It needs the [prm] and [ray] extras, the vocabularies of `make test-models` and a GPU of 40 GB, and writes
docs/ray_gpu.json, from where `python -m docs.scale` takes it. The verifiers have random weights. Every way scores a
copy of the same run in parts, by the command; its rate is that of the second half of the parts, as the model is loaded
and compiled in the first. `--vllm vllm` adds a vLLM on the same GPU, asked by one process and by two workers.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.gpu_scoring import difference
from benchmarks.random_verifiers import SAMPLES, SIZES, Size, make, responses
from steelyard.engine.generate import parts_of, with_parts
from steelyard.runs.manifest import Manifest
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.run import Run
from steelyard.sampling.verifiers.protocol import Array
from steelyard.tables.question_files import fingerprint

RESULTS = Path(__file__).parents[1] / "docs" / "ray_gpu.json"
VERIFIER, PARTS, PORT = "qwen-prm", 8, 8123
QUESTIONS = {"1.5B": 512, "7B": 128}
STARTING = 300  # seconds for vLLM to be up
LOCAL = {
    "one process": ["--engine", "processes:1"],
    "ray, one worker": ["--engine", "ray", "--gpus-per-worker", "1", "--workers", "1"],
    "ray, two workers on one GPU": ["--engine", "ray", "--gpus-per-worker", "0.5", "--workers", "2"],
}
SERVED = {
    "vLLM, one process": ["--engine", "processes:1"],
    "vLLM, two workers of ray": ["--engine", "ray", "--workers", "2"],
}


@dataclass
class Measured:
    """One way to score the run: responses/s of the second half, all seconds, and what progress.log said last."""

    way: str
    responses_per_s: float
    seconds: float
    said: str
    against_first: dict[str, float]


def make_run(folder: Path, questions: int) -> int:
    """Write a run in parts whose responses are those of the other GPU benchmarks; return how many there are."""
    items = responses(questions, seed=1)
    prompts = [items[i * SAMPLES].question for i in range(questions)]
    table = pl.DataFrame({"question": [f"q{i}" for i in range(questions)], "prompt": prompts})
    placed = with_parts(table, PARTS)
    run = PartedRun.start(folder, Manifest(fingerprint(table), "m", SAMPLES), placed, parts_of(placed, PARTS))
    for part in run.nonempty_parts:
        mine = run.questions(part).drop("place")
        with Run.start(folder / part.name, Manifest(part.sha256, "m", SAMPLES), mine) as opened:
            for question in mine["question"]:
                first = int(question[1:]) * SAMPLES
                texts = ["\n\n".join(item.steps) for item in items[first : first + SAMPLES]]
                opened.add_now(
                    [
                        {"kind": "sample", "question": question, "sample": i, "response": text, "tokens": None}
                        for i, text in enumerate(texts)
                    ]
                )
            opened.write_table()
    return len(items)


def scored(run: Path, model: Path, way: str, words: list[str]) -> tuple[Measured, Array]:
    """Score a copy of a run by the command; return what it took, and the scores in the order of the samples."""
    with tempfile.TemporaryDirectory(dir=run.parent) as place:
        copy = Path(place) / "run"
        shutil.copytree(run, copy)
        before = time.time()
        command = [sys.executable, "-m", "steelyard", "score", str(copy), "--verifier", VERIFIER, "--model", str(model)]
        subprocess.run([*command, *words], check=True)
        took = time.time() - before
        parts = sorted(copy.glob("part-*/table.parquet"), key=lambda path: path.stat().st_mtime)
        ended = [path.stat().st_mtime for path in parts]
        sizes = [pl.scan_parquet(path).select(pl.len()).collect().item() for path in parts]
        warm = PARTS // 2
        rate = sum(sizes[warm:]) / (ended[-1] - ended[warm - 1])
        said = (copy / "progress.log").read_text().splitlines()
        table = pl.concat([pl.read_parquet(path) for path in parts]).sort("question", "sample")
    busy = [line for line in said if "GPU" in line]
    return Measured(way, rate, took, (busy or said)[-1], {}), table[VERIFIER].explode().to_numpy()


@contextmanager
def vllm(called: str, model: Path) -> Iterator[str]:
    """A vLLM that serves the model; its address."""
    command = [*shlex.split(called), "serve", str(model), "--runner", "pooling"]
    command += ["--port", str(PORT), "--host", "127.0.0.1", "--max-model-len", "4096", "--dtype", "bfloat16"]
    command += ["--gpu-memory-utilization", "0.5"]
    address = f"http://127.0.0.1:{PORT}"
    with subprocess.Popen(command) as server:
        try:
            end = time.monotonic() + STARTING
            while not _answers(f"{address}/health"):
                if server.poll() is not None or time.monotonic() > end:
                    raise SystemExit("vLLM did not start")
                time.sleep(1)
            yield f"{address}/v1"
        finally:
            server.terminate()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def prepared(name: str, size: Size, folder: Path, device: str) -> tuple[Path, Path, int]:
    """Make a model of a size and a run in parts; return where they are, and how many responses there are."""
    model = make(replace(size, verifier=VERIFIER), folder / name / "model", device)
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"architectures": ["Qwen2ForProcessRewardModel"]}))
    run = folder / name / "run"
    return model, run, make_run(run, QUESTIONS[name])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", default=list(SIZES), help="of the verifiers")
    parser.add_argument("--vllm", metavar="COMMAND", help="how vLLM is called here, to have it asked too")
    given = parser.parse_args()
    import ray
    import torch

    where = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "ray": ray.__version__}
    if given.vllm:
        where["vllm"] = subprocess.check_output([*shlex.split(given.vllm), "--version"], text=True).split()[-1]
    rows: dict[str, dict[str, Any]] = {}
    first: dict[str, Array] = {}
    memory = Path("/dev/shm")  # gigabytes of weights are written and read

    def measure(name: str, words: list[str], ways: Mapping[str, list[str]]) -> None:
        for way, more in ways.items():
            found, scores = scored(run_of[name], model_of[name], way, [*words, *more])
            found.against_first = difference([scores], [first.setdefault(name, scores)])
            rows[name]["ways"].append(asdict(found))
            print(found, flush=True)
            RESULTS.write_text(json.dumps({**where, "sizes": list(rows.values())}, indent=1) + "\n")

    model_of, run_of = {}, {}
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        for name in given.sizes:
            model_of[name], run_of[name], count = prepared(name, SIZES[name], Path(folder), "cuda")
            rows[name] = {"size": name, "responses": count, "parts": PARTS, "ways": []}
            measure(name, ["--local"], LOCAL)
        for name in given.sizes if given.vllm else ():
            with vllm(given.vllm, model_of[name]) as address:
                measure(name, ["--upstream", address], SERVED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
