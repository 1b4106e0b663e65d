"""The bundled grid: responses of real language models scored by real verifiers, as one table (docs/grid.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import TableError, did_you_mean

PREFIX = "grid:"
FOLDER = Path(__file__).parents[1] / "data"
GRID, RESPONSES = FOLDER / "grid.parquet", FOLDER / "responses.parquet"
NOT_SCORES = ["question", "sample", "llm", "domain", "prompt", "gold", "answer", "correct", "tokens"]


def grid_names() -> tuple[list[str], list[str]]:
    """Return the names of the language models and of the verifiers in the grid, in the order of its card.

    >>> llms, verifiers = grid_names()
    >>> "smol-misled" in llms, "prm_soft" in verifiers
    (True, True)
    """
    llms = pl.scan_parquet(GRID).select(pl.col("llm").unique(maintain_order=True)).collect()["llm"].to_list()
    return llms, [name for name in pl.scan_parquet(GRID).collect_schema().names() if name not in NOT_SCORES]


def is_grid(source: Any) -> bool:
    """Whether a source names bundled responses: `grid:LLM` or `grid:LLM/VERIFIER`."""
    return isinstance(source, str | Path) and str(source).startswith(PREFIX)


def grid_score(source: Any) -> str | None:
    """Return the score named by `grid:LLM/VERIFIER`, None for all scores."""
    return str(source).partition("/")[2] or None if is_grid(source) else None


def open_grid(name: str) -> pl.LazyFrame:
    """Return the rows of `grid:LLM`, with the scores requested by `/VERIFIER`, or with all scores."""
    llm = name.removeprefix(PREFIX).partition("/")[0]
    requested = list(dict.fromkeys(part.partition(":")[0].strip() for part in (grid_score(name) or "").split("+")))
    llms, verifiers = grid_names()
    if llm not in llms:
        raise TableError(f"the grid has no language model {llm!r} (write grid:LLM/VERIFIER): {did_you_mean(llm, llms)}")
    for verifier in requested if grid_score(name) else ():
        if verifier not in verifiers:
            raise TableError(f"the grid has no verifier {verifier!r}: {did_you_mean(verifier, verifiers)}")
    rows = pl.scan_parquet(GRID).filter(pl.col("llm") == llm)
    return rows.select(*NOT_SCORES, *requested) if grid_score(name) else rows


def grid_texts(llm: str) -> pl.DataFrame:
    """Return the texts of a language model's responses, by question and sample."""
    return pl.scan_parquet(RESPONSES).filter(pl.col("llm") == llm).collect()
