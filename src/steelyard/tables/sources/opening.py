"""Any source -> an `Opened` for the layouts: paths, patterns and folders are resolved to the files they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.foundation.files import address_of
from steelyard.foundation.store_address import place_of
from steelyard.runs.feedback_settings import is_feedback
from steelyard.runs.parts import is_parted, is_parted_run, part_tables
from steelyard.tables.recognition import Opened
from steelyard.tables.several_files import FILE
from steelyard.tables.sources.bundled_grid import is_grid, open_grid
from steelyard.tables.sources.file_checks import no_such_file
from steelyard.tables.sources.opened import OpenedFile, OpenedFiles, OpenedParts, OpenedTable, RemoteTable
from steelyard.tables.sources.unpacking import STDIN, plain_suffix

KINDS = {
    ".parquet": ".parquet", ".pq": ".parquet", ".jsonl": ".jsonl", ".ndjson": ".jsonl", ".csv": ".csv", ".tsv": ".tsv",
    ".arrow": ".arrow", ".feather": ".arrow", ".json": ".json", ".eval": ".eval",
}  # fmt: skip
MAX_FILES = 10_000


def open_source(source: Any) -> Opened:
    """Open files, standard input, bundled responses or a table in memory without reading it."""
    if is_grid(source):
        return OpenedTable(open_grid(str(source)))
    sources = [source] if isinstance(source, str | Path) else source
    addresses = [entry for entry in sources if address_of(entry)] if isinstance(sources, list | tuple) else []
    if addresses and len(sources) > 1:
        raise TableError(
            f"{addresses[0]} cannot be combined with other sources: pass it alone, with a pattern (*) for several files"
        )
    if isinstance(sources, list | tuple) and len(sources) == 1 and _is_parted(sources[0]):
        return OpenedParts(place_of(sources[0]))
    if addresses:
        return RemoteTable(str(address_of(addresses[0])), FILE)
    if isinstance(sources, list | tuple) and sources and all(isinstance(entry, str | Path) for entry in sources):
        grid = [str(entry) for entry in sources if is_grid(entry)]
        if grid:
            raise TableError(f"{grid[0]} cannot be combined with other sources: pass it alone")
        files = tuple(OpenedFile(path) for path in files_of_all(sources))
        return files[0] if len(files) == 1 else OpenedFiles(files)
    return OpenedTable(source)


def _is_parted(source: Any) -> bool:
    try:
        return isinstance(source, str | Path) and is_parted_source(source)
    except (OSError, ValueError):  # invalid paths are reported when the files are listed
        return False


def open_table(source: Any) -> pl.LazyFrame:
    """Return a lazy frame over a source with its columns as they are."""
    return open_source(source).frame()


def files_of(source: str | Path) -> tuple[Path, ...]:
    """Return the files of a path, pattern or folder; a path that exists is never a pattern."""
    path = Path(source)
    if str(source) == STDIN:
        return (path,)
    try:
        str(path).encode()
        if path.is_dir() and is_parted(path):
            return tuple(path / part.name for part in part_tables(path)[1])
        if path.is_dir():
            return (table_of_run(path),) if has_journal(path) else _files_in(path)
        if not path.exists() and has_magic(str(path)):
            paths = tuple(sorted(Path(name) for name in glob(str(path), recursive=True) if Path(name).is_file()))
            if not paths:
                raise TableError(f"no such file: {path} (no file matches the pattern): correct the pattern")
            return paths
        if not path.exists():
            raise TableError(no_such_file(path))
    except (OSError, ValueError) as error:
        raise TableError(f"{str(path)!r:.200} cannot be read: {error}; name another file") from None
    return (path,)


def files_of_all(sources: Iterable[str | Path]) -> tuple[Path, ...]:
    """Return the files of several sources without duplicates, even under different paths."""
    paths = [path for source in sources for path in files_of(source)]
    return tuple({path.resolve() if str(path) != STDIN else path: path for path in reversed(paths)}.values())[::-1]


def _files_in(folder: Path) -> tuple[Path, ...]:
    """Return the tables of one format in a folder; JSON files beside tables of another format are ignored."""
    if (folder / "table.parquet").exists():
        return (table_of_run(folder),)  # refuses a run without its manifest
    kinds: dict[str, list[Path]] = {}
    for i, path in enumerate(sorted(folder.rglob("*"))):
        if i > MAX_FILES:
            raise TableError(f"{folder} contains more than {MAX_FILES:,} files: name those to read")
        kind = KINDS.get(plain_suffix(path))
        if kind and path.is_file() and not path.name.startswith("."):
            kinds.setdefault(kind, []).append(path)
    if len(kinds) > 1:
        kinds.pop(".json", None)
    if not kinds:
        return (table_of_run(folder),)  # raises with what is missing
    if len(kinds) > 1:
        patterns = ", ".join(f"'{folder}/**/*{kind}'" for kind in kinds)
        raise TableError(f"{folder} contains files of several formats: choose one of them: {patterns}")
    (files,) = kinds.values()
    return tuple(files)


def has_journal(folder: Path) -> bool:
    """Whether a folder is a run (in parts or not) or a feedback folder."""
    return (folder / "manifest.json").is_file() or is_parted_run(folder) or is_feedback(folder)


def table_of_run(folder: Path) -> Path:
    """Return the table of a run or feedback folder, updated if its journal has grown."""
    if is_feedback(folder):
        from steelyard.runs.feedback_table import labelled_table

        return labelled_table(folder)
    if is_parted_run(folder):
        from steelyard.runs.parted_table import readable_parts

        return readable_parts(folder)
    if not (folder / "manifest.json").is_file():
        table = folder / "table.parquet"
        name = f"{table}, which can still be read" if table.exists() else "a file (.parquet, .jsonl or .csv)"
        raise TableError(f"{folder} is a folder but not a run: name {name}")
    from steelyard.runs.derived_table import readable_table

    return readable_table(folder)


def is_parted_source(source: str | Path) -> bool:
    """Whether a path or an address is a folder of parts."""
    address = address_of(source)
    if address and (has_magic(address) or plain_suffix(Path(address)) in KINDS):
        return False
    return is_parted(place_of(source))
