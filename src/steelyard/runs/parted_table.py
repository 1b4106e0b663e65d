"""Merge the finished parts of a run into RUN/table.parquet, the table that the same run would have without parts.

Rows are sorted into the order of the questions with bounded memory: they are distributed to files on disk by the
position of their question, and each file is then sorted.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import polars as pl

from steelyard.foundation.errors import RunError
from steelyard.runs.derived_table import BATCH, FILE, fresh_table
from steelyard.runs.finished_parts import check_not_less, checked_parts, columns_of_all, conform
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.seal import read_seal, sealed, write_sealed

LAYOUT = 1  # version of the table; a table of another version is derived again
BUFFERED = 100_000  # rows in memory while distributing
BUCKET = 20_000  # rows in memory while sorting
PLACE = "place"


def merged_table(folder: Path) -> Path:
    """Return the path of the table of all finished parts, derived again unless it is up to date."""
    run = PartedRun.read(folder)
    parts = checked_parts(run)
    tables = [fresh_table(folder / part.name) for part in parts]
    seals = [read_seal(table) or {} for table in tables]
    digest = blake2b(
        repr([(part.number, seal.get("sha256")) for part, seal in zip(parts, seals, strict=True)]).encode()
    )
    made_from = {"layout": LAYOUT, "parts": digest.hexdigest()}
    seal = sealed(folder / FILE)
    if seal is None or any(seal.get(name) != value for name, value in made_from.items()):
        holds = check_not_less(folder, seals)
        write_sealed(folder / FILE, lambda path: _merge(run, parts, tables, path), made_from | {"holds": holds})
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
    width = max(1, BUCKET * sum(part.questions for part in run.wanted) // rows)  # questions per bucket
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
        """Write the buffered rows."""
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
