"""Any source of responses -> a folder of parts in bounded memory; each question is in one part.

Rows are read in batches and spread over files, one per part (steelyard/tables/spreading.py); then the parts are made
into tables one at a time. So memory is bounded by the buffered rows plus a batch, or by one part.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import polars as pl

from steelyard.foundation.arguments import choose_another
from steelyard.foundation.errors import RunError, TableError
from steelyard.foundation.files import UnwritableError, check_no_address, is_running, make_folder, reason
from steelyard.foundation.store_address import Address, Place, place_of
from steelyard.runs.lock import RunLock, holder
from steelyard.runs.manifest import sha256_of
from steelyard.runs.parts import Parts, check_parts, claimed, part_name
from steelyard.tables.columns import check_columns
from steelyard.tables.responses import UncheckedResponses, open_unchecked, report_layout
from steelyard.tables.scattered_rows import BATCH
from steelyard.tables.several_files import FILE as NUMBER
from steelyard.tables.several_files import merge_files
from steelyard.tables.sources.file_checks import name_in_errors, partial_read, reading
from steelyard.tables.spreading import Spread, rows_of_part
from steelyard.tables.writing import putting

OWNER = "owner.lock"  # in an unfinished folder
BATCH_OF_TEXT = 5_000  # rows, if they contain full responses


class PartSummary(NamedTuple):
    """The size, checksum and number of questions of a part."""

    rows: int
    bytes: int
    sha256: str
    questions: int


def partition(
    source: Any,
    folder: str | Path,
    parts: int,
    *,
    layout: str | None = None,
    rename: dict[str, str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Parts:
    """Split a table of responses of any length into parts by question, for `vote --engine` and other readers of tables.

    The folder appears once it is complete; an existing one is refused. It may be an address on an object store, such as
    s3://bucket/parts; rows are kept in temporary files (TMPDIR) until their parts are uploaded. Rows keep their order,
    and those of a question are contiguous. `sy.read`, `sy.vote` and the others read the folder like the original
    table.

    >>> import steelyard as sy
    >>> sy.partition(sy.simulate(questions=20, samples=4), "parts", 3).rows
    [36, 16, 28]
    >>> sy.read("parts")
    LabelledPool(20 questions, 80 responses, 2 unreadable, score score)
    """
    check_parts(parts)
    with new_folder(place_of(folder), parts) as (here, into), name_in_errors(source) as name, reading(name):
        responses = open_unchecked(source, layout, rename)
        report_layout(responses)
        chunks = here / "chunks"
        schema, rows = spread(responses, chunks, parts, progress)
        made = parts_manifest([gather([chunks], i, schema, responses.paths, into) for i in range(parts)], schema, name)
        if sum(made.rows) != rows:
            raise partial_read()
        shutil.rmtree(chunks)
        made.write(into)
    return made


def parts_manifest(parts: Sequence[PartSummary], schema: pl.Schema, source: str) -> Parts:
    """Return the content of parts.json for a folder of responses."""
    made = {"from": source, "questions": sum(part.questions for part in parts)}
    rows, sizes, digests = ([getattr(part, name) for part in parts] for name in ("rows", "bytes", "sha256"))
    columns = {name: str(kind) for name, kind in schema.items() if name != NUMBER}
    sums: dict[str, Any] = {"rows": rows, "bytes": sizes, "sha256": digests}
    return Parts("responses", len(parts), made=made, columns=columns, finished=True, **sums)


@contextmanager
def new_folder(target: Place, parts: int) -> Iterator[tuple[Path, Place]]:
    """Yield a working folder and the folder for the parts, which gets its name (or its parts.json) at the end."""
    if isinstance(target, Address):
        with claimed(target, Parts("responses", parts)), tempfile.TemporaryDirectory(prefix="steelyard-") as here:
            yield Path(here), target
        return
    check_no_address(target)
    if target.exists() or target.is_symlink():
        raise UnwritableError(target, "it already exists", choose_another("folder"))
    parent = make_folder(target.absolute().parent)
    draft = parent / f".{target.name}.{os.getpid()}.{token_hex(4)}.parts"
    lock = None
    try:
        draft.mkdir()
        with suppress(RunError):  # without locks, leftovers are indistinguishable from folders of other machines
            lock = RunLock(draft, OWNER)
            _remove_leftovers(draft, target.name)
        yield draft, draft
        (draft / OWNER).unlink(missing_ok=True)
        draft.rename(target)
    except OSError as error:
        raise RunError(f"cannot write {target}: {reason(error)}; free some space, and run the command again") from None
    finally:
        if lock:
            lock.release()
        shutil.rmtree(draft, ignore_errors=True)


def _remove_leftovers(own: Path, name: str) -> None:
    """Remove the folders that killed commands left behind, but not those of running commands.

    A running command holds the lock of its folder, or has not locked it yet. In containers, the killed process often
    had the same process id as this one.
    """
    for path in own.parent.glob(f".{escape(name)}.*.parts"):
        number = path.name.removeprefix(f".{name}.").partition(".")[0]
        if path == own or path.is_symlink() or not path.is_dir() or not number.isdecimal():
            continue
        if holder(path, OWNER) is None and (int(number) == os.getpid() or not is_running(int(number))):
            shutil.rmtree(path, ignore_errors=True)


def spread(
    responses: UncheckedResponses, chunks: Path, parts: int, progress: Callable[[float], None] | None = None
) -> tuple[pl.Schema, int]:
    """Spread all rows of a source over the files of their parts; return its schema and its number of rows."""
    schema = responses.frame.collect_schema()
    check_columns(schema)
    total = int(responses.frame.select(pl.len()).collect(engine="streaming").item())
    if not total:
        raise TableError("the table is empty: it has no rows to read")
    size = BATCH_OF_TEXT if "response" in schema else BATCH
    read = 0
    with Spread(chunks, parts) as rows:
        for batch in responses.frame.collect_batches(chunk_size=size, maintain_order=True):
            if batch.height:
                rows.add(batch)
                read += batch.height
            if progress:
                progress(min(1.0, read / total))
    if read != total:
        raise partial_read()
    return schema, total


def table_of_part(chunks: Sequence[Path], part: int, schema: pl.Schema, paths: Sequence[Path]) -> pl.DataFrame:
    """Return the table of one part; questions on which the source files disagree are refused."""
    return merge_files(rows_of_part(chunks, part, schema).lazy(), paths)[0].collect()


def gather(chunks: Sequence[Path], part: int, schema: pl.Schema, paths: Sequence[Path], folder: Place) -> PartSummary:
    """Write the table of one part."""
    table = table_of_part(chunks, part, schema, paths)
    with putting(table, folder / f"{part_name(part)}.parquet") as path:
        return PartSummary(table.height, path.stat().st_size, sha256_of(path), table["question"].n_unique())
