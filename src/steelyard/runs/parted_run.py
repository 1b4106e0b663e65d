"""A run in parts: a folder of ordinary runs, one per part of the questions, that many workers fill in parallel.

parts.json           the configuration of the run, as in manifest.json, and the number of questions per part
questions.parquet    question, prompt, gold, domain, with the part and the position of each question
part-00000.working   a part that is being sampled for the first time: an ordinary run
part-00000           a part whose samples are complete; scores and further samples are added here
locks/part-00000     the worker that holds a part
scores/              the settings of each score column
progress.log         the progress over time, one line per report
table.parquet        all finished parts as one long table, derived on reading; table.json records its inputs

A part without questions has no folder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from steelyard.foundation.arguments import choose_another
from steelyard.foundation.errors import RunError
from steelyard.foundation.files import make_folder
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.manifest import Manifest
from steelyard.runs.parts import FILE, Parts, is_parted_run, part_name
from steelyard.runs.run_sources import merge_sources
from steelyard.runs.seal import sealed, write_sealed

QUESTIONS = "questions.parquet"
KIND = "runs"
GROUP = 4096  # questions per row group, read at a time to find those of a part


@dataclass(frozen=True)
class RunPart:
    """One part of a run: its number, the number of its questions, and their digest."""

    number: int
    questions: int
    sha256: str

    @property
    def name(self) -> str:
        """The name of its folder, also used in reports."""
        return part_name(self.number)


@dataclass(frozen=True)
class PartedRun:
    """A run in parts; `manifest` covers all questions."""

    folder: Path
    manifest: Manifest
    parts: tuple[RunPart, ...]

    @classmethod
    def read(cls, folder: Path) -> PartedRun:
        """Read parts.json, or raise a RunError that says why the folder is not a run in parts."""
        stored = Parts.read(folder)
        try:
            if stored.kind != KIND:
                raise ValueError(f"its parts are {stored.kind!r:.40}, not {KIND!r}")
            counts = zip(stored.made["questions"], stored.made["sha256"], strict=True)
            parts = tuple(RunPart(i, int(count), str(digest)) for i, (count, digest) in enumerate(counts))
            if len(parts) != stored.parts:
                raise ValueError(f"it has {len(parts)} of {stored.parts} parts")
            return cls(folder, Manifest.of(stored.made["run"], folder), parts)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError(f"{folder / FILE} is damaged ({error}): restore it, or start another run") from None

    @classmethod
    def start(cls, folder: Path, manifest: Manifest, questions: pl.DataFrame, parts: tuple[RunPart, ...]) -> PartedRun:
        """Create a run in parts, or resume an existing one with the same settings; else raise what differs.

        `questions` has the columns `part` and `place` as well.
        """
        make_folder(folder)
        existing = cls.read(folder) if is_parted_run(folder) else None
        if existing is None:
            _check_empty(folder)
        else:
            changes = existing.manifest.changes(manifest)
            if len(existing.parts) != len(parts):
                changes.append(f"--parts was {len(existing.parts)}, now {len(parts)}")
            if changes:
                raise RunError(
                    f"{folder} was made with other settings ({'; '.join(changes)}): repeat the command with those, or "
                    f"{choose_another('folder')}"
                )
            sources = merge_sources(existing.manifest.sources, manifest.sources)
            manifest = replace(existing.manifest, n=manifest.n, answers=manifest.answers, sources=sources)
        if sealed(folder / QUESTIONS) is None:
            table = questions.sort("part", "place")
            write_sealed(folder / QUESTIONS, lambda path: _write(table, path), {})
        run = cls(folder, manifest, parts)
        if run != existing:
            run._write()
        make_folder(folder / "locks")
        return run

    def questions(self, part: RunPart) -> pl.DataFrame:
        """Return the questions of a part in order, with the `place` of each among all questions."""
        path = self.folder / QUESTIONS
        try:
            rows = pl.scan_parquet(path, glob=False).filter(pl.col("part") == part.number).drop("part").collect()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise RunError(f"{path} cannot be read ({error}): run the 'steelyard generate' command again") from None
        return rows.sort("place")

    def finished(self) -> list[RunPart]:
        """Return the parts whose samples are complete, without those that have no questions."""
        return [part for part in self.parts if part.questions and (self.folder / part.name / MANIFEST).is_file()]

    def check(self, part: RunPart) -> None:
        """Refuse a part that belongs to another run."""
        expected = replace(self.manifest, questions_sha256=part.sha256)
        if changes := Manifest.read(self.folder / part.name).changes(expected):
            raise RunError(
                f"{self.folder / part.name} is a part of another run ({'; '.join(changes)}): restore the part of "
                "this run, or remove it and run the 'steelyard generate' command of this run again"
            )

    @property
    def wanted(self) -> list[RunPart]:
        """The parts that have questions."""
        return [part for part in self.parts if part.questions]

    def _write(self) -> None:
        counts = {"questions": [part.questions for part in self.parts], "sha256": [part.sha256 for part in self.parts]}
        Parts(KIND, len(self.parts), made={"run": self.manifest.content, **counts}).write(self.folder)


def _write(table: pl.DataFrame, path: Path) -> int:
    table.write_parquet(path, row_group_size=GROUP, statistics=True)
    return table.height


def _check_empty(folder: Path) -> None:
    """Refuse a folder with other files; leftovers of a killed process are fine."""
    ours = {QUESTIONS, "questions.json"}
    other = sorted(path.name for path in folder.iterdir() if path.name not in ours and not path.name.startswith("."))
    if other:
        raise RunError(f"{folder} contains other files ({other[0]}, ..): {choose_another('folder')}")
