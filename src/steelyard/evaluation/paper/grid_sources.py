"""Where a grid comes from: the bundled file, or a folder of scored tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl

from steelyard.evaluation.paper.pair_grid import Grid, Names
from steelyard.evaluation.random_subsets import no_progress
from steelyard.foundation.errors import SteelyardError, TableError
from steelyard.tables.columns import KNOWN
from steelyard.tables.reading import read
from steelyard.tables.sources.bundled_grid import GRID
from steelyard.tables.sources.opening import open_table
from steelyard.tables.sources.table_files import FORMATS
from steelyard.voting.pools.pool import Pool

FEW_LLMS, FEW_VERIFIERS = 2, 3  # of a quick run, and one self-assessment
Parts = list[tuple[str, str, str, pl.LazyFrame]]  # llm, verifier, score column, rows


@dataclass(frozen=True)
class GridSource:
    """Files that hold a grid; nothing is read but their bytes until `load`."""

    name: str
    files: tuple[Path, ...]
    quick: bool = False

    @staticmethod
    def at(folder: Path | None, *, quick: bool = False) -> GridSource:
        """The bundled grid, or the tables of a folder."""
        if folder is None:
            return GridSource("the bundled grid", (GRID,), quick)
        if not folder.is_dir():
            raise TableError(f"{folder} is not a folder: name one with a table for every language model")
        files = tuple(sorted(file for file in folder.iterdir() if file.suffix.lower() in FORMATS))
        if not files:
            raise TableError(f"{folder} has no tables: put one file a language model there ({', '.join(FORMATS)})")
        return GridSource(str(folder), files, quick)

    @property
    def key(self) -> str:
        """A hash of the files' names and contents."""
        digest = sha256(f"quick {self.quick}".encode())
        for file in self.files:
            with file.open("rb") as content:
                digest.update(f"{file.name}\0{file.stat().st_size}\0".encode())
                while block := content.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()

    def load(self, progress: Callable[[float], None] = no_progress) -> Grid:
        """Read all pairs; what cannot be read is said, not raised."""
        problems: list[str] = []
        parts: Parts = []
        for file in self.files:
            try:
                parts += _parts(file)
            except SteelyardError as error:
                problems.append(f"{file.name} is left out: {error}")
        if self.quick:
            parts = _few(parts)
        pools: dict[tuple[str, str], tuple[Pool, Names | None]] = {}
        for done, (llm, verifier, column, rows) in enumerate(parts):
            progress(done / len(parts))
            if (llm, verifier) in pools:
                problems.append(f"{llm} with {verifier} is there twice: the first is used.")
                continue
            try:
                pool = read(rows, score=column)
            except SteelyardError as error:
                problems.append(f"{llm} with {verifier} is left out: {error}")
            else:
                pools[llm, verifier] = pool, _domains(rows, pool)
        progress(1.0)
        return Grid.of(pools, problems)


def _parts(file: Path) -> Parts:
    """The pairs of a file, unread."""
    frame = open_table(file)
    schema = frame.collect_schema()
    scores = [name for name, kind in schema.items() if name not in KNOWN and _is_score(kind)]
    if not scores:
        raise TableError("it has no column of scores (floats, or lists of floats)")
    stem, _, named = file.stem.partition("--")
    llms: list[str] = [stem]
    if "llm" in schema:
        llms = frame.select(pl.col("llm").cast(pl.String).unique(maintain_order=True)).collect()["llm"].to_list()
    return [
        (llm, named if named and len(scores) == 1 else score, score, _rows(frame, llm, score, schema))
        for llm in llms
        for score in scores
    ]


def _rows(frame: pl.LazyFrame, llm: str, score: str, schema: pl.Schema) -> pl.LazyFrame:
    """The rows of a pair: of the text only what a pool needs."""
    text = {"response", "prompt", "tokens"} - ({"response"} if "answer" not in schema else set())
    columns = [name for name in schema if (name in KNOWN and name not in text) or name == score]
    rows = frame.filter(pl.col("llm").cast(pl.String) == llm) if "llm" in schema else frame
    return rows.select(columns)


def _is_score(kind: pl.DataType) -> bool:
    inner = kind.inner if isinstance(kind, pl.List | pl.Array) else kind
    return isinstance(inner, pl.DataType) and inner.is_float()


def _few(parts: Parts) -> Parts:
    """A part of the grid: few language models, few verifiers, one self-assessment."""
    llms = list(dict.fromkeys(llm for llm, *_ in parts))[:FEW_LLMS]
    verifiers = list(dict.fromkeys(verifier for _, verifier, *_ in parts))
    own = [name for name in verifiers if name.startswith("self")][:1]
    chosen = [name for name in verifiers if not name.startswith("self")][:FEW_VERIFIERS] + own
    return [part for part in parts if part[0] in llms and part[1] in chosen]


def _domains(rows: pl.LazyFrame, pool: Pool) -> Names | None:
    """The domain of every question of the pool [Q]."""
    if "domain" not in rows.collect_schema():
        return None
    table = rows.select(pl.col("question", "domain").cast(pl.String)).unique("question", keep="first").collect()
    domain_of = dict(table.iter_rows())
    domains = [domain_of.get(str(question)) for question in pool.questions]
    return None if None in domains else np.array(domains, np.str_)
