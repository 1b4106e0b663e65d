"""A run in parts: a folder of ordinary runs, one per part of the questions, so that many workers fill it at once.

parts.json           what the run is, as in manifest.json, and how many questions each part has
questions.parquet    question, prompt, gold, domain, with the part of each and its place among all questions
part-00000.working   a part that is being sampled for the first time: an ordinary run
part-00000           a part that was sampled to its end; it is scored here, and gets more samples here
locks/part-00000     who works on a part now
progress.log         where the work stood, a line now and then
table.parquet        all finished parts as one long table, derived when it is read; table.json says from what

A part without questions has no folder.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import RunError
from steelyard.files import make_folder, write_atomically
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.manifest import Manifest
from steelyard.runs.run_sources import joined
from steelyard.runs.seal import sealed, write_sealed

FILE = "parts.json"
FORMAT = "steelyard-parted-run"
QUESTIONS = "questions.parquet"
GROUP = 4096  # questions that are read at a time to find those of a part
MOST_PARTS = 100_000


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
        path = folder / FILE
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r}, not {FORMAT!r}")
            parts = tuple(RunPart(i, int(each[0]), str(each[1])) for i, each in enumerate(content["parts"]))
            return cls(folder, Manifest.of(content["run"], folder), parts)
        except FileNotFoundError:
            raise RunError(f"{folder} is no run in parts: it has no {FILE}; every machine must see the folder") from None
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
            raise RunError(f"{path} is damaged ({error}): restore it, or start another run") from None

    @classmethod
    def start(cls, folder: Path, manifest: Manifest, questions: pl.DataFrame, parts: tuple[RunPart, ...]) -> PartedRun:
        """Make a run in parts, or go on with the one that is there if it is the same; otherwise say what differs.

        `questions` has the columns `part` and `place` as well.
        """
        make_folder(folder)
        there = cls.read(folder) if is_parted(folder) else None
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

    @property
    def wanted(self) -> list[RunPart]:
        """The parts that have questions."""
        return [part for part in self.parts if part.questions]

    def _write(self) -> None:
        content: dict[str, Any] = {"format": FORMAT, "version": 1, "run": self.manifest.content}
        content["parts"] = [[part.questions, part.sha256] for part in self.parts]
        write_atomically(self.folder / FILE, (json.dumps(content) + "\n").encode(), durable=True, follow=False)


def part_name(number: int) -> str:
    """The name of a part.

    >>> part_name(3)
    'part-00003'
    """
    return f"part-{number:05d}"


def is_parted(folder: Path) -> bool:
    """Whether a folder is a run in parts."""
    try:
        with (folder / FILE).open("rb") as file:
            return FORMAT.encode() in file.read(100)
    except OSError:
        return False


def _write(table: pl.DataFrame, path: Path) -> int:
    table.write_parquet(path, row_group_size=GROUP, statistics=True)
    return table.height


def _check_empty(folder: Path) -> None:
    """A new run needs a folder of its own; what a killed start left behind does no harm."""
    ours = {QUESTIONS, "questions.json"}
    strange = sorted(each.name for each in folder.iterdir() if each.name not in ours and not each.name.startswith("."))
    if strange:
        raise RunError(f"{folder} holds other files ({strange[0]}, ..): give the run a new folder with -o")
