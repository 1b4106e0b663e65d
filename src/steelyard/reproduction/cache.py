"""Results kept by content: what was measured, how, and by which code decide where a result lies.

A result whose grid, settings and source files are the same is read back instead of measured again. Files appear
whole or not at all; a damaged one is made again. The folder is `$XDG_CACHE_HOME/steelyard` or `~/.cache/steelyard`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import polars as pl

import steelyard
from steelyard.errors import SettingError
from steelyard.files import write_atomically
from steelyard.reproduction.settings import Settings
from steelyard.tables.formats import DAMAGE

SOURCE = Path(steelyard.__file__).parent
SHARED = (
    "*.py", "kernels/*.py", "weights/*.py", "calibration/*.py", "methods/*.py", "evaluation/*.py", "tables/*.py",
    "reproduction/grid.py", "reproduction/sources.py", "reproduction/settings.py", "reproduction/measuring.py",
    "reproduction/experiments/_*.py",
)  # fmt: skip


def cache_folder() -> Path:
    """Where this user's results are kept."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "steelyard"


@cache
def code_hash(name: str) -> str:
    """A hash of the sources an experiment runs."""
    files = sorted(file for pattern in SHARED for file in SOURCE.glob(pattern))
    own = SOURCE / "reproduction" / "experiments" / f"{name.replace('-', '_')}.py"
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
            self._write(self._place(name, grid, settings), buffer.getvalue())

    def file(self, content: str, kind: str, make: Callable[[], bytes]) -> bytes:
        """Bytes that follow from `content`, such as a drawing from its description."""
        if self.folder is None:
            return make()
        place = self.folder / f"{sha256(content.encode()).hexdigest()[:32]}.{kind}"
        try:
            found = place.read_bytes()
        except OSError:
            found = b""
        if sha256(found[:-32]).digest() == found[-32:]:
            return found[:-32]
        made = make()
        self._write(place, made + sha256(made).digest())
        return made

    def _place(self, name: str, grid: str, settings: Settings) -> Path:
        key = sha256(f"{name}\0{grid}\0{settings!r}\0{code_hash(name)}".encode()).hexdigest()[:32]
        return (self.folder or Path()) / f"{name}-{key}.parquet"

    def _write(self, place: Path, content: bytes) -> None:
        """Write a file; a cache that cannot be written is no reason to stop."""
        with suppress(OSError, SettingError):
            place.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(place, content)
