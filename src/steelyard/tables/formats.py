"""Files and tables of every kind -> one lazy polars frame, or a line that says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import TableError

TEXT = {"question": pl.String, "answer": pl.String, "gold": pl.String, "response": pl.String, "prompt": pl.String}


def open_table(source: Any) -> pl.LazyFrame:
    """Return a lazy frame over a path or over anything that speaks Arrow."""
    if isinstance(source, str | Path):
        return _open_file(Path(source))
    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, pl.DataFrame):
        return source.lazy()
    try:
        if hasattr(source, "__arrow_c_stream__"):
            return pl.DataFrame(source).lazy()
        if hasattr(source, "to_polars"):  # Hugging Face datasets
            return open_table(source.to_polars())
        if isinstance(source, dict | list):
            return pl.DataFrame(source, infer_schema_length=None).lazy()
    except (pl.exceptions.PolarsError, TypeError, ValueError, ImportError) as error:
        raise TableError(f"cannot read this {type(source).__name__} as a table: {first_line(error)}") from None
    raise TableError(
        f"cannot read a {type(source).__name__}: give a path, or a table of polars, pandas, pyarrow, DuckDB or datasets"
    )


def _open_file(path: Path) -> pl.LazyFrame:
    if not path.exists():
        raise TableError(f"no such file: {path}")
    if path.is_dir():
        raise TableError(f"{path} is a folder: name a file (.parquet, .jsonl or .csv)")
    opener = FORMATS.get(path.suffix.lower())
    if opener is None:
        raise TableError(f"{path} is none of {', '.join(FORMATS)}: convert it, or give it its suffix")
    try:
        if path.stat().st_size == 0:
            raise TableError(f"{path} is empty: it has no rows to read")
        frame = opener(path)
        frame.collect_schema()
        return frame
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(f"{path} cannot be read as {path.suffix[1:]}: {first_line(error)}") from None


def _open_jsonl(path: Path) -> pl.LazyFrame:
    """Read JSON lines; where polars gives up (NaN, mixed types, damage), line by line."""
    try:
        frame = pl.read_ndjson(path, infer_schema_length=None)
        if frame.width and frame.height == _count_lines(path):
            return frame.lazy()
    except pl.exceptions.PolarsError:
        pass
    return pl.DataFrame(_json_rows(path), infer_schema_length=None, strict=False).lazy()


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for line in file if line.strip())


def _json_rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except (ValueError, RecursionError) as error:
                raise TableError(f"{path}, line {number} is not JSON: {first_line(error)}") from None
            if not isinstance(row, dict):
                raise TableError(
                    f"{path}, line {number} is a JSON {type(row).__name__}, not an object with named fields"
                )
            for name in TEXT.keys() & row.keys():
                if isinstance(row[name], int | float) and not isinstance(row[name], bool):
                    row[name] = str(row[name])
            rows.append(row)
    if not rows:
        raise TableError(f"{path} is empty: it has no rows to read")
    return rows


def _open_csv(path: Path) -> pl.LazyFrame:
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    header = pl.scan_csv(path, separator=separator, infer_schema=False).collect_schema().names()
    types = {name: kind for name, kind in TEXT.items() if name in header}
    return pl.scan_csv(path, separator=separator, schema_overrides=types, infer_schema_length=None)


FORMATS: dict[str, Callable[[Path], pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".pq": pl.scan_parquet,
    ".jsonl": _open_jsonl,
    ".ndjson": _open_jsonl,
    ".csv": _open_csv,
    ".tsv": _open_csv,
    ".arrow": pl.scan_ipc,
    ".feather": pl.scan_ipc,
}


def first_line(error: BaseException) -> str:
    """Return the first line of another library's message, short enough to read."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
