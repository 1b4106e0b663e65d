"""Sources before a layout reads them: files, compressed or not; tables in memory, remote ones, and folders of parts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.foundation.store_address import Place
from steelyard.foundation.store_connections import check_no_password
from steelyard.runs.parts import part_tables
from steelyard.tables.recognition import Opened, Record
from steelyard.tables.several_files import check_exact
from steelyard.tables.sources.file_checks import DAMAGE, first_line, reading
from steelyard.tables.sources.foreign_files import check_foreign
from steelyard.tables.sources.json_files import is_json_list, json_records, json_value
from steelyard.tables.sources.json_lines import column_of_values, json_line_records
from steelyard.tables.sources.table_files import FORMATS, check_file, open_file
from steelyard.tables.sources.unpacking import STDIN, STDIN_NAME, Plain, original_name_in_errors, plain_file

LINES = (".jsonl", ".ndjson")
ROWS = 1_000  # converted to Python objects at a time
SUFFIXES = (".parquet", ".pq")
UNCONVERTED = (*DAMAGE, TypeError, ValueError, ImportError, NotImplementedError)  # what pyarrow and polars raise
NUMBERS = "biuf"  # numpy kinds that polars accepts directly


class OpenedFile(Opened):
    """One file. Zip archives and files with an unknown suffix are left to the layouts."""

    def __init__(self, path: Path) -> None:
        self.paths = () if str(path) == STDIN else (path,)
        self._file = path

    @cached_property
    def _plain(self) -> Plain:
        check_file(self._file)
        plain = plain_file(self._file)
        with original_name_in_errors(plain):
            check_foreign(plain.path)
        return plain

    @cached_property
    def _suffix(self) -> str:
        """The suffix of the format in which the file is read."""
        path = self._plain.path
        suffix = path.suffix.lower()
        return ".json" if suffix in LINES and is_json_list(path) else suffix

    @cached_property
    def _json(self) -> Any:
        """The content of a .json file, parsed once."""
        return json_value(self._plain.path)

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        with original_name_in_errors(self._plain):
            return open_file(self._plain.path)

    @cached_property
    def first(self) -> Record:
        try:
            if self._suffix in FORMATS and self._suffix not in (*LINES, ".json"):
                return next(self._frame.head(1).collect().iter_rows(named=True), {})  # loads the texts of one row only
            return next(self.records(), {})
        except (TableError, *DAMAGE):
            return {}  # reported when the file is read in full

    def records(self) -> Iterator[Record]:
        with original_name_in_errors(self._plain), reading(self._plain.name):
            path = self._plain.path
            if self._suffix == ".json" and self._json is not None:
                yield from json_records(path, self._json)
            elif self._suffix in (*LINES, ".json"):
                yield from json_line_records(path)
            elif self._suffix not in FORMATS:
                open_file(path)  # raises: the suffix is unknown
            else:
                for batch in self._frame.collect_batches(chunk_size=ROWS, maintain_order=True):
                    yield from batch.iter_rows(named=True)


class OpenedFiles(Opened):
    """Several files, one after the other."""

    def __init__(self, files: tuple[OpenedFile, ...]) -> None:
        self.files = files
        self.paths = tuple(path for file in files for path in file.paths or (Path(STDIN_NAME),))  # one per file

    @cached_property
    def first(self) -> Record:
        return self.files[0].first

    def records(self) -> Iterator[Record]:
        for file in self.files:
            yield from file.records()

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        frames = [file.frame() for file in self.files]
        check_exact(frames, self.paths)
        return pl.concat(frames, how="diagonal_relaxed")

    def parts(self) -> Iterator[Opened]:
        yield from self.files


class OpenedTable(Opened):
    """A table in memory, or a list of records that may be too nested for columns."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.paths = ()

    @cached_property
    def first(self) -> Record:
        try:
            return next(self.records(), {})
        except (TableError, *DAMAGE):
            return {}

    def records(self) -> Iterator[Record]:
        if isinstance(self.source, list):
            yield from (record if isinstance(record, dict) else {} for record in self.source)
            return
        for batch in self._frame.collect_batches(chunk_size=ROWS, maintain_order=True):
            yield from batch.iter_rows(named=True)

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        return lazy_frame(self.source)


def lazy_frame(source: Any) -> pl.LazyFrame:
    """Return a lazy frame over an Arrow-compatible table, or over Python rows or columns."""
    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, pl.DataFrame):
        return source.lazy()
    try:
        if is_pandas(source):
            return from_pandas(source).lazy()
        if hasattr(source, "__arrow_c_stream__"):
            return pl.DataFrame(source).lazy()
        if hasattr(source, "to_polars"):  # Hugging Face datasets
            return lazy_frame(source.to_polars())
        if isinstance(source, dict | list):
            return pl.DataFrame(source, infer_schema_length=None).lazy()
    except (*DAMAGE, TypeError, ValueError, ImportError) as error:
        raise TableError(f"cannot read this {type(source).__name__} as a table: {first_line(error)}") from None
    raise TableError(
        f"cannot read a {type(source).__name__}: pass a path, or a polars, pandas, pyarrow, DuckDB or datasets table"
    )


class RemoteTable(OpenedTable):
    """One file, or all that match a pattern, without a local copy. `path_column` receives the paths of a pattern."""

    def __init__(self, address: str, path_column: str) -> None:
        check_no_password(address)
        super().__init__(address)
        self.path_column = path_column if has_magic(address) else None
        if not address.lower().endswith(SUFFIXES):
            raise TableError(
                f"{address} is neither Parquet nor a folder of parts, and nothing else is read "
                "from object stores: copy it here first"
            )

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.source, include_file_paths=self.path_column)


class OpenedParts(OpenedTable):
    """All parts, one after the other."""

    def __init__(self, folder: Place) -> None:
        super().__init__(folder)
        self.paths = (Path(str(folder)),)

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        manifest, paths = part_tables(self.source)
        filled = [str(path) for path, rows in zip(paths, manifest.rows, strict=True) if rows]
        return pl.scan_parquet(filled or str(paths[0]), glob=False)


def is_pandas(source: Any) -> bool:
    """Whether a table is a pandas DataFrame, without importing pandas."""
    return type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "columns")


def from_pandas(frame: Any) -> pl.DataFrame:
    """Convert a DataFrame; a named index, as made by `groupby` and `set_index`, becomes a column."""
    if any(name is not None for name in frame.index.names) and not set(frame.index.names) & set(frame.columns):
        frame = frame.reset_index()
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"the DataFrame has two columns {twice!r}: remove or rename one")
    try:
        return pl.DataFrame(frame, nan_to_null=True)
    except UNCONVERTED:
        return pl.DataFrame([_column(name, frame.iloc[:, i]) for i, name in enumerate(names)])


def _column(name: str, column: Any) -> pl.Series:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in NUMBERS:
        return pl.Series(name, column.to_numpy(), nan_to_null=True)
    pairs = zip(column.astype(object), column.isna(), strict=True)
    return column_of_values(name, [None if missing else _plain(value) for value, missing in pairs])


def _plain(value: Any) -> Any:
    """Convert numpy arrays and scalars to Python lists and numbers."""
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return {str(key): _plain(entry) for key, entry in value.items()} if isinstance(value, dict) else value
