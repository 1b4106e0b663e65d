"""A small finished run, as `generate` leaves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run


def small_run(folder: Path, *, questions: int = 4, samples: int = 8, **changes: Any) -> Path:
    """Make a run; `changes` go into every sample."""
    ids = [f"q{i}" for i in range(questions)]
    prompts, gold = ([text.format(i, i + 1) for i in range(questions)] for text in ("What is {} + 1?", "{1}"))
    table = pl.DataFrame({"question": ids, "prompt": prompts, "gold": gold})
    records = [
        {
            "kind": "sample",
            "question": name,
            "sample": j,
            "response": f"We add the {j}.\n\nThe answer is \\boxed{{{i + 1 + j % 2}}}.",
            "finish": "stop",
            "tokens": 9,
            "logprob": -0.1 * (1 + j),
            "seed": j,
            "attempts": 1,
            "model": "m",
            **changes,
        }
        for i, name in enumerate(ids)
        for j in range(samples)
    ]
    with Run.start(folder, Manifest("0" * 64, "m", samples), table) as run:
        run.add_now(records)
    return folder
