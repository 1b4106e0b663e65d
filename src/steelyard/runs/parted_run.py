"""A run in parts: a folder of ordinary runs, one per part of the questions, that many workers fill in parallel.

RUN/scores has one folder per score column with its settings, created once. Every part also stores its own settings;
these keep another model or split out of parts without scores.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl

from steelyard.foundation.arguments import choose_another
from steelyard.foundation.errors import RunError
from steelyard.foundation.files import make_folder, reason, write_atomically
from steelyard.runs.lock import check_no_others
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.manifest import Manifest
from steelyard.runs.parameters import merge_sources
from steelyard.runs.parts import FILE, Parts, is_parted_run, part_name
from steelyard.runs.seal import sealed, write_sealed_table

QUESTIONS = "questions.parquet"
KIND = "runs"
GROUP = 4096  # questions per row group, read at a time to find those of a part
SCORES, SETTINGS = "scores", "settings.json"


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
        """Create a run in parts, or resume one with the same settings; `questions` also have a `part` and a `place`."""
        make_folder(folder)
        existing = cls.read(folder) if is_parted_run(folder) else None
        if existing is None:
            check_no_others(folder, {QUESTIONS, "questions.json"})
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
            write_sealed_table(folder / QUESTIONS, table, {}, row_group_size=GROUP, statistics=True)
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
    def nonempty_parts(self) -> list[RunPart]:
        """The parts that have questions."""
        return [part for part in self.parts if part.questions]

    def _write(self) -> None:
        counts = {"questions": [part.questions for part in self.parts], "sha256": [part.sha256 for part in self.parts]}
        Parts(KIND, len(self.parts), made={"run": self.manifest.content, **counts}).write(self.folder)


def stored_settings(run: Path, column: str) -> dict[str, Any] | None:
    """Return the settings of a score column, or None if it has none."""
    path = _folder(run, column) / SETTINGS
    try:
        settings = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        fix = "restore it, or name another column with --as"
        raise RunError(f"{path} cannot be read ({reason(error)}): {fix}") from None
    return settings if isinstance(settings, dict) else {}


def fix_settings(run: Path, column: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Store the settings of a score column unless they exist; return the stored ones."""
    folder = _folder(run, column)
    stored = stored_settings(run, column)
    if stored is not None:
        return stored
    draft = make_folder(folder.with_name(f".{folder.name}.{uuid4().hex}"))
    try:
        write_atomically(draft / SETTINGS, json.dumps(dict(settings)).encode(), durable=True)
        draft.rename(folder)  # fails if another worker was first
    except OSError as error:
        stored = stored_settings(run, column)
        if stored is None:
            raise RunError(f"cannot write {folder}: {reason(error)}; make the run folder writable") from None
        return stored
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return dict(settings)


def _folder(run: Path, column: str) -> Path:
    return run / SCORES / hashlib.sha256(column.encode()).hexdigest()[:16]
