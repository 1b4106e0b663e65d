"""What a user names -> the files that are meant: one, several, those that match a pattern, those of a folder."""

from __future__ import annotations

from collections.abc import Iterable
from glob import glob, has_magic
from pathlib import Path

from steelyard.foundation.errors import TableError
from steelyard.runs.parts import is_parted, part_tables
from steelyard.tables.sources.run_folders import has_journal, table_of_run
from steelyard.tables.sources.unpacking import STDIN, plain_suffix

KINDS = {
    ".parquet": ".parquet", ".pq": ".parquet", ".jsonl": ".jsonl", ".ndjson": ".jsonl", ".csv": ".csv", ".tsv": ".tsv",
    ".arrow": ".arrow", ".feather": ".arrow", ".json": ".json", ".eval": ".eval",
}  # fmt: skip
MOST_FILES = 10_000


def listed(source: str | Path) -> tuple[Path, ...]:
    """Return the files that one name stands for; a name that exists is never a pattern."""
    path = Path(source)
    if str(source) == STDIN:
        return (path,)
    try:
        str(path).encode()
        if path.is_dir() and is_parted(path):
            return tuple(path / part.name for part in part_tables(path)[1])
        if path.is_dir():
            return (table_of_run(path),) if has_journal(path) else _of_folder(path)
        if not path.exists() and has_magic(str(path)):
            found = tuple(sorted(Path(name) for name in glob(str(path), recursive=True) if Path(name).is_file()))
            if not found:
                raise TableError(f"no such file: {path} (no file matches the pattern)")
            return found
        if not path.exists():
            raise TableError(f"no such file: {path}")
    except (OSError, ValueError) as error:
        raise TableError(f"{str(path)!r:.200} cannot be read: {error}; name another file") from None
    return (path,)


def all_listed(sources: Iterable[str | Path]) -> tuple[Path, ...]:
    """Return the files of several names, each once, by whatever path it is named."""
    found = [path for source in sources for path in listed(source)]
    return tuple({path.resolve() if str(path) != STDIN else path: path for path in reversed(found)}.values())[::-1]


def _of_folder(folder: Path) -> tuple[Path, ...]:
    """The files of one kind in a folder; JSON beside tables describes them, and other files are no tables."""
    if (folder / "table.parquet").exists():
        return (table_of_run(folder),)  # a run that lost its manifest is refused there
    kinds: dict[str, list[Path]] = {}
    for i, path in enumerate(sorted(folder.rglob("*"))):
        if i > MOST_FILES:
            raise TableError(f"{folder} holds more than {MOST_FILES:,} files: name those that are meant")
        kind = KINDS.get(plain_suffix(path))
        if kind and path.is_file() and not path.name.startswith("."):
            kinds.setdefault(kind, []).append(path)
    if len(kinds) > 1:
        kinds.pop(".json", None)
    if not kinds:
        return (table_of_run(folder),)  # which says what is missing
    if len(kinds) > 1:
        named = ", ".join(f"'{folder}/**/*{kind}'" for kind in kinds)
        raise TableError(f"{folder} holds files of several kinds: name one of them: {named}")
    (files,) = kinds.values()
    return tuple(files)
