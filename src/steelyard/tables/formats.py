"""Files and tables of every kind -> one lazy polars frame, or a line that says what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.errors import TableError
from steelyard.tables.grid import is_grid, open_grid

DAMAGE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
DEEPEST = 100  # brackets within brackets
MOST_COLUMNS = 5000
LONGEST_LINE = 64 << 20  # bytes of JSON, twice the longest reply that is read from a server
# Whole numbers beyond 64 bits become null in polars, halves of surrogate pairs something else.
_ODD_JSON = re.compile(rb"[:\[,]\s*-?\d{19}|\\u[dD][89a-fA-F]")
TEXT = {"question": pl.String, "answer": pl.String, "gold": pl.String, "response": pl.String, "prompt": pl.String}


def open_table(source: Any) -> pl.LazyFrame:
    """Return a lazy frame over a path, over bundled responses or over anything that speaks Arrow."""
    if isinstance(source, str | Path):
        return open_grid(str(source)) if is_grid(source) else _open_file(Path(source))
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
    except (*DAMAGE, TypeError, ValueError, ImportError) as error:
        raise TableError(f"cannot read this {type(source).__name__} as a table: {first_line(error)}") from None
    raise TableError(
        f"cannot read a {type(source).__name__}: give a path, or a table of polars, pandas, pyarrow, DuckDB or datasets"
    )


def _open_file(path: Path) -> pl.LazyFrame:
    try:
        str(path).encode()
        if not path.exists():
            raise TableError(f"no such file: {path}")
        if path.is_dir():
            path = _table_of_run(path)
        if not path.is_file():
            raise TableError(f"{path} is a device or a pipe: save it as a file first")
        opener = FORMATS.get(path.suffix.lower())
        if opener is None:
            raise TableError(f"{path} is none of {', '.join(FORMATS)}: convert it, or give it its suffix")
        if path.stat().st_size == 0:
            raise TableError(f"{path} is empty: it has no rows to read")
        frame = opener(path)
        _check_width(path, len(frame.collect_schema()))
        return frame
    except (*DAMAGE, ValueError) as error:
        raise TableError(
            f"{str(path)!r:.200} cannot be read as {path.suffix[1:]}: {first_line(error)}; write the file again"
        ) from None


def _table_of_run(folder: Path) -> Path:
    """The table of a run folder, made anew if its journal has grown; runs stand above tables, so they go by name."""
    if not (folder / "manifest.json").is_file():
        there = folder / "table.parquet"
        name = f"{there}, which can still be read" if there.exists() else "a file (.parquet, .jsonl or .csv)"
        raise TableError(f"{folder} is a folder and no run: name {name}")
    table: Path = import_module("steelyard.runs.table").readable_table(folder)
    return table


def _check_width(path: Path, columns: int) -> None:
    """Refuse a table so wide that naming its columns takes longer than reading them."""
    if columns > MOST_COLUMNS:
        raise TableError(f"{path} has {columns:,} columns, more than {MOST_COLUMNS:,}: keep those that are needed")


def _open_jsonl(path: Path) -> pl.LazyFrame:
    """Read JSON lines; where polars gives up or would guess (NaN, mixed types, odd numbers), line by line."""
    lines, plain = _screened(path)
    if plain:
        try:
            frame = pl.read_ndjson(path, infer_schema_length=None)
            if frame.width and frame.height == lines:
                return frame.lazy()
        except DAMAGE:
            pass
    return pl.DataFrame(_json_rows(path), infer_schema_length=None, strict=False).lazy()


def _screened(path: Path) -> tuple[int, bool]:
    """Count the lines that hold something; refuse long, wide and deep ones; say whether polars may read them."""
    lines, plain = 0, True
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
            if len(line) > LONGEST_LINE:
                raise TableError(f"{path}, line {number} is longer than {LONGEST_LINE >> 20} MB: shorten or remove it")
            lines += bool(line.strip())
            plain = plain and not _ODD_JSON.search(line)
            if line.count(b"{") + line.count(b"[") > DEEPEST and _is_deep(line):
                raise TableError(f"{path}, line {number} is not JSON we read: it is nested more than {DEEPEST} deep")
            if line.count(b":") > MOST_COLUMNS:
                _check_width(path, _bare(line).count(b":"))
    return lines, plain


def _bare(line: bytes) -> bytes:
    """The part of a line outside strings: without its escapes, every other piece between quotes."""
    return b"".join(line.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])


def _is_deep(line: bytes) -> bool:
    """Whether brackets are nested more than DEEPEST deep, those inside strings left out.

    None of this is a loop over the letters of a line, which may be long.
    """
    bare = _bare(line)
    if bare.count(b"{") + bare.count(b"[") <= DEEPEST:
        return False
    letters = np.frombuffer(bare, np.uint8)
    steps = np.isin(letters, list(b"[{")).astype(np.int64) - np.isin(letters, list(b"]}"))
    return int(steps.cumsum().max(initial=0)) > DEEPEST


def _json_rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                row = json.loads(text, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
            except (ValueError, RecursionError) as error:
                what = re.sub(r": line \d+ (column \d+).*", r" at \1", first_line(error))
                raise TableError(f"{path}, line {number} is not JSON ({what}): correct or remove it") from None
            if not isinstance(row, dict):
                kind = type(row).__name__
                raise TableError(f"{path}, line {number} is a JSON {kind}, not an object with named fields")
            rows.append({_whole(name): _tame(value, name in TEXT) for name, value in row.items()})
    if not rows:
        raise TableError(f"{path} is empty: it has no rows to read")
    return rows


def _tame(value: Any, is_text: bool) -> Any:
    """Make a value one that every column can hold: whole text, numbers within range."""
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        if is_text:
            return str(value)
        return value if isinstance(value, float) or abs(value) < 2**63 else float("inf" if value > 0 else "-inf")
    return value


def _whole(text: str) -> str:
    """Replace halves of surrogate pairs, which no file can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _open_csv(path: Path) -> pl.LazyFrame:
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open("rb") as file:
        _check_width(path, 1 + file.readline(LONGEST_LINE).count(separator.encode()))
    header = pl.scan_csv(path, separator=separator, infer_schema=False, glob=False).collect_schema().names()
    types = {name: kind for name, kind in TEXT.items() if name in header}
    table = pl.scan_csv(path, separator=separator, schema_overrides=types, infer_schema_length=None, glob=False)
    return table.filter(~pl.all_horizontal(pl.all().is_null()))  # blank lines


def _open_parquet(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False)


def _open_ipc(path: Path) -> pl.LazyFrame:
    return pl.scan_ipc(path, glob=False)


FORMATS: dict[str, Callable[[Path], pl.LazyFrame]] = {
    ".parquet": _open_parquet,
    ".pq": _open_parquet,
    ".jsonl": _open_jsonl,
    ".ndjson": _open_jsonl,
    ".csv": _open_csv,
    ".tsv": _open_csv,
    ".arrow": _open_ipc,
    ".feather": _open_ipc,
}


def first_line(error: BaseException) -> str:
    """Return the first line of another library's message, short enough to read."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
