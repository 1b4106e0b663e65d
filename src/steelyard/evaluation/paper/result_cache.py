"""Results kept by content: what was measured, how, and by which code decide where a result lies.

A result whose grid, settings and source files are the same is read back instead of measured again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import polars as pl

import steelyard
from steelyard.evaluation.paper.settings import Settings
from steelyard.foundation.caching import cached, store
from steelyard.tables.sources.file_checks import DAMAGE

SOURCE = Path(steelyard.__file__).parent
SHARED = (
    "foundation/*.py", "voting/**/*.py", "answers/**/*.py", "tables/**/*.py", "evaluation/*.py",
    "evaluation/paper/pair_grid.py", "evaluation/paper/grid_sources.py", "evaluation/paper/settings.py",
    "evaluation/paper/measuring.py", "evaluation/paper/experiments/_*.py",
)  # fmt: skip


@cache
def code_hash(name: str) -> str:
    """A hash of the sources an experiment runs."""
    files = sorted(file for pattern in SHARED for file in SOURCE.glob(pattern))
    own = SOURCE / "evaluation" / "paper" / "experiments" / f"{name.replace('-', '_')}.py"
    digest = sha256(steelyard.__version__.encode())
    for file in (*files, *([own] if own.exists() else [])):
        digest.update(f"{file.relative_to(SOURCE)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Cache:
    """Tables and files by what they were made from; without a folder nothing is kept."""

    folder: Path | None

    def table(self, name: str, grid: str, settings: Settings) -> pl.DataFrame | None:
        """The result of an experiment, if it is there and whole."""
        if self.folder is None:
            return None
        try:
            return pl.read_parquet(self._place(name, grid, settings))
        except DAMAGE:
            return None

    def keep(self, name: str, grid: str, settings: Settings, rows: pl.DataFrame) -> None:
        """Keep the result of an experiment."""
        if self.folder is not None:
            buffer = BytesIO()
            rows.write_parquet(buffer)
            store(self._place(name, grid, settings), buffer.getvalue())

    def file(self, content: str, kind: str, make: Callable[[], bytes]) -> bytes:
        """Bytes that follow from `content`, such as a drawing from its description."""
        if self.folder is None:
            return make()
        return cached(self.folder, content, kind, make)

    def _place(self, name: str, grid: str, settings: Settings) -> Path:
        key = sha256(f"{name}\0{grid}\0{settings!r}\0{code_hash(name)}".encode()).hexdigest()[:32]
        return (self.folder or Path()) / f"{name}-{key}.parquet"
