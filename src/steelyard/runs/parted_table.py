"""The finished parts of a run -> RUN/table.parquet: the table that the same run has without parts.

The rows are put into the order of the questions without holding them: they are dealt to files on the disk by the place
of their question, a bounded number at a time, and each of these is then sorted by itself.
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
from steelyard.runs.finished_parts import alike, check_not_less, checked_parts, columns_of_all
from steelyard.runs.parted_run import PartedRun, RunPart
from steelyard.runs.seal import read_seal, sealed, write_sealed

LAYOUT = 1  # of the table; another one is derived anew
DEALT = 100_000  # rows in memory while they are dealt
BUCKET = 20_000  # rows in memory while they are sorted
PLACE = "place"


def merged_table(folder: Path) -> Path:
    """Return the path of the table of all finished parts, derived anew unless the one that is there is of the same."""
    run = PartedRun.read(folder)
    parts = checked_parts(run)
    tables = [fresh_table(folder / part.name) for part in parts]
    seals = [read_seal(table) or {} for table in tables]
    digest = blake2b(
        repr([(part.number, seal.get("sha256")) for part, seal in zip(parts, seals, strict=True)]).encode()
    )
    made_from = {"layout": LAYOUT, "parts": digest.hexdigest()}
    there = sealed(folder / FILE)
    if there is None or any(there.get(name) != value for name, value in made_from.items()):
        holds = check_not_less(folder, seals)
        write_sealed(folder / FILE, lambda path: _merge(run, parts, tables, path), made_from | {"holds": holds})
    return folder / FILE


def readable_parts(folder: Path) -> Path:
    """Return the path of the table of a run in parts that has begun."""
    path = merged_table(folder)
    if not (read_seal(path) or {}).get("rows"):
        raise RunError(f"{folder} has no finished part yet: go on with the command that makes this run")
    return path


def _merge(run: PartedRun, parts: list[RunPart], tables: list[Path], target: Path) -> int:
    """Write the rows of all tables in the order of the questions; return how many there are."""
    from polars.io.plugins import register_io_source

    frames = [pl.scan_parquet(table, glob=False) for table in tables]
    schema = columns_of_all([frame.collect_schema() for frame in frames])
    frames = [alike(frame, schema) for frame in frames]
    rows = sum(int(frame.select(pl.len()).collect().item()) for frame in frames)
    if not rows:
        pl.DataFrame(schema=schema).write_parquet(target)
        return 0
    width = max(1, BUCKET * sum(part.questions for part in run.wanted) // rows)  # questions per bucket
    place = Path(tempfile.mkdtemp(dir=target.parent, prefix=".merging-"))
    try:
        buckets = Buckets(place, width)
        for part, frame in zip(parts, frames, strict=True):
            places = run.questions(part).select("question", PLACE)
            for batch in frame.collect_batches(chunk_size=10 * BATCH, maintain_order=True):
                buckets.deal(batch.join(places, on="question", how="inner", maintain_order="left"))
        buckets.flush()

        def sorted_rows(*_: object) -> Iterator[pl.DataFrame]:
            yield from (frame.drop(PLACE) for frame in buckets.sorted())

        register_io_source(io_source=sorted_rows, schema=schema).sink_parquet(target, row_group_size=10 * BATCH)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return rows


class Buckets:
    """Rows on the disk by the place of their question: `width` questions to a file."""

    def __init__(self, folder: Path, width: int) -> None:
        self.folder, self.width = folder, width
        self._waiting: list[pl.DataFrame] = []
        self._rows = 0
        self._written: dict[int, list[int]] = {}  # bytes of each piece, by bucket

    def deal(self, rows: pl.DataFrame) -> None:
        """Take in some rows; many are written together."""
        self._waiting.append(rows)
        self._rows += rows.height
        if self._rows >= DEALT:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if not self._waiting:
            return
        rows = pl.concat(self._waiting).with_columns((pl.col(PLACE) // self.width).alias("bucket"))
        for (bucket,), piece in rows.partition_by("bucket", as_dict=True, maintain_order=True).items():
            written = io.BytesIO()
            piece.drop("bucket").write_ipc_stream(written)
            with self._file(int(bucket)).open("ab") as file:
                file.write(written.getbuffer())
            self._written.setdefault(int(bucket), []).append(written.getbuffer().nbytes)
        self._waiting, self._rows = [], 0

    def sorted(self) -> Iterator[pl.DataFrame]:
        """All rows by place, bucket by bucket; those of a question keep their order."""
        for bucket in sorted(self._written):
            with self._file(bucket).open("rb") as file:
                pieces = [pl.read_ipc_stream(io.BytesIO(file.read(size))) for size in self._written[bucket]]
            yield pl.concat(pieces).sort(PLACE, maintain_order=True)

    def _file(self, bucket: int) -> Path:
        return self.folder / f"{bucket:08d}"
