"""A folder of parts -> another one, part by part: each is done by one worker, sealed, and never done twice.

The folder that is made says in parts.json what it is made of: `made` holds every setting, and the digest of these, of
the plan, of the parts that are read and of the version is the `order`. The same order goes on where it was stopped;
another one is refused. summary.json comes last.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.giving_out import Failed
from steelyard.errors import RunError, SettingError
from steelyard.files import make_folder, remove_leftovers, write_atomically
from steelyard.runs.lock import RunLock
from steelyard.runs.manifest import sha256_of
from steelyard.runs.parts import FILE, Parts, is_parted, part_tables
from steelyard.runs.seal import read_seal, sealed, write_sealed
from steelyard.tables.known_outputs import KEY, kind_of
from steelyard.version import __version__

SUMMARY = "summary.json"
NAMED = 5  # failures that are told in full


@dataclass(frozen=True)
class TablePart:
    """A part that is read, and where what is made of it goes."""

    name: str
    path: str
    rows: int
    target: str
    order: str


@dataclass(frozen=True)
class PartsJob:
    """What is to be made: `kind` is what the parts will hold, `settings` all that decides what is in them."""

    source: Path
    target: Path
    kind: str
    settings: Mapping[str, Any]
    reads: Mapping[str, str]  # files by their SHA-256, which every worker must find the same

    def run(
        self,
        engine: Engine,
        task: Callable[[Any, TablePart], Any],
        order: Any,
        *,
        workers: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the summary of every part, at once of those that are there already; at the end all of them are."""
        found, paths = part_tables(self.source)
        wanted = self._wanted(found)
        with self._folder(wanted):
            into = self.target.absolute()
            parts = [
                TablePart(path.stem, str(path.absolute()), rows, str(into / path.name), wanted.order)
                for path, rows in zip(paths, found.rows, strict=True)
            ]
            done = 0
            left: list[TablePart] = []
            for part in parts:
                seal = sealed(Path(part.target))
                if seal is None or seal.get("order") != wanted.order:
                    left.append(part)
                else:
                    done += part.rows
                    yield seal["summary"]
            failed: list[Failed[TablePart]] = []
            for each in engine.run(task, order, left, workers=workers, reads=self.reads) if left else ():
                done += each.part.rows
                if progress:
                    progress(done / max(1, sum(found.rows)))
                if isinstance(each, Failed):
                    failed.append(each)
                else:
                    yield each.summary
            if failed:
                raise RunError(_told(failed, len(parts)))
            self._finish(wanted, parts)

    def _wanted(self, found: Parts) -> Parts:
        """What parts.json of the new folder says while it is made."""
        made = {"from": str(self.source), **self.settings}
        decides = {"kind": self.kind, "settings": self.settings, "reads": sorted(self.reads.values())}
        decides |= {"parts": sha256_of(self.source / FILE), "steelyard": __version__}
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
        return Parts(self.kind, found.parts, order=digest, made=made)

    @contextmanager
    def _folder(self, wanted: Parts) -> Iterator[None]:
        """Hold the new folder, if it may be written to."""
        if self.target.exists() and not is_parted(self.target) and any(self.target.iterdir()):
            raise SettingError(f"cannot write to {self.target}: it is there already; choose another folder with -o")
        if is_parted(self.target):
            before = Parts.read(self.target)
            if before.order != wanted.order:
                raise SettingError(
                    f"{self.target} holds {before.kind} of another command ({_difference(before, wanted)}): "
                    "choose another folder with -o"
                )
        make_folder(self.target)
        lock = RunLock(self.target)
        try:
            if not is_parted(self.target):
                wanted.write(self.target)
            yield
        finally:
            lock.release()

    def _finish(self, wanted: Parts, parts: list[TablePart]) -> None:
        seals = [read_seal(Path(part.target)) or {} for part in parts]
        columns = {name: str(kind) for name, kind in pl.read_parquet_schema(parts[0].target).items()}
        rows, sizes = [seal["rows"] for seal in seals], [seal["bytes"] for seal in seals]
        remove_leftovers(self.target)
        replace(wanted, columns=columns, rows=rows, bytes=sizes, finished=True).write(self.target)

    def summarise(self, summary: Mapping[str, Any]) -> None:
        """Write summary.json, the last thing of all."""
        write_atomically(self.target / SUMMARY, (json.dumps(summary, indent=2) + "\n").encode(), durable=True)


def seal_part(part: TablePart, table: pl.DataFrame, summary: Mapping[str, Any]) -> None:
    """Write what was made of a part, sealed."""

    def write(path: Path) -> int:
        table.write_parquet(path, metadata={KEY: kind_of(table.columns)})
        return table.height

    made_from = {"order": part.order, "summary": summary}
    write_sealed(Path(part.target), write, made_from, safe="what is sealed is safe")


def _told(failed: list[Failed[TablePart]], parts: int) -> str:
    listed = "; ".join(f"{each.part.name}: {each.reason}" for each in failed[:NAMED])
    more = f"; and {len(failed) - NAMED} more" if len(failed) > NAMED else ""
    return (
        f"{len(failed):,} of {parts:,} parts failed ({listed}{more}); the others are done and kept: mend these, and "
        "run the same command again"
    )


def _difference(before: Parts, wanted: Parts) -> str:
    """What another order has otherwise, in a few words."""
    names = [name for name in before.made | wanted.made if before.made.get(name) != wanted.made.get(name)]
    told = [f"{name} was {before.made.get(name)!r:.60}, now {wanted.made.get(name)!r:.60}" for name in names]
    return "; ".join(told[:3]) or "the plan, the parts or the version of Steelyard have changed"
