"""Tables -> files, by their suffix; each appears whole or not at all, and only where it may."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation import outputs
from steelyard.foundation.errors import SettingError
from steelyard.foundation.files import UnwritableError, local_path, reason
from steelyard.foundation.outputs import Kind, replace_hint
from steelyard.foundation.stores.address import Address, Place, place_of
from steelyard.foundation.stores.drafts import open_draft
from steelyard.foundation.stores.same_objects import is_one_of
from steelyard.tables.known_outputs import KEY, TableKind, any_table, kind_of


def _write_parquet(table: pl.DataFrame, path: Path) -> None:
    table.write_parquet(path, metadata={KEY: kind_of(table.columns)})


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".parquet": _write_parquet,
    ".jsonl": pl.DataFrame.write_ndjson,
    ".ndjson": pl.DataFrame.write_ndjson,
    ".csv": pl.DataFrame.write_csv,
    ".arrow": pl.DataFrame.write_ipc,
}


def write(table: pl.DataFrame, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a table as Parquet, JSON lines, CSV or Arrow.

    A file that is there already is replaced if Steelyard wrote it: a Parquet file with its mark, another one with
    exactly these columns. With `overwrite` any file is.

    >>> import steelyard as sy
    >>> write(sy.simulate(questions=2, samples=3), "responses.csv")
    >>> len(pl.read_csv("responses.csv"))
    6
    """
    check_output(path, any_table(table.columns), overwrite=overwrite)
    put(table, path)


def put(table: pl.DataFrame, path: str | Path) -> None:
    """Write a table to a path that was checked."""
    with putting(table, place_of(path)):
        pass


@contextmanager
def putting(table: pl.DataFrame, place: Place) -> Iterator[Path]:
    """Yield a file with a table in it, which takes its place when the block ends well."""
    with open_draft(place) as draft:
        try:
            WRITERS[Path(place.name).suffix.lower()](table, draft.path)
        except pl.exceptions.PolarsError as error:
            if isinstance(place, Address) and "os error" in str(error):
                raise OSError(0, reason(error)) from None  # of the file here, not of the place
            raise SettingError(f"cannot write {place}: {error}; choose another path with -o") from None
        yield draft.path


def check_output(
    path: str | Path,
    kind: TableKind | Kind | None = None,
    *,
    inputs: Iterable[Any] = (),
    overwrite: bool = False,
) -> None:
    """Refuse a path where a table of this kind may not go; without a kind it is any table.

    At an address nothing is written over without `overwrite`, whoever wrote it.
    """
    place = place_of(path)
    known = any_table() if kind is None else kind.kind() if isinstance(kind, TableKind) else kind
    if isinstance(place, Address):
        _check_address(place, known, list(inputs), overwrite)
        return
    outputs.check_output(path, known, inputs=inputs, overwrite=overwrite)


def _check_address(target: Address, kind: Kind, inputs: Sequence[Any], overwrite: bool) -> None:
    if not target.name.lower().endswith(".parquet"):
        raise UnwritableError(str(target), "only Parquet goes to object stores", "name it .parquet, or a file here")
    if not target.is_file():
        return
    here = local_path(str(target))
    if is_one_of(target, inputs) or (isinstance(here, Path) and outputs.input_at(here.resolve(), kind, inputs)):
        raise UnwritableError(str(target), "it is an input of this command, which is never written over")
    if not overwrite:
        raise UnwritableError(str(target), "it is there already", replace_hint())
