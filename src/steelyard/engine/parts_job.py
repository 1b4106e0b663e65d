"""A folder of parts -> another one, part by part: each is done by one worker, sealed, and never done twice.

The order is the digest of every setting, of the plan, of the parts that are read and of the version. The same order
goes on where it was stopped; another one is refused (steelyard/engine/parts_folder.py). summary.json comes last.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.failures import failure_summary
from steelyard.engine.parts_folder import finish, held, seals_of, wanted_parts
from steelyard.engine.parts_read import PartRead, PartsRead
from steelyard.engine.scheduler import Failed
from steelyard.foundation.drafts import put_bytes
from steelyard.foundation.errors import RunError, SettingError
from steelyard.foundation.store_address import Place, place_of
from steelyard.runs.parts import Parts
from steelyard.runs.seal import sealed, write_sealed
from steelyard.tables.layouts.long import Long
from steelyard.tables.writing import KEY, kind_of

SUMMARY = "summary.json"


@dataclass(frozen=True)
class TablePart:
    """A part that is read, and where what is made of it goes."""

    read: PartRead
    target: str
    order: str

    @property
    def name(self) -> str:
        """How it is reported."""
        return self.read.name

    @property
    def path(self) -> str:
        """Where it is read from."""
        return self.read.path


@dataclass(frozen=True)
class PartsJob:
    """What is to be made: `kind` is what the parts will hold, `settings` all that decides what is in them."""

    read: PartsRead
    target: Place
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
        rows = sum(part.rows for part in self.read.parts)
        wanted = self._wanted()
        with held(self.target, wanted):
            into = self.target.absolute()
            parts = [TablePart(part, str(into / f"{part.name}.parquet"), wanted.order) for part in self.read.parts]
            paths = [place_of(part.target) for part in parts]
            done = 0
            left: list[TablePart] = []
            for part, seal in zip(parts, seals_of(paths, sealed), strict=True):
                if seal is None or seal.get("order") != wanted.order:
                    left.append(part)
                else:
                    done += part.read.rows
                    yield seal["summary"]
            failed: list[Failed[TablePart]] = []
            for each in engine.run(task, order, left, workers=workers, reads=self.reads) if left else ():
                done += each.part.read.rows
                if progress:
                    progress(done / max(1, rows))
                if isinstance(each, Failed):
                    failed.append(each)
                else:
                    yield each.summary
            if failed:
                raise RunError(failure_summary(failed, len(parts)))
            finish(self.target, wanted, paths)

    def _wanted(self) -> Parts:
        """What parts.json of the new folder says while it is made."""
        made = {"from": str(self.read.source), **self.settings}
        decides = {"settings": self.settings, "reads": sorted(self.reads.values()), "from": self.read.digest}
        return wanted_parts(self.kind, len(self.read.parts), made, decides)

    def summarise(self, summary: Mapping[str, Any]) -> None:
        """Write summary.json, the last thing of all."""
        put_bytes(self.target / SUMMARY, (json.dumps(summary, indent=2) + "\n").encode(), follow=True)


def check_cut(source: Place, settings: Mapping[str, Any]) -> None:
    """Refuse what would make other questions of the rows: those of one would then be in several parts."""
    rename = settings.get("rename") or {}
    again = f"cut its rows again with 'steelyard partition {source} -o FOLDER', which takes these options too"
    if "question" in {*rename, *rename.values()}:
        raise SettingError(f"--rename cannot change 'question', by which {source} is cut into parts: {again}")
    if settings.get("layout", Long.name) != Long.name:
        raise SettingError(
            f"--layout {settings['layout']} is for files, and {source} has one row per response: {again}"
        )


def seal_part(part: TablePart, table: pl.DataFrame, summary: Mapping[str, Any]) -> None:
    """Write what was made of a part, sealed."""

    def write(path: Path) -> int:
        table.write_parquet(path, metadata={KEY: kind_of(table.columns)})
        return table.height

    made_from = {"order": part.order, "summary": summary}
    write_sealed(place_of(part.target), write, made_from, safe="what is sealed is safe")
