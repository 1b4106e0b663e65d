"""`sy.generate`: sample an LLM into a run, from this process, or into a run in parts, by many workers.

Each part is an ordinary run, under a temporary name until it is finished.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from steelyard.engine.engines import Engine, engine_of
from steelyard.engine.run_jobs import holds_of, read_workers, run_parts, unfinished
from steelyard.engine.run_progress import PartDone, ProgressWriter, RunProgress
from steelyard.engine.with_engine import with_engine
from steelyard.engine.worker_messages import captured_warnings
from steelyard.foundation.errors import RunError, SettingError
from steelyard.runs.part_folders import finish, folder_of, locked_part
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.parts import check_parts, is_parted_run, part_of
from steelyard.runs.run import Run
from steelyard.sampling.generate.generate_order import GenerateOptions, GenerateOrder, read_order
from steelyard.sampling.generate.generate_run import fill
from steelyard.sampling.generate.generate_run import generate as generate_alone
from steelyard.sampling.llm.upstreams import served
from steelyard.sampling.progress import Progress
from steelyard.tables.question_files import fingerprint

PER_WORKER = 4  # parts: a worker that finishes early takes another
_abilities: list[dict[str, Any]] = []  # notes on the servers that this process has probed, for the parts that follow


@dataclass(frozen=True)
class GeneratePartsOrder:
    """The request for the parts of a run, and its folder."""

    folder: Path
    options: GenerateOrder


@with_engine(generate_alone)
def generate(
    questions: str | Path,
    run: str | Path,
    *,
    engine: Engine,
    parts: int | None = None,
    workers: str | int | None = None,
    fork: str | Path | None = None,
    **options: Any,
) -> Progress:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) many workers ask, `workers` at once ("2:8").

    `run` becomes a run in `parts` parts, each of which one worker fills; by default 4 per worker. Every worker asks
    for `concurrency` samples at once. `fork` and `serve` are for one process; so is `agenerate`.
    """
    if fork is not None or options.pop("serve", None) is not None:
        raise SettingError("fork= and serve= cannot be combined with engine=: leave out one or the other")
    return generate_parts(questions, run, engine=engine, parts=parts, workers=workers, **options)


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
    chosen_engine, worker_range = engine_of(engine), read_workers(workers)
    if parts is not None:
        check_parts(parts)
    order, table = read_order(questions, **options)
    folder = folder_of(run)
    if parts is None:
        parts = len(PartedRun.read(folder).parts) if is_parted_run(folder) else PER_WORKER * (worker_range[1] or 2)
    placed = with_parts(table, parts)
    started = PartedRun.start(folder, order.manifest, placed, parts_of(placed, parts))
    order = replace(order, manifest=started.manifest)
    per_question = order.manifest.n * max(1, len(order.manifest.sources))
    status = RunProgress(folder, table.height * per_question, len(started.nonempty_parts), "samples", progress)
    parts_order = GeneratePartsOrder(folder.resolve(), order)
    left = []
    for part in started.nonempty_parts:
        samples = holds_of(started, part).get("samples", 0)
        if samples < part.questions * per_question:
            left.append(part)
        else:
            status.finished[part.name] = PartDone(samples, samples, 0, 0, 0)
    failed = run_parts(chosen_engine, generate_part, parts_order, started, left, status, workers=worker_range)
    if failed:
        raise unfinished(started, failed, len(started.nonempty_parts), stopped=status.stopped)
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


def generate_part(order: GeneratePartsOrder, part: RunPart) -> PartDone:
    """Request every missing sample of a part, and give it its final name when it is complete."""
    run = PartedRun.read(order.folder)
    with (
        captured_warnings() as warnings,
        locked_part(run, part) as folder,
        ProgressWriter(order.folder, part.name) as writer,
    ):
        questions = run.questions(part).drop("place")
        if fingerprint(questions) != part.sha256:
            raise RunError(f"{order.folder} has lost questions of {part.name}: use its original questions")
        opened = Run.start(folder, replace(order.options.manifest, questions_sha256=part.sha256), questions)
        if next(opened.missing(), None) is not None:  # known servers are not probed again for every part
            opened.add_now([note for note in _abilities if note not in opened.state.notes])

        def watch(progress: Progress) -> None:
            writer.progress.done, writer.progress.failed = progress.done, progress.failed
            writer.progress.tokens = progress.tokens
            writer.write()

        try:
            made = asyncio.run(fill(opened, order.options, watch, served))
        finally:
            notes = [note for note in opened.state.notes if note.get("note") == "abilities"]
            _abilities.extend(note for note in notes if note not in _abilities)
        finish(run, part)
    counts = (made.requested, made.held, made.done, made.failed, made.tokens)
    return PartDone(*counts, made.reasons, warnings=warnings, spent=made.spent)
