"""From questions to a run in parts, sampled by many workers: `steelyard generate --engine`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import polars as pl

from steelyard.engine.engines import Engine, engine_of
from steelyard.engine.generate_part import PartsOrder, generate_part
from steelyard.engine.over_parts import holds_of, over_parts, read_workers, unfinished
from steelyard.engine.run_progress import PartDone, RunProgress
from steelyard.runs.part_folders import folder_of
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.parts import check_parts, is_parted_run, part_of
from steelyard.sampling.generate.generate_order import GenerateOptions, read_order
from steelyard.sampling.progress import Progress
from steelyard.tables.question_files import fingerprint

PER_WORKER = 4  # parts: a worker that is done early takes another


def generate_parts(
    questions: str | Path,
    run: str | Path,
    *,
    engine: str | Engine,
    parts: int | None = None,
    workers: str | int | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    **options: Unpack[GenerateOptions],
) -> Progress:
    """Sample every question into a run in parts; the same call again goes on where it was stopped.

    The samples are those of `generate` with the same options. `parts` is the number of parts the questions are cut
    into, by default 4 per worker; a part that cannot be done is named in the RunError at the end, and the others are
    finished.
    """
    chosen, many = engine_of(engine), read_workers(workers)
    if parts is not None:
        check_parts(parts)
    asked, table = read_order(questions, **options)
    folder = folder_of(run)
    if parts is None:
        parts = len(PartedRun.read(folder).parts) if is_parted_run(folder) else PER_WORKER * (many[1] or 2)
    placed = with_parts(table, parts)
    started = PartedRun.start(folder, asked.manifest, placed, parts_of(placed, parts))
    asked = replace(asked, manifest=started.manifest)
    each = asked.manifest.n * max(1, len(asked.manifest.sources))
    status = RunProgress(folder, table.height * each, len(started.wanted), "samples", progress)
    order = PartsOrder(folder.resolve(), asked)
    left = []
    for part in started.wanted:
        held = holds_of(started, part).get("samples", 0)
        if held < part.questions * each:
            left.append(part)
        else:
            status.finished[part.name] = PartDone(held, held, 0, 0, 0)
    failed = over_parts(chosen, generate_part, order, started, left, status, workers=many)
    if failed:
        raise unfinished(started, failed, len(started.wanted), stopped=status.stopped)
    return status.total


def with_parts(table: pl.DataFrame, parts: int) -> pl.DataFrame:
    """The questions with the part of each, and its place among all."""
    numbers = pl.Series("part", [part_of(question, parts) for question in table["question"]], pl.Int32)
    return table.with_columns(numbers).with_row_index("place")


def parts_of(placed: pl.DataFrame, parts: int) -> tuple[RunPart, ...]:
    """How many questions each part has, and their fingerprint."""
    of = {int(number): some for (number,), some in placed.partition_by("part", as_dict=True).items()}
    return tuple(
        RunPart(i, of[i].height, fingerprint(of[i].drop("part", "place"))) if i in of else RunPart(i, 0, "")
        for i in range(parts)
    )
