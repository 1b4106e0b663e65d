"""A run in parts that holds what a run without parts holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from steelyard.engine.generate import parts_of, with_parts
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.run import Run


def in_parts(plain: Path, folder: Path, parts: int) -> Path:
    """Write the questions and records of a run as a run in parts; notes go into every part that has questions."""
    with Run.open(plain) as opened:
        records, manifest = [*opened.records()], opened.manifest
        placed = with_parts(opened.questions, parts)
    run = PartedRun.start(folder, manifest, placed, parts_of(placed, parts))
    for part in run.nonempty_parts:
        mine = run.questions(part).drop("place")
        theirs = {*mine["question"], None}
        with Run.start(folder / part.name, replace(manifest, questions_sha256=part.sha256), mine) as made:
            made.add_now([record for record in records if record.get("question") in theirs])
            made.write_table()
    return folder
