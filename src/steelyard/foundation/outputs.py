"""Where a result may go: the one rule of everything that is written for a user.

- What was read is never written over, by whatever name it is called: a link, a hard link or another path to it.
- A file that is there already is replaced only if Steelyard wrote that kind of file, if it is empty, or with
  `overwrite`. How each kind is known stands beside what writes it: plans in `voting/methods/base/plan.py`, pages in
  `evaluation/reports/page.py`, tables in `tables/known_outputs.py`.
- The suffix says what is in the file: a plan is no .parquet.

It is settled before the work begins, so that no work is lost by a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import SettingError
from steelyard.foundation.files import UnwritableError, check_writable, local_path


def replace_hint() -> str:
    """What to do about a file that is in the way."""
    return f"choose another path, or replace it with {argument('overwrite', True)}"


@dataclass(frozen=True)
class Kind:
    """One kind of file that Steelyard writes."""

    what: str  # with its article, as messages say it
    suffixes: tuple[str, ...]  # "" is a name without one
    ours: Callable[[Path], bool]  # whether Steelyard wrote such a file there


def check_output(path: str | Path, kind: Kind, *, inputs: Iterable[Any] = (), overwrite: bool = False) -> Path:
    """Refuse a path that a result may not go to; return where it will go. `inputs` are what the result is made from."""
    if Path(path).suffix.lower() not in kind.suffixes:
        listed = ", ".join(suffix for suffix in kind.suffixes if suffix)
        raise SettingError(
            f"cannot write {path}: {kind.what} goes there, and its suffix must be one of {listed}; name it so with -o"
        )
    target = check_writable(path)
    if not target.exists():
        return target
    read = read_there(target, kind, inputs)
    if read:
        raise UnwritableError(path, f"it is an input of this command ({read}), which is never written over")
    if target.stat().st_size and not overwrite and not _ours(target, kind):
        raise UnwritableError(path, f"the file that is there is not {kind.what} that Steelyard wrote", replace_hint())
    return target


def read_there(target: Path, kind: Kind, inputs: Iterable[Any]) -> Path | None:
    """The input that a file is, or that it lies in without being of this kind; None where there is none."""
    for read in _files(inputs):
        if (not read.is_dir() and read.samefile(target)) or (_inside(target, read) and not _ours(target, kind)):
            return read
    return None


def _ours(target: Path, kind: Kind) -> bool:
    try:
        return kind.ours(target)
    except OSError:  # what cannot be read is not known to be ours
        return False


def _inside(target: Path, folder: Path) -> bool:
    return folder.is_dir() and any(folder.samefile(parent) for parent in target.parents)


def _files(inputs: Iterable[Any]) -> Iterator[Path]:
    """The files and folders that inputs name; a table in memory and a bundled one have none."""
    for each in inputs:
        if isinstance(each, list | tuple):
            yield from _files(each)
        elif isinstance(each, str | Path):
            try:
                path = local_path(each)
                found = [path] if Path(path).exists() else glob(str(path), recursive=True)
            except (OSError, ValueError):  # what cannot be a path cannot be read either
                continue
            yield from map(Path, found)
