"""The tables of a run in parts, read part by part or merged into RUN/table.parquet, as a run without parts has it."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from steelyard.foundation.errors import RunError, SteelyardWarning
from steelyard.runs.derived_table import BATCH, FIELDS, FILE, column_types, fresh_table, made_from
from steelyard.runs.index import UNKNOWN
from steelyard.runs.manifest import Manifest
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.scored_columns import is_scored_column, scored_column
from steelyard.runs.seal import DAMAGE, is_made_from, read_seal, sealed, shortfall, write_sealed

LAYOUT = 1  # version of the table; a table of another version is derived again
BUFFERED = 100_000  # rows in memory while distributing
BUCKET = 20_000  # rows in memory while sorting
PLACE = "place"
Seal = dict[str, Any]


def merged_table(folder: Path) -> Path:
    """Return the path of the table of all finished parts, derived again unless it is up to date."""
    run = PartedRun.read(folder)
    parts = checked_parts(run)
    tables = [fresh_table(folder / part.name) for part in parts]
    seals = [read_seal(table) or {} for table in tables]
    content = repr([(part.number, seal.get("sha256")) for part, seal in zip(parts, seals, strict=True)])
    inputs = {"layout": LAYOUT, "parts": hashlib.blake2b(content.encode()).hexdigest()}
    if not is_made_from(sealed(folder / FILE), inputs):
        holds = check_not_less(folder, seals)
        write_sealed(folder / FILE, lambda path: _merge(run, parts, tables, path), inputs | {"holds": holds})
    return folder / FILE


def readable_parts(folder: Path) -> Path:
    """Return the path of the table of a run with a finished part."""
    path = merged_table(folder)
    if not (read_seal(path) or {}).get("rows"):
        raise RunError(f"{folder} has no finished part yet: continue with the command that makes this run")
    return path


def _merge(run: PartedRun, parts: list[RunPart], tables: list[Path], target: Path) -> int:
    """Write the rows of all tables in the order of the questions; return their number."""
    from polars.io.plugins import register_io_source

    frames = [pl.scan_parquet(table, glob=False) for table in tables]
    schema = columns_of_all([frame.collect_schema() for frame in frames])
    frames = [conform(frame, schema) for frame in frames]
    rows = sum(int(frame.select(pl.len()).collect().item()) for frame in frames)
    if not rows:
        pl.DataFrame(schema=schema).write_parquet(target)
        return 0
    width = max(1, BUCKET * sum(part.questions for part in run.nonempty_parts) // rows)  # questions per bucket
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=".merging-"))
    try:
        buckets = Buckets(folder, width)
        for part, frame in zip(parts, frames, strict=True):
            positions = run.questions(part).select("question", PLACE)
            for batch in frame.collect_batches(chunk_size=10 * BATCH, maintain_order=True):
                buckets.add(batch.join(positions, on="question", how="inner", maintain_order="left"))
        buckets.flush()

        def sorted_rows(*_: object) -> Iterator[pl.DataFrame]:
            yield from (frame.drop(PLACE) for frame in buckets.sorted())

        register_io_source(io_source=sorted_rows, schema=schema).sink_parquet(target, row_group_size=10 * BATCH)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return rows


class Buckets:
    """Rows on disk by the position of their question, `width` questions per file."""

    def __init__(self, folder: Path, width: int) -> None:
        self.folder, self.width = folder, width
        self._buffer: list[pl.DataFrame] = []
        self._rows = 0
        self._written: dict[int, list[int]] = {}  # bytes of each piece, by bucket

    def add(self, rows: pl.DataFrame) -> None:
        """Add rows, which are buffered and written in batches."""
        self._buffer.append(rows)
        self._rows += rows.height
        if self._rows >= BUFFERED:
            self.flush()

    def flush(self) -> None:
        if not self._buffer:
            return
        rows = pl.concat(self._buffer).with_columns((pl.col(PLACE) // self.width).alias("bucket"))
        for (bucket,), piece in rows.partition_by("bucket", as_dict=True, maintain_order=True).items():
            stream = io.BytesIO()
            piece.drop("bucket").write_ipc_stream(stream)
            with self._file(int(bucket)).open("ab") as file:
                file.write(stream.getbuffer())
            self._written.setdefault(int(bucket), []).append(stream.getbuffer().nbytes)
        self._buffer, self._rows = [], 0

    def sorted(self) -> Iterator[pl.DataFrame]:
        """Yield all rows in order, bucket by bucket; rows of one question keep their order."""
        for bucket in sorted(self._written):
            with self._file(bucket).open("rb") as file:
                pieces = [pl.read_ipc_stream(io.BytesIO(file.read(size))) for size in self._written[bucket]]
            yield pl.concat(pieces).sort(PLACE, maintain_order=True)

    def _file(self, bucket: int) -> Path:
        return self.folder / f"{bucket:08d}"


def checked_parts(run: PartedRun) -> list[RunPart]:
    """Return the finished parts; warn about the others, and refuse a part of another run."""
    parts = run.finished()
    if missing := len(run.nonempty_parts) - len(parts):
        warnings.warn(
            f"{run.folder}: {missing} of {len(run.nonempty_parts)} parts are not finished, and their questions are "
            "left out: run the 'steelyard generate' command of this run again",
            SteelyardWarning,
            stacklevel=3,
        )
    for part in parts:
        run.check(part)
    return parts


def check_not_less(folder: Path, seals: Sequence[Seal]) -> dict[str, int]:
    """Return what the parts contain in total; refuse if the merged table was made from more."""
    holds: dict[str, int] = {"rows": 0, "samples": 0}
    for seal in seals:
        for name, count in (seal.get("holds") or {}).items():
            holds[name] = holds.get(name, 0) + count
    if missing := shortfall(folder / FILE, holds):
        raise RunError(
            f"{folder} contains less than {FILE} was made from ({missing}): restore its parts, use {folder / FILE} "
            f"instead of the run, or remove {FILE} and table.json to continue with less"
        )
    return holds


class CurrentTable(NamedTuple):
    """The up-to-date table of a part: its seal and its columns."""

    seal: Seal
    schema: pl.Schema


def current_table(folder: Path) -> CurrentTable | None:
    """Return the table of a part if it looks intact and up to date; only its schema is read."""
    seal = read_seal(folder / FILE)
    try:
        size = (folder / FILE).stat().st_size
        schema = pl.scan_parquet(folder / FILE, glob=False).collect_schema()
    except DAMAGE:
        return None
    expected = made_from(folder, Manifest.read(folder)) | {"bytes": size}
    if seal is None or not is_made_from(seal, expected):
        return None
    columns = column_types(schema)
    return CurrentTable(seal, schema) if seal.get("columns", columns) == columns else None


def digest_of(folder: Path) -> str:
    """Return a digest of what the table of a part is made from: its journal and the kind of answer."""
    content = json.dumps(made_from(folder, Manifest.read(folder)), sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def rows_of_part(folder: Path, digest: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """Return the rows of a part with the columns of all parts; a damaged table is derived again."""
    table = fresh_table(folder)
    if digest_of(folder) != digest:
        raise RunError(f"{folder} was written to since this command began: do not score or sample at the same time")
    return conform(pl.scan_parquet(table, glob=False), schema)


def columns_of_all(schemas: Sequence[Mapping[str, pl.DataType]]) -> pl.Schema:
    """Return the columns of all parts, in the order of a run table; a verifier may have scored only some parts."""
    types = {name: kind for schema in schemas for name, kind in schema.items() if kind == UNKNOWN}
    types |= {name: kind for schema in schemas for name, kind in schema.items() if kind != UNKNOWN}
    scores = sorted(name for name, kind in types.items() if isinstance(kind, pl.List))
    first = ["question", "sample", "prompt", "gold", "domain", "llm", *FIELDS, "failure", "answer", "rule", "correct"]
    first.append("self_logprob")
    scored = sorted(name for name in types if name not in {*first, *scores})
    return pl.Schema({name: types[name] for name in (*first, *scores, *scored) if name in types})


def conform(rows: pl.LazyFrame, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """Add the missing columns of other parts; without on-demand scoring, the scored responses count as asked."""
    present = rows.collect_schema()
    scored = {scored_column(name): name for name in present}
    empty = pl.col("response").fill_null("").str.strip_chars() == ""

    def filled(name: str, kind: pl.DataType) -> pl.Expr:
        if present.get(name) == kind:
            return pl.col(name)
        if is_scored_column(name):
            return empty | pl.col(scored[name]).is_not_null() if name in scored else empty
        return pl.lit(None, kind)

    return rows.select(filled(name, kind).alias(name) for name, kind in schema.items())
