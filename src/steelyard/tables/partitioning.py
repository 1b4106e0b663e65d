"""Any source of responses -> a folder of parts, each question in one of them, in bounded memory.

Rows are read in batches and spread over files, one per part (steelyard/tables/spreading.py); then one part at a time
becomes a table. So the memory is that of the rows that are held back and of a batch, or of one part.
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

from steelyard.foundation.errors import RunError, TableError
from steelyard.foundation.files import UnwritableError, check_no_address, is_running, make_folder, reason
from steelyard.foundation.stores.address import Address, Place, place_of
from steelyard.runs.claim import claimed
from steelyard.runs.lock import RunLock, holder
from steelyard.runs.manifest import sha256_of
from steelyard.runs.parts import Parts, check_parts, part_name
from steelyard.tables.columns import check_columns
from steelyard.tables.reading import named
from steelyard.tables.responses import Unparted, open_unparted, say_layout
from steelyard.tables.row_order import BATCH, cut_short
from steelyard.tables.several_files import FILE as NUMBER
from steelyard.tables.several_files import parted
from steelyard.tables.sources.damage import reading
from steelyard.tables.spreading import Spread, gathered
from steelyard.tables.writing import putting

OWNER = "owner.lock"  # in a folder that is not finished
BATCH_OF_TEXT = 5_000  # rows, where they hold whole responses


class Gathered(NamedTuple):
    """What a part came to."""

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
    """Cut a table of responses of any length into parts by question, for `vote --engine` and all that reads tables.

    The folder appears when it is whole, and one that is there already is refused. It may be an address on an object
    store, as s3://bucket/parts; rows lie in temporary files (TMPDIR) until their parts are put there. Rows keep their
    order, and those of a question stand together. `sy.read`, `sy.vote` and the others read the folder like the table it
    was made of.

    >>> import steelyard as sy
    >>> sy.partition(sy.simulate(questions=20, samples=4), "parts", 3).rows
    [36, 16, 28]
    >>> sy.read("parts")
    LabelledPool(20 questions, 80 responses, 2 unreadable, score score)
    """
    check_parts(parts)
    with new_folder(place_of(folder), parts) as (here, into), named(source) as name, reading(name):
        found = open_unparted(source, layout, rename)
        say_layout(found)
        chunks = here / "chunks"
        schema, rows = spread(found, chunks, parts, progress)
        made = described([gather([chunks], i, schema, found.paths, into) for i in range(parts)], schema, name)
        if sum(made.rows) != rows:
            raise cut_short()
        shutil.rmtree(chunks)
        made.write(into)
    return made


def described(parts: Sequence[Gathered], schema: pl.Schema, source: str) -> Parts:
    """What parts.json says of a folder of responses."""
    made = {"from": source, "questions": sum(part.questions for part in parts)}
    rows, sizes, digests = ([getattr(part, name) for part in parts] for name in ("rows", "bytes", "sha256"))
    columns = {name: str(kind) for name, kind in schema.items() if name != NUMBER}
    sums: dict[str, Any] = {"rows": rows, "bytes": sizes, "sha256": digests}
    return Parts("responses", len(parts), made=made, columns=columns, finished=True, **sums)


@contextmanager
def new_folder(target: Place, parts: int) -> Iterator[tuple[Path, Place]]:
    """Yield a folder to work in, and where the parts go: a folder whose name, or whose parts.json, comes last."""
    if isinstance(target, Address):
        with claimed(target, Parts("responses", parts)), tempfile.TemporaryDirectory(prefix="steelyard-") as here:
            yield Path(here), target
        return
    check_no_address(target)
    if target.exists() or target.is_symlink():
        raise UnwritableError(target, "it is there already", "choose another folder with -o")
    parent = make_folder(target.absolute().parent)
    beside = parent / f".{target.name}.{os.getpid()}.{token_hex(4)}.parts"
    lock = None
    try:
        beside.mkdir()
        with suppress(RunError):  # without locks, leftovers cannot be told from folders of other machines
            lock = RunLock(beside, OWNER)
            _remove_leftovers(beside, target.name)
        yield beside, beside
        (beside / OWNER).unlink(missing_ok=True)
        beside.rename(target)
    except OSError as error:
        raise RunError(f"cannot write {target}: {reason(error)}; make room, and run the command again") from None
    finally:
        if lock:
            lock.release()
        shutil.rmtree(beside, ignore_errors=True)


def _remove_leftovers(own: Path, name: str) -> None:
    """Remove the folders that killed commands left beside this one; a command that still runs keeps its own.

    A running command holds the lock of its folder, or has not locked it yet. In containers, the process that was killed
    often had the number that this one has.
    """
    for path in own.parent.glob(f".{escape(name)}.*.parts"):
        number = path.name.removeprefix(f".{name}.").partition(".")[0]
        if path == own or path.is_symlink() or not path.is_dir() or not number.isdecimal():
            continue
        if holder(path, OWNER) is None and (int(number) == os.getpid() or not is_running(int(number))):
            shutil.rmtree(path, ignore_errors=True)


def spread(
    found: Unparted, chunks: Path, parts: int, progress: Callable[[float], None] | None = None
) -> tuple[pl.Schema, int]:
    """Spread all rows of a source over the files of their parts; return its columns, and how many rows it has."""
    schema = found.frame.collect_schema()
    check_columns(schema)
    total = int(found.frame.select(pl.len()).collect(engine="streaming").item())
    if not total:
        raise TableError("the table is empty: it has no rows to read")
    size = BATCH_OF_TEXT if "response" in schema else BATCH
    read = 0
    with Spread(chunks, parts) as rows:
        for batch in found.frame.collect_batches(chunk_size=size, maintain_order=True):
            if batch.height:
                rows.add(batch)
                read += batch.height
            if progress:
                progress(min(1.0, read / total))
    if read != total:
        raise cut_short()
    return schema, total


def gathered_table(chunks: Sequence[Path], part: int, schema: pl.Schema, paths: Sequence[Path]) -> pl.DataFrame:
    """The table of one part; questions about which the files that they come from do not agree are refused."""
    return parted(gathered(chunks, part, schema).lazy(), paths)[0].collect()


def gather(chunks: Sequence[Path], part: int, schema: pl.Schema, paths: Sequence[Path], folder: Place) -> Gathered:
    """Write the table of one part."""
    table = gathered_table(chunks, part, schema, paths)
    with putting(table, folder / f"{part_name(part)}.parquet") as path:
        return Gathered(table.height, path.stat().st_size, sha256_of(path), table["question"].n_unique())
