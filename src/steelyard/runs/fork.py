"""A run beside another one, for a command with other settings; what is still worth something is taken along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import RunError
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run

MANY = 1000  # records a commit


def fork(source: Path, folder: Path, manifest: Manifest, questions: pl.DataFrame) -> Run:
    """Start a run in `folder` with the samples and scores of `source` that belong to it as well.

    These are the ones of questions that have the same id and prompt, if nothing but the questions or n has changed:
    samples of another model, prompt, seed or other parameters are other samples, and then the run begins empty.
    """
    if folder.resolve() == source.resolve():
        raise RunError(f"{folder} cannot be forked into itself: name another folder with --fork")
    with Run.open(source) as old:
        same = replace(manifest, questions_sha256=old.manifest.questions_sha256, n=max(manifest.n, old.manifest.n))
        run = Run.start(folder, manifest, questions)
        if not old.manifest.changes(same):
            batch: list[dict[str, Any]] = []
            for record in _shared(old, run):
                batch.append(record)
                if len(batch) == MANY:
                    run.add_now(batch)
                    batch = []
            run.add_now(batch)
    return run


def _shared(old: Run, run: Run) -> Iterator[dict[str, Any]]:
    kept = set(old.questions.join(run.questions, on=["question", "prompt"], how="inner")["question"])
    for record in old.records():
        if (
            record.get("kind") in ("sample", "score")
            and record["question"] in kept
            and record["sample"] < run.manifest.n
        ):
            score, key = record.get("verifier"), (record["question"], record["sample"])
            if key not in (run.state.scores[score] if score else run.state.samples).done:
                yield record
