"""A run in parts: a folder of ordinary runs, one per part of the questions, so that many workers fill it at once.

parts.json           what the run is, as in manifest.json, and how many questions each part has
questions.parquet    question, prompt, gold, domain, with the part of each and its place among all questions
part-00000.working   a part that is being sampled for the first time: an ordinary run
part-00000           a part that was sampled to its end; it is scored here, and gets more samples here
locks/part-00000     who works on a part now
scores/              with what the scores of each column are made
progress.log         where the work stood, a line now and then
table.parquet        all finished parts as one long table, derived when it is read; table.json says from what

A part without questions has no folder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from steelyard.foundation.errors import RunError
from steelyard.foundation.files import make_folder
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.manifest import Manifest
from steelyard.runs.parts import FILE, Parts, is_parted_run, part_name
from steelyard.runs.run_sources import joined
from steelyard.runs.seal import sealed, write_sealed

QUESTIONS = "questions.parquet"
KIND = "runs"
GROUP = 4096  # questions that are read at a time to find those of a part


@dataclass(frozen=True)
class RunPart:
    """One part of a run: its number, how many questions it has, and their fingerprint."""

    number: int
    questions: int
    sha256: str

    @property
    def name(self) -> str:
        """How it is reported, and the name of its folder."""
        return part_name(self.number)


@dataclass(frozen=True)
class PartedRun:
    """What a run in parts is; `manifest` is that of all questions."""

    folder: Path
    manifest: Manifest
    parts: tuple[RunPart, ...]

    @classmethod
    def read(cls, folder: Path) -> PartedRun:
        """Read parts.json, or say in one line why the folder is no run in parts."""
        found = Parts.read(folder)
        try:
            if found.kind != KIND:
                raise ValueError(f"its parts are {found.kind!r:.40}, not {KIND!r}")
            counts = zip(found.made["questions"], found.made["sha256"], strict=True)
            parts = tuple(RunPart(i, int(count), str(digest)) for i, (count, digest) in enumerate(counts))
            if len(parts) != found.parts:
                raise ValueError(f"it has {len(parts)} of {found.parts} parts")
            return cls(folder, Manifest.of(found.made["run"], folder), parts)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError(f"{folder / FILE} is damaged ({error}): restore it, or start another run") from None

    @classmethod
    def start(cls, folder: Path, manifest: Manifest, questions: pl.DataFrame, parts: tuple[RunPart, ...]) -> PartedRun:
        """Make a run in parts, or go on with the one that is there if it is the same; otherwise say what differs.

        `questions` has the columns `part` and `place` as well.
        """
        make_folder(folder)
        there = cls.read(folder) if is_parted_run(folder) else None
        if there is None:
            _check_empty(folder)
        else:
            changes = there.manifest.changes(manifest)
            if len(there.parts) != len(parts):
                changes.append(f"--parts was {len(there.parts)}, now {len(parts)}")
            if changes:
                raise RunError(
                    f"{folder} was made with other settings ({'; '.join(changes)}): repeat the command with those, or "
                    "give it another folder with -o"
                )
            sources = joined(there.manifest.sources, manifest.sources)
            manifest = replace(there.manifest, n=manifest.n, answers=manifest.answers, sources=sources)
        if sealed(folder / QUESTIONS) is None:
            table = questions.sort("part", "place")
            write_sealed(folder / QUESTIONS, lambda path: _write(table, path), {})
        made = cls(folder, manifest, parts)
        if made != there:
            made._write()
        make_folder(folder / "locks")
        return made

    def questions(self, part: RunPart) -> pl.DataFrame:
        """The questions of a part with the `place` of each, in the order of all."""
        path = self.folder / QUESTIONS
        try:
            found = pl.scan_parquet(path, glob=False).filter(pl.col("part") == part.number).drop("part").collect()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise RunError(f"{path} cannot be read ({error}): give the 'steelyard generate' command again") from None
        return found.sort("place")

    def finished(self) -> list[RunPart]:
        """The parts that were sampled to their end; those without questions do not count."""
        return [part for part in self.parts if part.questions and (self.folder / part.name / MANIFEST).is_file()]

    def check(self, part: RunPart) -> None:
        """Refuse a part that was not sampled for this run."""
        wanted = replace(self.manifest, questions_sha256=part.sha256)
        if changes := Manifest.read(self.folder / part.name).changes(wanted):
            raise RunError(
                f"{self.folder / part.name} is a part of another run ({'; '.join(changes)}): put the one of this run "
                "there again, or remove it and give the 'steelyard generate' command of this run again"
            )

    @property
    def wanted(self) -> list[RunPart]:
        """The parts that have questions."""
        return [part for part in self.parts if part.questions]

    def _write(self) -> None:
        made = {"questions": [part.questions for part in self.parts], "sha256": [part.sha256 for part in self.parts]}
        Parts(KIND, len(self.parts), made={"run": self.manifest.content, **made}).write(self.folder)


def _write(table: pl.DataFrame, path: Path) -> int:
    table.write_parquet(path, row_group_size=GROUP, statistics=True)
    return table.height


def _check_empty(folder: Path) -> None:
    """A new run needs a folder of its own; what a killed start left behind does no harm."""
    ours = {QUESTIONS, "questions.json"}
    strange = sorted(each.name for each in folder.iterdir() if each.name not in ours and not each.name.startswith("."))
    if strange:
        raise RunError(f"{folder} holds other files ({strange[0]}, ..): give the run a new folder with -o")
