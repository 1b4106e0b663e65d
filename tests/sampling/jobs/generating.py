"""Questions to ask, `steelyard generate` on them, and what its run then holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from steelyard.runs.run import Run
from tests.running import Done, steelyard
from tests.upstreams import FaultUpstream
from tests.waiting import until

SUFFIX = "\n\nPlease reason step by step, and put your final answer within \\boxed{}."


def ask_for(folder: Path, count: int, *, bad: int = 0) -> Path:
    """Questions; the first `bad` of them hold the word BAD."""
    path = folder / "questions.jsonl"
    rows = [{"question": f"q{i}", "prompt": f"{i} + 1?{' BAD' * (i < bad)}", "gold": str(i % 5)} for i in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def generate(upstream: FaultUpstream, folder: Path, model: str, *words: object, count: int = 3, bad: int = 0) -> Done:
    questions = ask_for(folder, count, bad=bad)
    return steelyard("generate", questions, "--upstream", upstream.url, "--model", model, "-o", folder / "run", *words)


def failures(folder: Path) -> dict[Any, str]:
    with Run.open(folder / "run") as run:
        return run.state.samples.failed


def samples(folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    with Run.open(folder / "run") as run:
        return {(record["question"], record["sample"]): record for record in run.samples()}


def wait_for_samples(run: Path, count: int) -> None:
    journal = run / "journal.jsonl"
    until(lambda: journal.exists() and journal.read_bytes().count(b'"kind":"sample"') >= count)
