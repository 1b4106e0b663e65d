"""The two sets of answers that the page is about, as pools; both files are the reader's own.

One row per response, with the columns question_id, response_id, llm, ground_truth, and response_text (MATH level 5,
read by Steelyard itself) or answer (MMLU-Pro, a letter) and token_length.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

import steelyard as sy

GRID = Path(sy.__file__).parent / "tables" / "data" / "grid.parquet"
COLUMNS = ("question", "sample", "llm", "answer", "correct", "tokens")
SAMPLES = 8  # of each bundled LLM
TITLES = {"math": "MATH level 5", "mmlu": "MMLU-Pro"}


def math_pool(path: Path) -> sy.LabelledPool:
    """MATH level 5 with the answers as Steelyard reads them out of the responses; this takes about a minute."""
    table = pl.read_parquet(path).select(
        question="question_id", sample="response_id", llm="llm", response="response_text", gold="ground_truth"
    )
    return sy.read_labelled(table, source="llm", score="none", tokens=True)


def mmlu_pool(path: Path) -> sy.LabelledPool:
    """MMLU-Pro with its letters."""
    table = pl.read_parquet(path).select(
        question="question_id",
        sample="response_id",
        llm="llm",
        answer="answer",
        gold="ground_truth",
        tokens="token_length",
    )  # fmt: skip
    return sy.read_labelled(table, source="llm", score="none", answers="exact", tokens=True)


def grid_pool() -> sy.LabelledPool:
    """The five bundled LLMs as one committee, the first samples of each."""
    table = pl.read_parquet(GRID, columns=list(COLUMNS)).filter(pl.col("sample") < SAMPLES)
    return sy.read_labelled(table, source="llm", score="none", answers="exact", tokens=True)
