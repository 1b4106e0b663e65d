"""Opened files before a layout reads them: JSON, JSON lines, CSV, Parquet and Arrow, compressed or not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.tables.recognition import Opened, Record
from steelyard.tables.several_files import check_exact
from steelyard.tables.sources.file_checks import DAMAGE, reading
from steelyard.tables.sources.foreign_files import check_foreign
from steelyard.tables.sources.json_files import is_json_list, json_records, json_value
from steelyard.tables.sources.json_lines import json_line_records
from steelyard.tables.sources.table_files import FORMATS, check_file, open_file
from steelyard.tables.sources.unpacking import STDIN, Plain, original_name_in_errors, plain_file

LINES = (".jsonl", ".ndjson")
ROWS = 1_000  # converted to Python objects at a time


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

    def frame(self) -> pl.LazyFrame:
        return self._frame


class OpenedFiles(Opened):
    """Several files, one after the other."""

    def __init__(self, files: tuple[OpenedFile, ...]) -> None:
        self.files = files
        self.paths = tuple(path for file in files for path in file.paths)

    @cached_property
    def first(self) -> Record:
        return self.files[0].first

    def records(self) -> Iterator[Record]:
        for file in self.files:
            yield from file.records()

    def frame(self) -> pl.LazyFrame:
        frames = [file.frame() for file in self.files]
        check_exact(frames, self.paths)
        return pl.concat(frames, how="diagonal_relaxed")

    def parts(self) -> Iterator[Opened]:
        yield from self.files
