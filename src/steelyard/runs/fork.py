"""Fork a run for a command with other settings, reusing the samples and scores that are still valid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import RunError
from steelyard.runs.manifest import Manifest
from steelyard.runs.parameters import number_of
from steelyard.runs.run import Run


def fork(source: Path, folder: Path, manifest: Manifest, questions: pl.DataFrame) -> Run:
    """Start a run in `folder` with the samples and scores of `source` that are valid for it.

    These belong to questions with the same id and prompt, provided that only the questions or n have changed. With
    another model, prompt, seed or other parameters the new run starts empty.
    """
    if folder.resolve() == source.resolve():
        raise RunError(f"{folder} cannot be forked into itself: name another folder with --fork")
    with Run.open(source) as old:
        same = replace(manifest, questions_sha256=old.manifest.questions_sha256, n=max(manifest.n, old.manifest.n))
        run = Run.start(folder, manifest, questions)
        if not old.manifest.changes(same):
            run.add_all(_shared(old, run))
    return run


def _shared(old: Run, run: Run) -> Iterator[dict[str, Any]]:
    questions = set(old.questions.join(run.questions, on=["question", "prompt"], how="inner")["question"])
    numbers = _numbers(old, run)
    for record in old.records():
        if (
            record.get("kind") in ("sample", "score")
            and record["question"] in questions
            and (number := numbers.get(record["sample"])) is not None
        ):
            score, key = record.get("verifier"), (record["question"], number)
            if key not in (run.state.scores[score] if score else run.state.samples).done:
                yield {**record, "sample": number}


def _numbers(old: Run, run: Run) -> dict[int, int]:
    """Map the sample numbers of the old run to those of the new one; sources are matched by name."""
    sources = list(run.manifest.sources)
    if not sources:
        return {i: i for i in range(run.manifest.n)}
    shared = [(k, sources.index(name)) for k, name in enumerate(old.manifest.sources) if name in sources]
    return {number_of(i, k): number_of(i, new) for i in range(run.manifest.n) for k, new in shared}
