"""Paths, patterns and folders -> the files they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from glob import glob, has_magic
from itertools import islice
from pathlib import Path

from steelyard.foundation.errors import TableError, nearest
from steelyard.runs.parts import is_parted, part_tables
from steelyard.tables.sources.run_folders import has_journal, table_of_run
from steelyard.tables.sources.unpacking import STDIN, plain_suffix

KINDS = {
    ".parquet": ".parquet", ".pq": ".parquet", ".jsonl": ".jsonl", ".ndjson": ".jsonl", ".csv": ".csv", ".tsv": ".tsv",
    ".arrow": ".arrow", ".feather": ".arrow", ".json": ".json", ".eval": ".eval",
}  # fmt: skip
MAX_FILES = 10_000


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


def no_such_file(path: Path) -> str:
    """Describe a path that does not exist: the folder that is missing, or the file that was meant."""
    folder = path.parent
    if not folder.is_dir():
        return f"no such file: {path}; there is no folder {folder}"
    with suppress(OSError):
        near = nearest(path.name, (entry.name for entry in islice(folder.iterdir(), MAX_FILES)))
        if near:
            return f"no such file: {path}; did you mean {folder / near}?"
    return f"no such file: {path}; correct the path, which starts at {Path.cwd() if not path.is_absolute() else '/'}"


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
