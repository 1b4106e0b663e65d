"""The questions of a run: question, prompt, gold, domain; scoring and voting need no other file."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from steelyard.foundation.errors import RunError
from steelyard.runs.seal import sealed, write_sealed_table

FILE = "questions.parquet"
COLUMNS = ("question", "prompt", "gold", "domain")


def write_questions(folder: Path, questions: pl.DataFrame, *, anew: bool = False) -> None:
    """Write questions.parquet unless it is intact; with `anew` always, because the questions have changed."""
    table = _checked(questions)
    if anew or sealed(folder / FILE) is None:
        write_sealed_table(folder / FILE, table, {})


def read_questions(folder: Path) -> pl.DataFrame:
    if sealed(folder / FILE) is None:
        raise RunError(
            f"{folder / FILE} is missing or damaged (its SHA-256 has changed): run the "
            "'steelyard generate' command of this run again, which writes it again"
        )
    return pl.read_parquet(folder / FILE, glob=False)


def _checked(questions: pl.DataFrame) -> pl.DataFrame:
    missing = [name for name in ("question", "prompt") if name not in questions.columns]
    if missing:
        raise RunError(f"the questions have no column {missing[0]!r}: rename the column that has it")
    table = questions.select(pl.col(name).cast(pl.String) for name in COLUMNS if name in questions.columns)
    ids = table["question"]
    if ids.null_count() or ids.n_unique() != len(ids):
        duplicate = ids.filter(ids.is_duplicated() | ids.is_null())[0]
        raise RunError(f"the question id {duplicate!r} is not unique: give every question its own id")
    if not len(ids):
        raise RunError("there are no questions: the file is empty")
    return table
