"""One part of a run is sampled by a worker: an ordinary run, under its working name until it is finished."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from steelyard.engine.part_progress import ProgressWriter
from steelyard.engine.part_warnings import caught
from steelyard.engine.run_progress import PartDone
from steelyard.foundation.errors import RunError
from steelyard.runs.part_folders import finish, locked_part
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.run import Run
from steelyard.sampling.generate.generate_order import GenerateOrder
from steelyard.sampling.generate.generate_run import fill
from steelyard.sampling.llm.upstreams import served
from steelyard.sampling.progress import Progress
from steelyard.tables.question_files import fingerprint

_found: list[dict[str, Any]] = []  # what this process has found out about the servers, for the parts that follow


@dataclass(frozen=True)
class PartsOrder:
    """What the parts of a run are asked for, and where it lies."""

    folder: Path
    asked: GenerateOrder


def generate_part(order: PartsOrder, part: RunPart) -> PartDone:
    """Ask for every sample that a part misses, and give it its name when all are there."""
    run = PartedRun.read(order.folder)
    with caught() as said, locked_part(run, part) as folder, ProgressWriter(order.folder, part.name) as writer:
        questions = run.questions(part).drop("place")
        if fingerprint(questions) != part.sha256:
            raise RunError(f"{order.folder} has lost questions of {part.name}: give it the questions of its first time")
        opened = Run.start(folder, replace(order.asked.manifest, questions_sha256=part.sha256), questions)
        _tell_abilities(opened)

        def watch(progress: Progress) -> None:
            writer.progress.done, writer.progress.failed = progress.done, progress.failed
            writer.progress.tokens = progress.tokens
            writer.write()

        try:
            made = asyncio.run(fill(opened, order.asked, watch, served))
        finally:
            _keep_abilities(opened)
        finish(run, part)
    counts = (made.wanted, made.held, made.done, made.failed, made.tokens)
    return PartDone(*counts, made.reasons, said=said, spent=made.spent)


def _tell_abilities(run: Run) -> None:
    """Write down what is known of the servers, so that they are not asked anew for every part."""
    if next(run.missing(), None) is not None:
        run.add_now([note for note in _found if note not in run.state.notes])


def _keep_abilities(run: Run) -> None:
    _found.extend(note for note in run.state.notes if note.get("note") == "abilities" and note not in _found)
