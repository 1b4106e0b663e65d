"""The rules for every output path:

- An input is never overwritten, whatever its name: a link, a hard link or another path to it.
- An existing file is replaced only if Steelyard wrote a file of that kind, if it is empty, or with `overwrite`. How to
  recognize each kind is defined next to its writer: plans in `voting/methods/base/plan.py`, pages in
  `evaluation/reports/page.py`, tables in `tables/writing.py`.
- The suffix must match the content: a plan cannot be a .parquet.

Paths are checked before the work begins, so that a refusal loses no work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from steelyard.foundation.arguments import argument, choose_another
from steelyard.foundation.errors import SettingError
from steelyard.foundation.files import UnwritableError, check_writable, local_path


def replace_hint() -> str:
    """What to do about a file that is in the way."""
    return f"choose another path, or replace it with {argument('overwrite', True)}"


@dataclass(frozen=True)
class Kind:
    """One kind of file that Steelyard writes."""

    noun: str  # noun with article, for messages
    suffixes: tuple[str, ...]  # "" allows a name without a suffix
    ours: Callable[[Path], bool]  # whether Steelyard wrote this file


def check_output(path: str | Path, kind: Kind, *, inputs: Iterable[Any] = (), overwrite: bool = False) -> Path:
    """Refuse a path that must not be written; return the resolved path. `inputs` are the inputs of the result."""
    if Path(path).suffix.lower() not in kind.suffixes:
        listed = ", ".join(suffix for suffix in kind.suffixes if suffix)
        raise SettingError(
            f"cannot write {path}: this is {kind.noun}, and its suffix must be one of {listed}; {choose_another()}"
        )
    target = check_writable(path)
    if not target.exists():
        return target
    source = input_at(target, kind, inputs)
    if source:
        raise UnwritableError(path, f"it is an input of this command ({source}), and inputs are never overwritten")
    if target.stat().st_size and not overwrite and not _ours(target, kind):
        raise UnwritableError(path, f"the existing file is not {kind.noun} that Steelyard wrote", replace_hint())
    return target


def input_at(target: Path, kind: Kind, inputs: Iterable[Any]) -> Path | None:
    """Return the input that a file is, or that contains it unless it is of this kind; else None."""
    for source in _files(inputs):
        if not source.is_dir() and source.samefile(target):
            return source
        if source.is_dir() and any(map(source.samefile, target.parents)) and not _ours(target, kind):
            return source
    return None


def _ours(target: Path, kind: Kind) -> bool:
    try:
        return kind.ours(target)
    except OSError:  # an unreadable file counts as foreign
        return False


def _files(inputs: Iterable[Any]) -> Iterator[Path]:
    """The files and folders among the inputs; tables in memory and bundled ones have none."""
    for source in inputs:
        if isinstance(source, list | tuple):
            yield from _files(source)
        elif isinstance(source, str | Path):
            try:
                path = local_path(source)
                paths = [path] if Path(path).exists() else glob(str(path), recursive=True)
            except (OSError, ValueError):  # not a path, so not a file that is read
                continue
            yield from map(Path, paths)
