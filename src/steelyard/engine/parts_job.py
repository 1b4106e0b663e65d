"""A folder of parts -> another one, part by part: each is done by one worker, sealed, and never done twice.

The order is the digest of every setting, of the plan, of the parts that are read and of the version. The same order
goes on where it was stopped; another one is refused (steelyard/engine/parts_folder.py). summary.json comes last.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.giving_out import Failed
from steelyard.engine.parts_folder import finish, held, wanted_parts
from steelyard.errors import RunError, SettingError
from steelyard.files import write_atomically
from steelyard.runs.manifest import sha256_of
from steelyard.runs.parts import FILE, Parts, part_tables
from steelyard.runs.seal import sealed, write_sealed
from steelyard.tables.known_outputs import KEY, kind_of
from steelyard.tables.layouts.long import Long

SUMMARY = "summary.json"
NAMED = 5  # failures that are told in full
SAME = "the others are done and kept: mend these, and run the same command again"


@dataclass(frozen=True)
class TablePart:
    """A part that is read, and where what is made of it goes."""

    name: str
    path: str
    rows: int
    sha256: str
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
        _check_cut(self.source, self.settings)
        wanted = self._wanted(found)
        with held(self.target, wanted):
            into = self.target.absolute()
            parts = [
                TablePart(path.stem, str(path.absolute()), rows, digest, str(into / path.name), wanted.order)
                for path, rows, digest in zip(paths, found.rows, found.sha256, strict=True)
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
                raise RunError(told_failures(failed, len(parts)))
            finish(self.target, wanted, [Path(part.target) for part in parts])

    def _wanted(self, found: Parts) -> Parts:
        """What parts.json of the new folder says while it is made."""
        made = {"from": str(self.source), **self.settings}
        decides = {
            "settings": self.settings,
            "reads": sorted(self.reads.values()),
            "from": sha256_of(self.source / FILE),
        }
        return wanted_parts(self.kind, found.parts, made, decides)

    def summarise(self, summary: Mapping[str, Any]) -> None:
        """Write summary.json, the last thing of all."""
        write_atomically(self.target / SUMMARY, (json.dumps(summary, indent=2) + "\n").encode(), durable=True)


def _check_cut(source: Path, settings: Mapping[str, Any]) -> None:
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
    write_sealed(Path(part.target), write, made_from, safe="what is sealed is safe")


def told_failures(failed: Sequence[Failed[Any]], parts: int, what: str = "parts", fix: str = SAME) -> str:
    """What is said of parts that failed: every reason once, with the first part of which it is said."""
    reasons: dict[str, list[str]] = {}
    for each in failed:
        reason = each.reason.removeprefix(f"{getattr(each.part, 'path', each.part.name)}: ")
        reasons.setdefault(reason, []).append(each.part.name)
    told = [f"{names[0]}{_others(names)}: {reason}" for reason, names in reasons.items()]
    listed = "; ".join(told[:NAMED])
    more = f"; and {len(told) - NAMED} more" if len(told) > NAMED else ""
    return f"{len(failed):,} of {parts:,} {what} failed ({listed}{more}); {fix}"


def _others(names: Sequence[str]) -> str:
    return f" and {len(names) - 1:,} more" if len(names) > 1 else ""
